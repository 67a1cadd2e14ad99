package array_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

func TestNestedValues(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		kind  dtype.Type
		shape []int
		want  []float64
	}{
		"a number":             {float32(2), dtype.Float32, []int{}, []float64{2}},
		"a row":                {[]float64{1, 2}, dtype.Float64, []int{2}, []float64{1, 2}},
		"a matrix":             {[][]int{{1, 2}, {3, 4}, {5, 6}}, dtype.Int64, []int{3, 2}, []float64{1, 2, 3, 4, 5, 6}},
		"arrays among slices":  {[][2][]int8{{{1}, {2}}, {{3}, {4}}}, dtype.Int8, []int{2, 2, 1}, []float64{1, 2, 3, 4}},
		"truth":                {[]bool{true, false}, dtype.Bool, []int{2}, []float64{1, 0}},
		"halves":               {[]dtype.F16{dtype.F16From(1.5)}, dtype.Float16, []int{1}, []float64{1.5}},
		"other halves":         {[]dtype.BF16{dtype.BF16From(-2)}, dtype.BFloat16, []int{1}, []float64{-2}},
		"nothing":              {[][]uint16{}, dtype.Uint16, []int{0, 0}, []float64{}},
		"rows of nothing":      {[][]uint8{{}, {}}, dtype.Uint8, []int{2, 0}, []float64{}},
		"unsigned":             {[]uint32{1 << 31}, dtype.Uint32, []int{1}, []float64{1 << 31}},
		"long unsigned":        {[]uint64{1 << 63}, dtype.Uint64, []int{1}, []float64{1 << 63}},
		"short and whole ints": {[]int16{-3}, dtype.Int16, []int{1}, []float64{-3}},
		"plain ints":           {[]int32{-3}, dtype.Int32, []int{1}, []float64{-3}},
		"long ints":            {[]int64{-3}, dtype.Int64, []int{1}, []float64{-3}},
		"complex":              {[]complex64{2}, dtype.Complex64, []int{1}, []float64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			x := array.Nested(c.value)
			if got := elements[float64](t, x.AsType(dtype.Float64), c.shape...); !slices.Equal(got, c.want) || x.DType() != c.kind {
				t.Errorf("%v of %v, want %v of %v", got, x.DType(), c.want, c.kind)
			}
		})
	}
	for name, v := range map[string]any{
		"rows of other lengths": [][]float32{{1, 2}, {3}},
		"strings":               []string{"1"},
		"nil":                   nil,
		"a mixture":             []any{1, 2.0},
		"wide complex numbers":  []complex128{1},
	} {
		if err := array.Nested(v).Eval(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
