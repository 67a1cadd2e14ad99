package nn

import (
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
)

// Linear is y = x Wᵀ + b over the last axis of x.
type Linear struct {
	Base
	Weight *array.Array // [out, in]
	Bias   *array.Array // [out], nil for none
}

// NewLinear draws weight and bias uniformly from ±1/√in, as MLX does. If in or out
// is below 1 the weight carries an error.
func NewLinear(key random.Key, in, out int, bias bool) *Linear {
	if min(in, out) < 1 {
		return &Linear{Weight: array.Fail("linear", fmt.Errorf("%d inputs and %d outputs, want 1 or more", in, out))}
	}
	keys := key.Split(2)
	scale := 1 / math.Sqrt(float64(in))
	l := &Linear{Weight: random.Uniform(keys[0], -scale, scale, dtype.Float32, out, in)}
	if bias {
		l.Bias = random.Uniform(keys[1], -scale, scale, dtype.Float32, out)
	}
	return l
}

// Forward maps [..., in] to [..., out].
func (l *Linear) Forward(x *array.Array) *array.Array {
	return biased(x.MatMul(l.Weight.T()), l.Bias)
}

// Embedding looks vectors up by number.
type Embedding struct {
	Base
	Weight *array.Array // [count, dims]
}

// NewEmbedding draws count vectors of dims normal numbers with variance 1/dims. If
// count or dims is below 1 the weight carries an error.
func NewEmbedding(key random.Key, count, dims int) *Embedding {
	if min(count, dims) < 1 {
		return &Embedding{Weight: array.Fail("embedding", fmt.Errorf("%d vectors of %d numbers, want 1 or more", count, dims))}
	}
	weight := random.Normal(key, dtype.Float32, count, dims).MulScalar(1 / math.Sqrt(float64(dims)))
	return &Embedding{Weight: weight}
}

// Forward maps integers [...] to vectors [..., dims]. A number outside the table
// is an error when the result is evaluated.
func (e *Embedding) Forward(x *array.Array) *array.Array { return e.Weight.Take(x, 0) }

// LayerNorm shifts and scales the last axis to mean 0 and variance 1, then
// applies a learned weight and bias (Ba, Kiros and Hinton 2016).
type LayerNorm struct {
	Base
	Weight *array.Array // [dims]
	Bias   *array.Array // [dims]
	Eps    float64      // added to the variance
}

// NewLayerNorm starts with weight 1, bias 0 and eps 1e-5.
func NewLayerNorm(dims int) *LayerNorm {
	return &LayerNorm{
		Weight: array.Ones(dtype.Float32, dims),
		Bias:   array.Zeros(dtype.Float32, dims),
		Eps:    1e-5,
	}
}

// Forward keeps the shape of x, whose last axis is dims long.
func (l *LayerNorm) Forward(x *array.Array) *array.Array {
	return array.LayerNorm(x, l.Weight, l.Bias, l.Eps)
}

// GELU is x Φ(x) with the exact normal distribution function (Hendrycks and
// Gimpel 2016).
func GELU(x *array.Array) *array.Array {
	return x.MulScalar(0.5).Mul(x.MulScalar(math.Sqrt2 / 2).Erf().AddScalar(1))
}
