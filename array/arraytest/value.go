package arraytest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// tolerance is the error allowed to values of a type; others are exact.
var tolerance = map[dtype.Type]float64{
	dtype.Float16: 1.0 / (1 << 9), dtype.BFloat16: 1.0 / (1 << 6),
	dtype.Float32: 1.0 / (1 << 20), dtype.Float64: 1e-12, dtype.Complex64: 1.0 / (1 << 20),
}

func (c Case) checkValues(t tester) {
	types := c.Types
	if types == nil {
		types = []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32}
	}
	c.checkType(t, dtype.Float64)
	for _, kind := range types {
		c.checkType(t, kind)
	}
}

// checkType checks values with the float64 inputs converted to kind.
func (c Case) checkType(t tester, kind dtype.Type) {
	t.Helper()
	in := slices.Clone(c.Inputs)
	for i, x := range in {
		if x.DType() == dtype.Float64 {
			in[i] = x.AsType(kind)
		}
	}
	outs := c.F(in...)
	got := elementsOf(t, outs...)
	if c.Want == nil {
		return
	}
	want := c.Want(elementsOf(t, in...)...)
	if len(got) != len(want) {
		t.Fatalf("%v: %d results, want %d", kind, len(got), len(want))
	}
	for i, out := range outs {
		stored := elements(t, shaped(want[i], array.Spec{Shape: []int{-1}, DType: out.DType()}))
		compare(t, fmt.Sprintf("result %d in %v", i, kind), got[i], stored, tolerance[out.DType()])
	}
}

// checkMistakes gives F one bad input at a time, and then two.
func (c Case) checkMistakes(t tester) {
	first := errors.New("first mistake")
	bad := array.Fail("test", first)
	for i := range c.Inputs {
		in := slices.Clone(c.Inputs)
		in[i] = bad
		for j := i + 1; j < len(in); j++ {
			in[j] = array.Fail("test", errors.New("later mistake"))
		}
		for k, out := range c.F(in...) {
			if !errors.Is(out.Err(), first) {
				t.Errorf("argument %d is wrong: result %d has error %v", i, k, out.Err())
			}
		}
	}
}

func (c Case) checkLayouts(t tester) {
	in := inFloat64(c.Inputs)
	for _, l := range layouts {
		for i := range in {
			plain, strange := slices.Clone(in), slices.Clone(in)
			plain[i], strange[i] = l.of(t, in[i])
			want := elementsOf(t, c.F(plain...)...)
			for k, got := range elementsOf(t, c.F(strange...)...) {
				compare(t, fmt.Sprintf("result %d, argument %d %s", k, i, l.name), got, want[k], 1e-6)
			}
		}
	}
}

// layouts give two equal arrays, one by rows and one that lies differently in
// memory.
var layouts = []struct {
	name string
	of   func(t tester, x *array.Array) (plain, strange *array.Array)
}{
	{"by columns", func(t tester, x *array.Array) (plain, strange *array.Array) {
		y := x.T()
		return x, shaped(elements(t, y), y.Spec()).T()
	}},
	{"spread out", func(t tester, x *array.Array) (plain, strange *array.Array) {
		wide := x.Spec()
		var spread []float64
		for element := range slices.Chunk(elements(t, x), numbersOf(x)) {
			spread = append(spread, slices.Repeat([]float64{100}, len(element))...)
			spread = append(spread, element...)
		}
		wide.Shape = append(wide.Shape, 2)
		return x, shaped(spread, wide).SliceAxis(-1, 1, 2).Squeeze(-1)
	}},
	{"backwards", func(t tester, x *array.Array) (plain, strange *array.Array) {
		return x, shaped(elements(t, x.Flip()), x.Spec()).Flip()
	}},
	{"repeated", func(t tester, x *array.Array) (plain, strange *array.Array) {
		s := x.Spec()
		if s.Size() == 0 {
			return x, x
		}
		first := elements(t, x)[:numbersOf(x)]
		one := shaped(first, array.Spec{DType: s.DType})
		return shaped(slices.Repeat(first, s.Size()), s), one.BroadcastTo(s.Shape...)
	}},
}

// numbersOf is how many numbers stand for one element of x.
func numbersOf(x *array.Array) int {
	if x.DType().IsComplex() {
		return 2
	}
	return 1
}
