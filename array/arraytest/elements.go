package arraytest

import (
	"context"
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// Elements computes x and returns its elements as float64 in row order, the real
// and the imaginary part of each if it is complex.
func Elements(ctx context.Context, x *array.Array) ([]float64, error) {
	if !x.DType().IsComplex() {
		return array.Values[float64](ctx, x.AsType(dtype.Float64))
	}
	values, err := array.Values[complex64](ctx, x)
	parts := make([]float64, 0, 2*len(values))
	for _, v := range values {
		parts = append(parts, float64(real(v)), float64(imag(v)))
	}
	return parts, err
}

func elements(t tester, x *array.Array) []float64 {
	t.Helper()
	return elementsOf(t, x)[0]
}

// elementsOf computes all arrays in one evaluation.
func elementsOf(t tester, xs ...*array.Array) [][]float64 {
	t.Helper()
	ctx := context.Background()
	if err := array.Eval(ctx, xs...); err != nil {
		t.Fatalf("%v", err)
	}
	out := make([][]float64, len(xs))
	for i, x := range xs {
		values, err := Elements(ctx, x)
		if err != nil {
			t.Fatalf("%v", err)
		}
		out[i] = values
	}
	return out
}

// shaped is the inverse of Elements: an array of the given spec. Float64 numbers
// are rounded to its type.
func shaped(values []float64, s array.Spec) *array.Array {
	if !s.DType.IsComplex() {
		return array.From(values).AsType(s.DType).Reshape(s.Shape...)
	}
	z := make([]complex64, len(values)/2)
	for i := range z {
		z[i] = complex(float32(values[2*i]), float32(values[2*i+1]))
	}
	return array.From(z).Reshape(s.Shape...)
}

// inFloat64 gives arguments that are real the type in which derivatives are measured.
func inFloat64(xs []*array.Array) []*array.Array {
	out := make([]*array.Array, len(xs))
	for i, x := range xs {
		out[i] = x
		if x.DType().IsFloat() {
			out[i] = x.AsType(dtype.Float64)
		}
	}
	return out
}

// weights are numbers without a pattern, of the size of s, none near zero.
func weights(s array.Spec, seed float64) []float64 {
	w := make([]float64, s.Size())
	if s.DType.IsComplex() {
		w = make([]float64, 2*s.Size())
	}
	for i := range w {
		w[i] = math.Copysign(0.5+math.Abs(math.Sin(seed+1.7*float64(i))), math.Cos(seed+2.3*float64(i)))
	}
	return w
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// compare reports elements that differ by more than tolerance, relative to
// their size but at least to one.
func compare(t tester, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !close(got[i], want[i], tolerance) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func close(got, want, tolerance float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}
