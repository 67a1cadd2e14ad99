package array_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

var (
	// uint64 has numbers that float64 does not hold: its tests are its own.
	integers = []dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
	floats   = []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32}
	signs    = []float64{1.5, -2.25, 3, -0.5, 0.75, -4}
	positive = []float64{1.5, 2.25, 3, 0.5, 0.75, 4}
	inside   = []float64{0.5, -0.25, 0.75, -0.625, 0.125, -0.875} // of the unit interval
)

// shapes of six elements at most: matrix, vector, scalar, and two empty ones.
var shapes = [][]int{{2, 3}, {6}, {}, {0}, {3, 0, 2}}

// inShape is the first elements of data.
func inShape(data []float64, shape []int) *array.Array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return array.From(data[:n]).Reshape(shape...)
}

func TestUnaryConforms(t *testing.T) {
	cases := []struct {
		name   string
		op     func(*array.Array) *array.Array
		want   func(float64) float64
		inputs []float64
		types  []dtype.Type
	}{
		{"negative", (*array.Array).Neg, func(x float64) float64 { return -x }, signs, slices.Concat(floats, integers)},
		{"absolute value", (*array.Array).Abs, math.Abs, signs, slices.Concat(floats, integers[3:])},
		{"sign", (*array.Array).Sign, func(x float64) float64 { return math.Copysign(min(1, math.Abs(x)*1e9), x) }, signs, slices.Concat(floats, integers[3:])},
		{"square", (*array.Array).Square, func(x float64) float64 { return x * x }, signs, slices.Concat(floats, integers[3:])},
		{"exponential", (*array.Array).Exp, math.Exp, signs, slices.Concat(floats, integers[3:])},
		{"exponential less one", (*array.Array).Expm1, func(x float64) float64 { return math.Exp(x) - 1 }, signs, nil},
		{"logarithm", (*array.Array).Log, math.Log, positive, slices.Concat(floats, integers)},
		{"logarithm of one more", (*array.Array).Log1p, func(x float64) float64 { return math.Log(1 + x) }, inside, nil},
		{"binary logarithm", (*array.Array).Log2, math.Log2, positive, nil},
		{"decimal logarithm", (*array.Array).Log10, math.Log10, positive, nil},
		{"root", (*array.Array).Sqrt, math.Sqrt, positive, slices.Concat(floats, integers)},
		{"inverse root", (*array.Array).Rsqrt, func(x float64) float64 { return math.Pow(x, -0.5) }, positive, nil},
		{"reciprocal", (*array.Array).Reciprocal, func(x float64) float64 { return math.Pow(x, -1) }, signs, nil},
		{"sine", (*array.Array).Sin, math.Sin, signs, nil},
		{"cosine", (*array.Array).Cos, math.Cos, signs, nil},
		{"tangent", (*array.Array).Tan, math.Tan, inside, nil},
		{"inverse sine", (*array.Array).Asin, math.Asin, inside, nil},
		{"inverse cosine", (*array.Array).Acos, math.Acos, inside, nil},
		{"inverse tangent", (*array.Array).Atan, math.Atan, signs, nil},
		{"hyperbolic sine", (*array.Array).Sinh, math.Sinh, signs, nil},
		{"hyperbolic cosine", (*array.Array).Cosh, math.Cosh, signs, nil},
		{"hyperbolic tangent", (*array.Array).Tanh, math.Tanh, signs, nil},
		{"inverse hyperbolic sine", (*array.Array).Asinh, math.Asinh, signs, nil},
		{"inverse hyperbolic cosine", (*array.Array).Acosh, math.Acosh, []float64{1.5, 2.25, 3, 5, 7, 4}, nil},
		{"inverse hyperbolic tangent", (*array.Array).Atanh, math.Atanh, inside, nil},
		{"error function", (*array.Array).Erf, math.Erf, inside, nil},
		{"inverse error function", (*array.Array).ErfInv, math.Erfinv, inside, nil},
		{"sigmoid", (*array.Array).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, signs, nil},
		{"floor", (*array.Array).Floor, math.Floor, inside, slices.Concat(floats, integers)},
		{"ceiling", (*array.Array).Ceil, math.Ceil, inside, slices.Concat(floats, integers)},
		{"round", (*array.Array).Round, math.RoundToEven, []float64{0.25, -0.75, 1.75, 2.25, 3.75, -1.25}, slices.Concat(floats, integers)},
		{"conjugate", (*array.Array).Conj, func(x float64) float64 { return x }, signs, nil},
		{"real part", (*array.Array).Real, func(x float64) float64 { return x }, signs, nil},
		{"imaginary part", (*array.Array).Imag, func(float64) float64 { return 0 }, signs, nil},
		{"not", (*array.Array).LogicalNot, func(x float64) float64 { return truth(x == 0) }, []float64{0, 1, 2, 0, -1, 3}, slices.Concat(floats, integers)},
		{"is not a number", (*array.Array).IsNaN, func(x float64) float64 { return truth(x != x) }, special[6:], floats},
		{"is infinite", (*array.Array).IsInf, func(x float64) float64 { return truth(math.IsInf(x, 0)) }, special[6:], floats},
		{"is finite", (*array.Array).IsFinite, func(x float64) float64 { return truth(!math.IsInf(x, 0) && x == x) }, special[6:], floats},
		{"plus a number", func(x *array.Array) *array.Array { return x.AddScalar(2) }, func(x float64) float64 { return x + 2 }, signs, slices.Concat(floats, integers)},
		{"minus a number", func(x *array.Array) *array.Array { return x.SubScalar(2) }, func(x float64) float64 { return x - 2 }, signs, slices.Concat(floats, integers)},
		{"times a number", func(x *array.Array) *array.Array { return x.MulScalar(-0.5) }, func(x float64) float64 { return -0.5 * x }, signs, slices.Concat(floats, integers)},
		{"by a number", func(x *array.Array) *array.Array { return x.DivScalar(8) }, func(x float64) float64 { return x / 8 }, signs, slices.Concat(floats, integers[3:])},
		{"to the third", func(x *array.Array) *array.Array { return x.PowScalar(3) }, func(x float64) float64 { return x * x * x }, signs, slices.Concat(floats, integers[3:])},
		{"to the second", func(x *array.Array) *array.Array { return x.PowScalar(2) }, func(x float64) float64 { return x * x }, signs, slices.Concat(floats, integers[3:])},
		{"to the zeroth", func(x *array.Array) *array.Array { return x.PowScalar(0) }, func(x float64) float64 { return 1 }, []float64{1, 0, -1, 2, 3, 4}, floats},
		{"at least a number", func(x *array.Array) *array.Array { return x.MaximumScalar(0.25) }, func(x float64) float64 { return max(x, 0.25) }, signs, floats},
		{"at most a number", func(x *array.Array) *array.Array { return x.MinimumScalar(0.25) }, func(x float64) float64 { return min(x, 0.25) }, signs, floats},
	}
	for _, c := range cases {
		for _, shape := range shapes {
			arraytest.Check(t, arraytest.Case{
				Name:   fmt.Sprintf("%s of shape %v", c.name, shape),
				F:      arraytest.One(c.op),
				Inputs: []*array.Array{inShape(c.inputs, shape)},
				Want:   each(c.want),
				Types:  c.types,
			})
		}
	}
}

// each applies f to every element of the only input.
func each(f func(float64) float64) func(xs ...[]float64) [][]float64 {
	return func(xs ...[]float64) [][]float64 {
		want := make([]float64, len(xs[0]))
		for i, x := range xs[0] {
			want[i] = f(x)
		}
		return [][]float64{want}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
