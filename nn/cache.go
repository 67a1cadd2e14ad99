package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
)

// KVCache is what attention keeps of the positions that it has seen, so that the next ones need
// not compute it again. The zero value has seen none. It belongs to one text, or one batch of
// texts of one length, and to one layer.
type KVCache struct {
	Keys, Values *array.Array // [batch, heads of this rank, time, dims/heads]
}

// Len is the number of positions that were seen.
func (c *KVCache) Len() int {
	if c.Keys == nil {
		return 0
	}
	return c.Keys.Dim(2)
}

// add appends keys and values of the next positions, and returns those of all.
func (c *KVCache) add(k, v *array.Array) (keys, values *array.Array) {
	if c.Keys != nil {
		k, v = array.Concatenate([]*array.Array{c.Keys, k}, 2), array.Concatenate([]*array.Array{c.Values, v}, 2)
	}
	c.Keys, c.Values = k, v
	return k, v
}

// NewCache returns a cache for each layer, for ForwardCached.
func (m *LanguageModel) NewCache() []KVCache { return make([]KVCache, len(m.Layers)) }

// ForwardCached is Forward for the tokens, integers [batch, time], that follow those of earlier
// calls with the same cache, one of NewCache: the logits [batch, time, vocab] are those that
// Forward gives at the end of the whole text, but for rounding. What was seen and the tokens
// together are at most the context. The cache's arrays are lazy, as all are: evaluate them with
// the logits, or the next call computes them with its own.
func (m *LanguageModel) ForwardCached(tokens *array.Array, cache []KVCache) *array.Array {
	if len(cache) != len(m.Layers) {
		return array.Fail("language_model", fmt.Errorf("a cache of %d layers for a model of %d", len(cache), len(m.Layers)))
	}
	past := 0
	if len(cache) > 0 {
		past = cache[0].Len()
	}
	time, context := past+tokens.Dim(-1), m.Positions.Weight.Dim(0)
	if time > context && m.Positions.Weight.Err() == nil {
		return array.Fail("language_model", fmt.Errorf("%d tokens are more than the context of %d", time, context))
	}
	x := m.Tokens.Forward(tokens).Add(m.Positions.Forward(positions(past, time)))
	for i, block := range m.Layers {
		x = block.forward(x, &cache[i])
	}
	return m.Head.Forward(m.Norm.Forward(x))
}
