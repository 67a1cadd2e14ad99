package array_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

// The bits of integers, computed digit by digit. What the kernels do at the
// limits of each type is tested beside them.
func TestBitsConform(t *testing.T) {
	x, y := []float64{12, 7, 0, 255, 1, 64}, []float64{10, 1, 3, 2, 0, 6}
	cases := []struct {
		name string
		op   func(x, y *array.Array) *array.Array
		want func(x, y float64) float64
	}{
		{"and", (*array.Array).BitAnd, digits(func(x, y float64) float64 { return x * y })},
		{"or", (*array.Array).BitOr, digits(func(x, y float64) float64 { return max(x, y) })},
		{"exclusive or", (*array.Array).BitXor, digits(func(x, y float64) float64 { return math.Abs(x - y) })},
		{"shift to the left", (*array.Array).ShiftLeft, func(x, y float64) float64 { return x * math.Exp2(y) }},
		{"shift to the right", (*array.Array).ShiftRight, func(x, y float64) float64 { return math.Floor(x / math.Exp2(y)) }},
	}
	for _, c := range cases {
		for _, shape := range shapes {
			a, b := inShape(x, shape).AsType(dtype.Int32), inShape(y, shape).AsType(dtype.Int32)
			arraytest.Check(t, arraytest.Case{
				Name:   fmt.Sprintf("%s of shape %v", c.name, shape),
				F:      arraytest.Two(c.op),
				Inputs: []*array.Array{a, b},
				Want: func(xs ...[]float64) [][]float64 {
					want := make([]float64, len(xs[0]))
					for i := range want {
						want[i] = c.want(xs[0][i], xs[1][i])
					}
					return [][]float64{want}
				},
				Types: []dtype.Type{},
			})
		}
	}
	arraytest.Check(t, arraytest.Case{
		Name:   "inverted bits",
		F:      arraytest.One((*array.Array).BitNot),
		Inputs: []*array.Array{array.From([]int32{0, 5, -1, math.MaxInt32})},
		Want:   each(func(x float64) float64 { return -1 - x }),
		Types:  []dtype.Type{},
	})
}

// digits applies f to each pair of binary digits.
func digits(f func(x, y float64) float64) func(x, y float64) float64 {
	return func(x, y float64) (sum float64) {
		for weight := 1.0; weight < 1024; weight *= 2 {
			bit := func(v float64) float64 { return math.Mod(math.Floor(v/weight), 2) }
			sum += weight * f(bit(x), bit(y))
		}
		return sum
	}
}
