package main

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/jobs/train/data"
	"github.com/lockstep-go/lockstep/nn"
)

const (
	contextLength = 64
	sampleLength  = 200
	temperature   = 0.8
)

// newLanguageModel learns to continue a text, character by character.
func newLanguageModel(o options) (*task, error) {
	text, name := data.Opticks(), "Newton's Opticks"
	if o.data != "" {
		var err error
		if text, err = data.ReadText(o.data); err != nil {
			return nil, fmt.Errorf("-data: %w", err)
		}
		name = o.data
	}
	vocabulary, err := data.NewVocabulary(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tokens, err := vocabulary.Encode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(tokens) <= contextLength {
		return nil, fmt.Errorf("%s has %d characters; at least %d are needed", name, len(tokens), contextLength+1)
	}
	learnt, held, err := o.holdBack(len(tokens))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	config := nn.LanguageModelConfig{Vocab: vocabulary.Size(), Context: contextLength, Dims: 64, Layers: 2, Heads: 4}
	model, err := nn.NewLanguageModel(random.NewKey(o.seed), config)
	if err != nil {
		return nil, err
	}
	letters := make([]int32, vocabulary.Size())
	for i := range letters {
		letters[i] = int32(i)
	}
	alphabet, err := vocabulary.Decode(letters)
	if err != nil {
		return nil, err
	}
	w := writer{model: model, vocabulary: vocabulary, key: random.NewKey(o.seed)}
	return &task{
		name:   fmt.Sprintf("transformer on %s, %d characters of %d kinds", name, len(tokens), vocabulary.Size()),
		digest: digest([]byte(text)),
		meta: map[string]string{
			"vocabulary": alphabet, "context": fmt.Sprint(config.Context), "dims": fmt.Sprint(config.Dims),
			"layers": fmt.Sprint(config.Layers), "heads": fmt.Sprint(config.Heads),
		},
		unit: "tokens", units: contextLength,
		examples: learnt, heldBack: held,
		model: model, whole: model,
		shard:  func(g *group.Group) (nn.Module, error) { return model.Shard(g) },
		inputs: func(starts []int) []*array.Array { return windows(tokens, starts) },
		sample: func(ctx context.Context) (string, error) { return w.write(ctx, tokens[:1], sampleLength) },
	}, nil
}

// holdBack is how many examples of a text there are to learn, and with -eval-every the numbers of
// those that are held back: they lie in the last tenth, of which nothing is learnt.
func (o options) holdBack(tokens int) (learnt int, held []int, err error) {
	if o.evalEvery == 0 {
		return tokens - contextLength, nil, nil
	}
	cut := tokens - tokens/10
	for start := cut; start < tokens-contextLength; start++ {
		held = append(held, start)
	}
	if len(held) == 0 || cut <= contextLength {
		return 0, nil, fmt.Errorf("-eval-every holds back the last tenth of the %d characters, which has to be longer than %d", tokens, contextLength)
	}
	return cut - contextLength, held, nil
}

// windows returns the tokens from each start, and those one later: what the model
// sees, and what it is to say. Both are [starts, contextLength].
func windows(tokens []int32, starts []int) []*array.Array {
	seen := make([]int32, 0, len(starts)*contextLength)
	next := make([]int32, 0, len(starts)*contextLength)
	for _, s := range starts {
		seen = append(seen, tokens[s:s+contextLength]...)
		next = append(next, tokens[s+1:s+1+contextLength]...)
	}
	shape := []int{len(starts), contextLength}
	return []*array.Array{array.From(seen, shape...), array.From(next, shape...)}
}

// writer continues text with a language model.
type writer struct {
	model      *nn.LanguageModel
	vocabulary *data.Vocabulary
	key        random.Key
}

// write returns n characters drawn after the given ones, which it leaves out.
func (w *writer) write(ctx context.Context, tokens []int32, n int) (string, error) {
	tokens = append([]int32(nil), tokens...)
	start := len(tokens)
	for _, key := range w.key.Split(n) {
		seen := tokens[max(0, len(tokens)-contextLength):]
		logits := w.model.Forward(array.From(seen, 1, len(seen))).SliceAxis(1, len(seen)-1, len(seen))
		drawn := random.Categorical(key, logits.Flatten().DivScalar(temperature), -1)
		token, err := array.Item[int32](ctx, drawn.AsType(dtype.Int32))
		if err != nil {
			return "", fmt.Errorf("sample: %w", err)
		}
		tokens = append(tokens, token)
	}
	return w.vocabulary.Decode(tokens[start:])
}
