package array_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// elements computes x and checks its shape.
func elements[T dtype.Element](t *testing.T, x *array.Array, shape ...int) []T {
	t.Helper()
	values, err := array.Values[T](context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Shape(), shape) {
		t.Fatalf("shape %v, want %v", x.Shape(), shape)
	}
	return values
}

// count returns 0, 1, 2, … as an array.
func count(shape ...int) *array.Array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i)
	}
	return array.From(data, shape...)
}

func TestReductionsOverAxes(t *testing.T) {
	x := count(2, 3, 4)
	for name, c := range map[string]struct {
		got   *array.Array
		shape []int
		want  []float32
	}{
		"sum of all":                 {x.Sum(), nil, []float32{276}},
		"sum of the last axis":       {x.Sum(-1), []int{2, 3}, []float32{6, 22, 38, 54, 70, 86}},
		"sum of the first axis":      {x.Sum(0), []int{3, 4}, []float32{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}},
		"sum of the middle axis":     {x.Sum(1), []int{2, 4}, []float32{12, 15, 18, 21, 48, 51, 54, 57}},
		"sum of the outer axes":      {x.Sum(2, 0), []int{3}, []float32{60, 92, 124}},
		"sum of leading axes":        {x.Sum(0, 1), []int{4}, []float32{60, 66, 72, 78}},
		"sum keeps axes":             {x.SumKeep(0, 2), []int{1, 3, 1}, []float32{60, 92, 124}},
		"sum of a transpose":         {x.T().Sum(0), []int{3, 2}, []float32{6, 54, 22, 70, 38, 86}},
		"sum of a broadcast":         {count(4).BroadcastTo(3, 4).Sum(0), []int{4}, []float32{0, 3, 6, 9}},
		"mean of the last axis":      {x.Mean(2), []int{2, 3}, []float32{1.5, 5.5, 9.5, 13.5, 17.5, 21.5}},
		"max of the first axis":      {x.Max(0), []int{3, 4}, []float32{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
		"min of the outer axes":      {x.Min(0, 2), []int{3}, []float32{0, 4, 8}},
		"max of a transpose":         {x.Transpose(2, 0, 1).Max(0), []int{2, 3}, []float32{3, 7, 11, 15, 19, 23}},
		"product of the middle axis": {x.Prod(1), []int{2, 4}, []float32{0, 45, 120, 231, 3840, 4641, 5544, 6555}},
		"sum of a number":            {array.Scalar(float32(3)).Sum(), nil, []float32{3}},
		"sum of nothing":             {count(0, 3).Sum(0), []int{3}, []float32{0, 0, 0}},
		"product of nothing":         {count(0, 2).Prod(0), []int{2}, []float32{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[float32](t, c.got, c.shape...); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestReductionTypes(t *testing.T) {
	for from, want := range map[dtype.Type]dtype.Type{
		dtype.Bool: dtype.Int32, dtype.Int8: dtype.Int32, dtype.Int32: dtype.Int32, dtype.Int64: dtype.Int64,
		dtype.Uint8: dtype.Uint32, dtype.Uint16: dtype.Uint32, dtype.Uint64: dtype.Uint64,
		dtype.Float16: dtype.Float16, dtype.BFloat16: dtype.BFloat16, dtype.Float64: dtype.Float64, dtype.Complex64: dtype.Complex64,
	} {
		x := array.Ones(from, 3, 2)
		if got := x.Sum(0).DType(); got != want {
			t.Errorf("sum of %v is %v, want %v", from, got, want)
		}
		if got := x.Max(0).DType(); got != from {
			t.Errorf("max of %v is %v", from, got)
		}
		for _, y := range []*array.Array{x.Sum(0), x.Prod(1), x.Mean(), x.Max(0), x.Min(1)} {
			if err := y.Eval(context.Background()); err != nil {
				t.Errorf("%v: %v", from, err)
			}
		}
	}
	if got := array.Ones(dtype.Int8, 3).Mean().DType(); got != dtype.Float32 {
		t.Errorf("mean of int8 is %v", got)
	}
}

func TestSumsAreAccurateAndBlindToStrides(t *testing.T) {
	const n = 3001
	data := make([]float32, n*3)
	exact := make([]float64, 3)
	for i := range data {
		data[i] = float32(math.Sin(float64(i)) * 1e4)
		exact[i%3] += float64(data[i])
	}
	columns := elements[float32](t, array.From(data, n, 3).Sum(0), 3)
	for j := range 3 {
		row := make([]float32, n)
		for i := range row {
			row[i] = data[i*3+j]
		}
		alone := elements[float32](t, array.From(row).Sum())[0]
		if columns[j] != alone || columns[j] != float32(exact[j]) {
			t.Errorf("column %d: %v among others, %v alone, want %v", j, columns[j], alone, float32(exact[j]))
		}
	}
	half := array.Full(0.1, dtype.Float16, 60000).Sum()
	if got := elements[dtype.F16](t, half)[0].Float64(); math.Abs(got-5996) > 4 {
		t.Errorf("60000 times the half nearest to 0.1 adds up to %v", got)
	}
	if got := elements[complex64](t, array.From([]complex64{1 + 2i, 3 - 5i}).Sum())[0]; got != 4-3i {
		t.Errorf("complex sum %v", got)
	}
}

func TestExtremaCarryNaN(t *testing.T) {
	nan := float32(math.NaN())
	x := array.From([]float32{1, nan, 3, 4, 5, 6}, 2, 3)
	for name, y := range map[string]*array.Array{"max of rows": x.Max(1), "min of rows": x.Min(1), "max of columns": x.T().Max(0)} {
		got := elements[float32](t, y, 2)
		if got[0] == got[0] || got[1] != got[1] {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := array.Zeros(dtype.Float32, 0, 2).Max(0).Err(); err == nil {
		t.Error("the max of nothing has no error")
	}
	if err := x.Sum(2).Err(); err == nil {
		t.Error("a sum over a missing axis has no error")
	}
}
