package array_test

import (
	"context"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// inFloat64 computes x in its own type and gives the elements as float64.
func inFloat64(t *testing.T, x *array.Array) []float64 {
	t.Helper()
	values, err := array.Values[float64](context.Background(), x.AsType(dtype.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func near(got, want, relative float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) || want == 0 {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= relative*math.Abs(want)
}

// precision is the largest relative error that one rounding to t makes, with
// room for the function's own.
var precision = map[dtype.Type]float64{
	dtype.Float16: 1.0 / (1 << 10), dtype.BFloat16: 1.0 / (1 << 7),
	dtype.Float32: 1.0 / (1 << 22), dtype.Float64: 1e-14,
}

var special = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2.5, -3.5, 100, math.Inf(1), math.Inf(-1), math.NaN()}

func TestFunctionsOfOneOperand(t *testing.T) {
	cases := []struct {
		name string
		op   func(*array.Array) *array.Array
		want func(float64) float64
	}{
		{"negative", (*array.Array).Neg, func(x float64) float64 { return -x }},
		{"absolute value", (*array.Array).Abs, math.Abs},
		{"square", (*array.Array).Square, func(x float64) float64 { return x * x }},
		{"exponential", (*array.Array).Exp, math.Exp},
		{"exponential less one", (*array.Array).Expm1, func(x float64) float64 { return math.Expm1(x) }},
		{"logarithm", (*array.Array).Log, math.Log},
		{"logarithm of one more", (*array.Array).Log1p, math.Log1p},
		{"binary logarithm", (*array.Array).Log2, math.Log2},
		{"decimal logarithm", (*array.Array).Log10, math.Log10},
		{"root", (*array.Array).Sqrt, math.Sqrt},
		{"inverse root", (*array.Array).Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }},
		{"reciprocal", (*array.Array).Reciprocal, func(x float64) float64 { return 1 / x }},
		{"sine", (*array.Array).Sin, math.Sin},
		{"cosine", (*array.Array).Cos, math.Cos},
		{"tangent", (*array.Array).Tan, math.Tan},
		{"inverse sine", (*array.Array).Asin, math.Asin},
		{"inverse cosine", (*array.Array).Acos, math.Acos},
		{"inverse tangent", (*array.Array).Atan, math.Atan},
		{"hyperbolic sine", (*array.Array).Sinh, math.Sinh},
		{"hyperbolic cosine", (*array.Array).Cosh, math.Cosh},
		{"hyperbolic tangent", (*array.Array).Tanh, math.Tanh},
		{"inverse hyperbolic sine", (*array.Array).Asinh, math.Asinh},
		{"inverse hyperbolic cosine", (*array.Array).Acosh, math.Acosh},
		{"inverse hyperbolic tangent", (*array.Array).Atanh, math.Atanh},
		{"error function", (*array.Array).Erf, math.Erf},
		{"inverse error function", (*array.Array).ErfInv, math.Erfinv},
		{"sigmoid", (*array.Array).Sigmoid, func(x float64) float64 { return (1 + math.Tanh(x/2)) / 2 }},
		{"floor", (*array.Array).Floor, math.Floor},
		{"ceiling", (*array.Array).Ceil, math.Ceil},
		{"round", (*array.Array).Round, math.RoundToEven},
	}
	for _, c := range cases {
		for kind, relative := range precision {
			t.Run(c.name+" of "+kind.String(), func(t *testing.T) {
				for i, got := range inFloat64(t, c.op(array.From(special).AsType(kind))) {
					want := rounded(t, c.want(special[i]), kind)
					if !near(got, want, relative) || got == 0 && math.Signbit(got) != math.Signbit(want) {
						t.Errorf("of %v: got %v, want %v", special[i], got, want)
					}
				}
			})
		}
	}
}

// rounded is x as type kind holds it.
func rounded(t *testing.T, x float64, kind dtype.Type) float64 {
	t.Helper()
	switch kind {
	case dtype.Float16:
		return dtype.F16From(x).Float64()
	case dtype.BFloat16:
		return dtype.BF16From(x).Float64()
	case dtype.Float32:
		return float64(float32(x))
	}
	return x
}
