package nn

import (
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// MultiHeadAttention is scaled dot-product self-attention over several heads
// (Vaswani et al. 2017). Field names give MLX's parameter paths.
type MultiHeadAttention struct {
	Base
	QueryProj, KeyProj, ValueProj, OutProj Module
	Heads                                  int  // of this rank, if the heads are divided
	Causal                                 bool // each position sees itself and those before it

	group *group.Group // over which the heads are divided; nil for none
}

// NewMultiHeadAttention makes causal attention without biases for vectors of
// dims numbers, which heads must divide.
func NewMultiHeadAttention(key random.Key, dims, heads int) (*MultiHeadAttention, error) {
	if heads < 1 || dims%heads != 0 {
		return nil, fmt.Errorf("attention: %d dimensions do not divide into %d heads", dims, heads)
	}
	keys := key.Split(4)
	return &MultiHeadAttention{
		QueryProj: NewLinear(keys[0], dims, dims, false),
		KeyProj:   NewLinear(keys[1], dims, dims, false),
		ValueProj: NewLinear(keys[2], dims, dims, false),
		OutProj:   NewLinear(keys[3], dims, dims, false),
		Heads:     heads,
		Causal:    true,
	}, nil
}

// Forward maps [batch, time, dims] to the same shape.
func (a *MultiHeadAttention) Forward(x *array.Array) *array.Array {
	return a.ForwardCached(x, &KVCache{})
}

// ForwardCached is Forward for the positions that follow those in the cache, to which it adds
// them.
func (a *MultiHeadAttention) ForwardCached(x *array.Array, cache *KVCache) *array.Array {
	if a.group != nil {
		x = ops.SumGradients(x, a.group)
	}
	q := a.split(a.QueryProj.Forward(x)) // [batch, heads, time, dims/heads]
	k, v := cache.add(a.split(a.KeyProj.Forward(x)), a.split(a.ValueProj.Forward(x)))
	scores := q.MulScalar(1 / math.Sqrt(float64(q.Dim(-1)))).MatMul(k.SwapAxes(-1, -2))
	if a.Causal {
		scores = maskFuture(scores)
	}
	y := scores.Softmax(-1).MatMul(v).Transpose(0, 2, 1, 3)
	return a.OutProj.Forward(y.Reshape(x.Dim(0), x.Dim(1), -1))
}

// split turns [batch, time, dims] into [batch, heads, time, dims/heads].
func (a *MultiHeadAttention) split(x *array.Array) *array.Array {
	return x.Reshape(x.Dim(0), x.Dim(1), a.Heads, -1).Transpose(0, 2, 1, 3)
}

// maskFuture sets the score of every later position to -∞. The scores are of the last positions,
// for all.
func maskFuture(scores *array.Array) *array.Array {
	rows, n, t := scores.Dim(-2), scores.Dim(-1), scores.DType()
	if scores.Err() != nil {
		return scores
	}
	seen := array.Tri(rows, n, n-rows, dtype.Bool)
	return array.Where(seen, scores, array.Full(math.Inf(-1), t))
}
