package array_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

func TestRanges(t *testing.T) {
	for name, c := range map[string]struct {
		got  *array.Array
		want []float64
	}{
		"upwards":               {array.Arange(0, 4, 1, dtype.Float64), []float64{0, 1, 2, 3}},
		"in steps":              {array.Arange(1, 2, 0.25, dtype.Float64), []float64{1, 1.25, 1.5, 1.75}},
		"downwards":             {array.Arange(3, -1, -2, dtype.Float64), []float64{3, 1}},
		"the other way":         {array.Arange(0, 3, -1, dtype.Float64), []float64{}},
		"integers":              {array.Arange(-2, 3, 2, dtype.Int8), []float64{-2, 0, 2}},
		"truncated integers":    {array.Arange(0, 2, 0.5, dtype.Int32), []float64{0, 0, 1, 1}},
		"halves":                {array.Arange(0, 3, 1, dtype.BFloat16), []float64{0, 1, 2}},
		"spaced":                {array.Linspace(0, 1, 5, dtype.Float64), []float64{0, 0.25, 0.5, 0.75, 1}},
		"spaced to the end":     {array.Linspace(0, 0.3, 4, dtype.Float64).SliceAxis(0, 3, 4), []float64{0.3}},
		"spaced downwards":      {array.Linspace(1, -1, 3, dtype.Float16), []float64{1, 0, -1}},
		"one number":            {array.Linspace(2, 5, 1, dtype.Float32), []float64{2}},
		"no number":             {array.Linspace(2, 5, 0, dtype.Float32), []float64{}},
		"identity":              {array.Eye(2, 3, 0, dtype.Float32).Flatten(), []float64{1, 0, 0, 0, 1, 0}},
		"upper diagonal":        {array.Eye(2, 3, 1, dtype.Int16).Flatten(), []float64{0, 1, 0, 0, 0, 1}},
		"lower diagonal":        {array.Eye(2, 2, -1, dtype.Bool).Flatten(), []float64{0, 0, 1, 0}},
		"triangle":              {array.Tri(2, 3, 0, dtype.Float32).Flatten(), []float64{1, 0, 0, 1, 1, 0}},
		"wider triangle":        {array.Tri(2, 3, 1, dtype.Uint8).Flatten(), []float64{1, 1, 0, 1, 1, 1}},
		"smaller triangle":      {array.Tri(2, 2, -1, dtype.Float32).Flatten(), []float64{0, 0, 1, 0}},
		"matrix without rows":   {array.Eye(0, 3, 0, dtype.Float32).Flatten(), []float64{}},
		"upper part of a stack": {count(2, 2, 2).Triu(0).Flatten(), []float64{0, 1, 0, 3, 4, 5, 0, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[float64](t, c.got.AsType(dtype.Float64), len(c.want)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestRangeMistakes(t *testing.T) {
	for name, x := range map[string]*array.Array{
		"a step of zero":            array.Arange(0, 1, 0, dtype.Float32),
		"a step that is NaN":        array.Arange(0, 1, math.NaN(), dtype.Float32),
		"no end":                    array.Arange(0, math.Inf(1), 1, dtype.Float32),
		"beyond all memory":         array.Arange(0, 1e18, 1, dtype.Float64),
		"an invalid type":           array.Arange(0, 1, 1, dtype.Invalid),
		"a negative number":         array.Linspace(0, 1, -1, dtype.Float32),
		"spaced to infinity":        array.Linspace(0, math.Inf(1), 3, dtype.Float32),
		"an identity of no type":    array.Eye(2, 2, 0, dtype.Invalid),
		"a matrix of negative rows": array.Eye(-2, 2, 0, dtype.Float32),
	} {
		if x.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
}
