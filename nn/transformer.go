package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
)

// Block is one transformer layer that normalises before attention and before
// the two-layer network, each with a residual connection.
type Block struct {
	Base
	Norm1     *LayerNorm
	Attention *MultiHeadAttention
	Norm2     *LayerNorm
	Up, Down  Module // dims to 4·dims and back
}

// NewBlock makes a causal block for vectors of dims numbers.
func NewBlock(key random.Key, dims, heads int) (*Block, error) {
	keys := key.Split(3)
	attention, err := NewMultiHeadAttention(keys[0], dims, heads)
	if err != nil {
		return nil, err
	}
	return &Block{
		Norm1:     NewLayerNorm(dims),
		Attention: attention,
		Norm2:     NewLayerNorm(dims),
		Up:        NewLinear(keys[1], dims, 4*dims, true),
		Down:      NewLinear(keys[2], 4*dims, dims, true),
	}, nil
}

// Forward maps [batch, time, dims] to the same shape.
func (b *Block) Forward(x *array.Array) *array.Array { return b.forward(x, &KVCache{}) }

func (b *Block) forward(x *array.Array, cache *KVCache) *array.Array {
	x = x.Add(b.Attention.ForwardCached(b.Norm1.Forward(x), cache))
	return x.Add(b.Down.Forward(GELU(b.Up.Forward(b.Norm2.Forward(x)))))
}

// LanguageModelConfig is the shape of a LanguageModel.
type LanguageModelConfig struct {
	Vocab, Context      int // number of tokens, and of positions
	Dims, Layers, Heads int
}

// LanguageModel is a decoder-only transformer that predicts the next token.
type LanguageModel struct {
	Base
	Tokens    *Embedding
	Positions *Embedding
	Layers    []*Block
	Norm      *LayerNorm
	Head      Module
}

// NewLanguageModel draws a model; the same key gives the same model everywhere.
func NewLanguageModel(key random.Key, cfg LanguageModelConfig) (*LanguageModel, error) {
	if min(cfg.Vocab, cfg.Context, cfg.Dims, cfg.Layers, cfg.Heads) < 1 {
		return nil, fmt.Errorf("language model: every size must be 1 or more: %+v", cfg)
	}
	keys := key.Split(cfg.Layers + 3)
	m := &LanguageModel{
		Tokens:    NewEmbedding(keys[0], cfg.Vocab, cfg.Dims),
		Positions: NewEmbedding(keys[1], cfg.Context, cfg.Dims),
		Norm:      NewLayerNorm(cfg.Dims),
		Head:      NewLinear(keys[2], cfg.Dims, cfg.Vocab, true),
	}
	for _, key := range keys[3:] {
		block, err := NewBlock(key, cfg.Dims, cfg.Heads)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, block)
	}
	return m, nil
}

// Forward maps tokens, integers [batch, time] with time at most the context, to
// logits [batch, time, vocab].
func (m *LanguageModel) Forward(tokens *array.Array) *array.Array {
	return m.ForwardCached(tokens, m.NewCache())
}

// positions are the numbers from one to before another, integers.
func positions(from, to int) *array.Array {
	return array.Arange(float64(from), float64(to), 1, dtype.Int32)
}
