package array_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

// others are numbers to go with signs and positive, never equal to them.
var (
	others         = []float64{-2.5, 1.25, 2, 3.5, -0.25, 1}
	positiveOthers = []float64{2.5, 1.25, 2, 3.5, 0.25, 1}
)

func TestBinaryConforms(t *testing.T) {
	type op = func(x, y *array.Array) *array.Array
	all := slices.Concat(floats, integers)
	cases := []struct {
		name  string
		op    op
		want  func(x, y float64) float64
		x, y  []float64
		types []dtype.Type
	}{
		{"add", (*array.Array).Add, func(x, y float64) float64 { return x + y }, signs, others, all},
		{"subtract", (*array.Array).Sub, func(x, y float64) float64 { return x - y }, signs, others, all},
		{"multiply", (*array.Array).Mul, func(x, y float64) float64 { return x * y }, signs, others, slices.Concat(floats, integers[:2], integers[3:])},
		{"divide", (*array.Array).Div, func(x, y float64) float64 { return x / y }, positive, positiveOthers, all},
		{"floor divide", (*array.Array).FloorDiv, func(x, y float64) float64 { return math.Floor(x / y) }, []float64{7.5, -7.5, 9, -9, 1, 5.5}, []float64{2, 2, -4, -4, 3, 5}, slices.Concat(floats, integers[3:])},
		{"remainder", (*array.Array).Mod, func(x, y float64) float64 { return x - y*math.Floor(x/y) }, []float64{7.5, -7.5, 9, -9, 1, 5.5}, []float64{2, 2, -4, -4, 3, 5}, slices.Concat(floats, integers[3:])},
		{"power", (*array.Array).Pow, math.Pow, positive, others, floats},
		{"integer power", (*array.Array).Pow, math.Pow, positive, []float64{2, 3, 0, 1, 2, 3}, integers},
		{"maximum", (*array.Array).Maximum, math.Max, signs, others, slices.Concat(floats, integers[3:])},
		{"minimum", (*array.Array).Minimum, math.Min, signs, others, slices.Concat(floats, integers[3:])},
		{"log of added exponentials", (*array.Array).LogAddExp, func(x, y float64) float64 { return math.Log(math.Exp(x) + math.Exp(y)) }, signs, others, nil},
		{"angle", (*array.Array).Atan2, math.Atan2, signs, others, nil},
		{"equal", (*array.Array).Equal, func(x, y float64) float64 { return truth(x == y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"not equal", (*array.Array).NotEqual, func(x, y float64) float64 { return truth(x != y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"less", (*array.Array).Less, func(x, y float64) float64 { return truth(x < y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"less or equal", (*array.Array).LessEqual, func(x, y float64) float64 { return truth(x <= y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"greater", (*array.Array).Greater, func(x, y float64) float64 { return truth(x > y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"greater or equal", (*array.Array).GreaterEqual, func(x, y float64) float64 { return truth(x >= y) }, signs, []float64{1.5, 2, 3, 0, 0, -4}, all},
		{"and", (*array.Array).LogicalAnd, func(x, y float64) float64 { return truth(x != 0 && y != 0) }, []float64{0, 1, 2, 0, 3, 4}, []float64{0, 0, 1, 2, 3, 0}, all},
		{"or", (*array.Array).LogicalOr, func(x, y float64) float64 { return truth(x != 0 || y != 0) }, []float64{0, 1, 2, 0, 3, 4}, []float64{0, 0, 1, 2, 3, 0}, all},
	}
	pairs := [][2][]int{{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {6}}, {{}, {}}, {{0, 3}, {3}}, {{1}, {2, 0}}}
	for _, c := range cases {
		for _, pair := range pairs {
			x, y := inShape(c.x, pair[0]), inShape(c.y, pair[1])
			arraytest.Check(t, arraytest.Case{
				Name:   fmt.Sprintf("%s of shapes %v and %v", c.name, pair[0], pair[1]),
				F:      arraytest.Two(c.op),
				Inputs: []*array.Array{x, y},
				Want:   broadcasted(c.want, pair[0], pair[1]),
				Types:  c.types,
			})
		}
	}
}

// broadcasted applies f by NumPy's rule to elements of the given shapes, index
// by index.
func broadcasted(f func(x, y float64) float64, a, b []int) func(xs ...[]float64) [][]float64 {
	for len(a) < len(b) {
		a = slices.Insert(slices.Clone(a), 0, 1)
	}
	for len(b) < len(a) {
		b = slices.Insert(slices.Clone(b), 0, 1)
	}
	var walk func(axis, i, j int, visit func(i, j int))
	walk = func(axis, i, j int, visit func(i, j int)) {
		if axis == len(a) {
			visit(i, j)
			return
		}
		d := max(a[axis], b[axis])
		if a[axis] == 0 || b[axis] == 0 {
			d = 0
		}
		for at := range d {
			walk(axis+1, i*a[axis]+at%a[axis], j*b[axis]+at%b[axis], visit)
		}
	}
	return func(xs ...[]float64) [][]float64 {
		want := []float64{}
		walk(0, 0, 0, func(i, j int) { want = append(want, f(xs[0][i], xs[1][j])) })
		return [][]float64{want}
	}
}

func TestWhereConforms(t *testing.T) {
	cond := array.From([]bool{true, false, false, true, false, true}, 2, 3)
	cases := []struct {
		name   string
		inputs []*array.Array
		want   []float64
	}{
		{"equal shapes", []*array.Array{cond, inShape(signs, []int{2, 3}), inShape(others, []int{2, 3})}, []float64{1.5, 1.25, 2, -0.5, -0.25, -4}},
		{"a row and a number", []*array.Array{cond, inShape(signs, []int{3}), inShape(others, nil)}, []float64{1.5, -2.5, -2.5, 1.5, -2.5, 3}},
		{"a number decides", []*array.Array{array.Scalar(false), inShape(signs, []int{2}), inShape(others, []int{2})}, []float64{-2.5, 1.25}},
		{"numbers decide by not being zero", []*array.Array{array.From([]int32{0, -7}), inShape(signs, []int{2}), inShape(others, []int{2})}, []float64{-2.5, -2.25}},
		{"nothing", []*array.Array{array.Scalar(true), inShape(nil, []int{0}), inShape(nil, []int{0})}, []float64{}},
	}
	for _, c := range cases {
		arraytest.Check(t, arraytest.Case{
			Name:   c.name,
			F:      arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Where(xs[0], xs[1], xs[2]) }),
			Inputs: c.inputs,
			Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{c.want}
			},
		})
	}
	arraytest.Check(t, arraytest.Case{
		Name:   "limits of a clip",
		F:      arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].Clip(xs[1], xs[2]) }),
		Inputs: []*array.Array{inShape(signs, []int{2, 3}), array.Scalar(-1.0), array.From([]float64{0.25, 1, 2})},
		Want: func(xs ...[]float64) [][]float64 {
			want := make([]float64, 6)
			for i, x := range xs[0] {
				want[i] = min(max(x, -1), xs[2][i%3])
			}
			return [][]float64{want}
		},
	})
}

func TestMatMulConforms(t *testing.T) {
	pairs := [][2][]int{{{2, 3}, {3, 2}}, {{3}, {3}}, {{3}, {3, 2}}, {{2, 3}, {3}}, {{2, 1, 3}, {3, 2}}, {{2, 3}, {2, 3, 1}}, {{2, 1, 1, 2}, {3, 2, 1}}, {{0, 2}, {2, 2}}, {{2, 0}, {0, 2}}}
	for _, pair := range pairs {
		x, y := small(pair[0]...).AsType(dtype.Float64), small(pair[1]...).AsType(dtype.Float64)
		arraytest.Check(t, arraytest.Case{
			Name:   fmt.Sprintf("shapes %v and %v", pair[0], pair[1]),
			F:      arraytest.Two((*array.Array).MatMul),
			Inputs: []*array.Array{x, y},
		})
	}
	arraytest.Check(t, arraytest.Case{
		Name: "added to a row",
		F: arraytest.Many(func(xs ...*array.Array) *array.Array {
			return array.AddMM(xs[0], xs[1], xs[2], 0.5, -2)
		}),
		Inputs: []*array.Array{inShape(signs, []int{2}), inShape(signs, []int{2, 3}), inShape(others, []int{3, 2})},
	})
}

func TestComplexConforms(t *testing.T) {
	z := array.From([]complex64{1 + 0.5i, -0.75 + 0.25i, 0.5 - 1i})
	w := array.From([]complex64{0.5 - 0.5i, 1 + 1i, -1 - 0.25i})
	one := map[string]func(*array.Array) *array.Array{
		"absolute value": (*array.Array).Abs, "conjugate": (*array.Array).Conj, "real part": (*array.Array).Real, "imaginary part": (*array.Array).Imag,
		"sign": (*array.Array).Sign, "square": (*array.Array).Square, "exponential": (*array.Array).Exp, "logarithm": (*array.Array).Log, "root": (*array.Array).Sqrt,
		"reciprocal": (*array.Array).Reciprocal, "sine": (*array.Array).Sin, "hyperbolic tangent": (*array.Array).Tanh,
	}
	second := map[string]string{"second derivative": "float32 differences of a gradient are too coarse"}
	for name, f := range one {
		arraytest.Check(t, arraytest.Case{Name: name, F: arraytest.One(f), Inputs: []*array.Array{z}, Without: second})
	}
	arraytest.Check(t, arraytest.Case{
		Name:   "numbers without an imaginary part",
		F:      arraytest.One(func(x *array.Array) *array.Array { return x.AsType(dtype.Complex64) }),
		Inputs: []*array.Array{array.From(signs)},
		Types:  floats,
	})
	arraytest.Check(t, arraytest.Case{
		Name:   "numbers that lose it",
		F:      arraytest.One(func(x *array.Array) *array.Array { return x.AsType(dtype.Float32) }),
		Inputs: []*array.Array{z},
	})
	two := map[string]func(x, y *array.Array) *array.Array{
		"sum": (*array.Array).Add, "product": (*array.Array).Mul, "quotient": (*array.Array).Div, "power": (*array.Array).Pow, "matrix product": (*array.Array).MatMul,
	}
	for name, f := range two {
		arraytest.Check(t, arraytest.Case{Name: name, F: arraytest.Two(f), Inputs: []*array.Array{z, w}, Without: second})
	}
}

func TestElementwiseRefuses(t *testing.T) {
	x := array.From([]float32{1, 2, 3})
	cases := []struct {
		name string
		y    *array.Array
		want string
	}{
		{"shapes that do not broadcast", x.Add(array.From([]float32{1, 2})), "add at binary_test.go:"},
		{"and says so", x.Add(array.From([]float32{1, 2})), "shapes [3] and [2] do not broadcast"},
		{"a condition that does not broadcast", array.Where(array.From([]bool{true, false}), x, x), "where at binary_test.go:"},
		{"an unknown type", x.AsType(99), "astype at binary_test.go:"},
		{"bits of floats", x.BitAnd(x), "bitwise_and at binary_test.go"},
		{"and lists what has bits", x.BitNot(), "not defined for float32 (have bool, uint8,"},
		{"negative bool", array.From([]bool{true}).Neg(), "negative at binary_test.go"},
		{"nothing at all", x.Mul(nil), "argument 1: array is nil"},
		{"the floor of complex numbers", x.AsType(dtype.Complex64).Floor(), "floor at"},
		{"a scalar on a mistake", x.BitNot().AddScalar(1), "bitwise_invert at"},
		{"a mistake as the second operand", x.Mul(x.BitNot()), "bitwise_invert at"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.y.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}
