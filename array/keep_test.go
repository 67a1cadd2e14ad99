package array_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
)

func TestReductionsThatKeepTheirAxes(t *testing.T) {
	type reduction = func(x *array.Array, axes ...int) *array.Array
	cases := []struct {
		name       string
		drop, keep reduction
	}{
		{"sum", (*array.Array).Sum, (*array.Array).SumKeep},
		{"mean", (*array.Array).Mean, (*array.Array).MeanKeep},
		{"product", (*array.Array).Prod, (*array.Array).ProdKeep},
		{"maximum", (*array.Array).Max, (*array.Array).MaxKeep},
		{"minimum", (*array.Array).Min, (*array.Array).MinKeep},
		{"variance", (*array.Array).Var, (*array.Array).VarKeep},
		{"deviation", (*array.Array).Std, (*array.Array).StdKeep},
		{"log of summed exponentials", (*array.Array).LogSumExp, (*array.Array).LogSumExpKeep},
		{"all", (*array.Array).All, (*array.Array).AllKeep},
		{"any", (*array.Array).Any, (*array.Array).AnyKeep},
	}
	x := small(2, 3, 4)
	for _, c := range cases {
		for _, axes := range [][]int{{0}, {-1}, {0, 2}, {1, 0}, nil} {
			drop, keep := c.drop(x, axes...), c.keep(x, axes...)
			shape := []int{2, 3, 4}
			for _, axis := range axes {
				shape[(axis+3)%3] = 1
			}
			if axes == nil {
				shape = []int{1, 1, 1}
			}
			if !slices.Equal(keep.Shape(), shape) || !slices.Equal(inFloat64(t, keep), inFloat64(t, drop)) {
				t.Errorf("%s over %v: shape %v, want %v, and the elements of the other form", c.name, axes, keep.Shape(), shape)
			}
		}
	}
}

func TestDeviationIsTheRootOfTheVariance(t *testing.T) {
	x := inShape(signs, []int{2, 3})
	if got, want := inFloat64(t, x.Std(1)), inFloat64(t, x.Var(1).Sqrt()); !slices.EqualFunc(got, want, func(a, b float64) bool { return near(a, b, 1e-12) }) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestWithErrorKeepsTheFirst(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	x := small(2).WithError(first)
	if y := x.Neg().WithError(second); !errors.Is(y.Err(), first) || errors.Is(y.Err(), second) {
		t.Fatalf("error %v, want %v", y.Err(), first)
	}
	if err := x.Eval(t.Context()); !errors.Is(err, first) {
		t.Fatalf("evaluated to %v, want %v", err, first)
	}
}
