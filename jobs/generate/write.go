package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// write streams the prompt and what follows to out, on rank 0.
func write(ctx context.Context, o options, out io.Writer, g *group.Group) error {
	arrays, meta, err := checkpoint.Load(ctx, filepath.Join(o.checkpoint, "checkpoint.safetensors"), g)
	if err != nil {
		return err
	}
	model, err := assemble(arrays, meta, o.bits)
	if err != nil {
		return err
	}
	context := model.Positions.Weight.Dim(0)
	letters := []rune(meta["vocabulary"])
	var tokens []int32
	for _, r := range o.prompt {
		i := slices.Index(letters, r)
		if i < 0 {
			return fmt.Errorf("-prompt has %q, which is none of the %d letters that the model has seen", r, len(letters))
		}
		tokens = append(tokens, int32(i))
	}
	if g.Size() > 1 {
		if model, err = model.Shard(g); err != nil {
			return err
		}
	}
	say := func(text string) error {
		if !g.IsLeader() {
			return nil
		}
		_, err := io.WriteString(out, text)
		return err
	}
	if err := say(o.prompt); err != nil {
		return err
	}
	for _, key := range random.NewKey(o.seed).Split(o.n) {
		seen := tokens[max(0, len(tokens)-context):]
		token, err := next(ctx, model, seen, key, o.temperature, g)
		if err != nil {
			return err
		}
		tokens = append(tokens, token)
		if err := say(string(letters[token])); err != nil {
			return err
		}
	}
	return say("\n")
}

// next has all ranks compute what may follow, and rank 0 draw from it.
func next(ctx context.Context, model *nn.LanguageModel, seen []int32, key random.Key, temperature float64, g *group.Group) (int32, error) {
	logits := model.Forward(array.From(seen, 1, len(seen))).SliceAxis(1, len(seen)-1, len(seen)).Flatten()
	if err := array.Eval(ctx, logits); err != nil {
		return 0, err
	}
	token := []int32{0}
	if g.IsLeader() {
		drawn := logits.ArgMax(0)
		if temperature > 0 {
			drawn = random.Categorical(key, logits.DivScalar(temperature), -1)
		}
		var err error
		if token[0], err = array.Item[int32](ctx, drawn.AsType(dtype.Int32)); err != nil {
			return 0, err
		}
	}
	return token[0], group.Broadcast(ctx, g, 0, token)
}

// assemble makes the model that a checkpoint holds.
func assemble(arrays tree.Tree, meta map[string]string, bits int) (*nn.LanguageModel, error) {
	if meta["model"] != "gpt" {
		return nil, fmt.Errorf("the checkpoint is of the model %q; gpt writes text", meta["model"])
	}
	config := nn.LanguageModelConfig{Vocab: len([]rune(meta["vocabulary"]))}
	for name, into := range map[string]*int{"context": &config.Context, "dims": &config.Dims, "layers": &config.Layers, "heads": &config.Heads} {
		n, err := strconv.Atoi(meta[name])
		if err != nil || n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("the checkpoint says %s is %q", name, meta[name])
		}
		*into = n
	}
	if config.Layers > len(arrays) {
		return nil, fmt.Errorf("the checkpoint says it has %d layers and has %d arrays", config.Layers, len(arrays))
	}
	model, err := nn.NewLanguageModel(random.NewKey(0), config)
	if err != nil {
		return nil, err
	}
	n := len(nn.Parameters(model)) // what follows is the optimizer's
	if err := nn.Update(model, arrays[:min(n, len(arrays))]); err != nil {
		return nil, err
	}
	if bits != 0 {
		if err := nn.Quantize(model, array.Quantization{Bits: bits, GroupSize: 32}, nil); err != nil {
			return nil, err
		}
	}
	return model, nil
}
