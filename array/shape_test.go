package array_test

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

func TestShapes(t *testing.T) {
	x := count(2, 3)
	for name, c := range map[string]struct {
		got   *array.Array
		shape []int
		want  []float32
	}{
		"reshape":                     {x.Reshape(3, -1), []int{3, 2}, []float32{0, 1, 2, 3, 4, 5}},
		"reshape of a transpose":      {x.T().Reshape(6), []int{6}, []float32{0, 3, 1, 4, 2, 5}},
		"reshape to no axes":          {count(1).Reshape(), []int{}, []float32{0}},
		"flatten":                     {x.Flatten(), []int{6}, []float32{0, 1, 2, 3, 4, 5}},
		"transpose":                   {x.T(), []int{3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		"transpose in a given order":  {count(2, 1, 2).Transpose(-1, 0, 1), []int{2, 2, 1}, []float32{0, 2, 1, 3}},
		"transpose twice":             {x.T().T(), []int{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		"swap axes":                   {x.SwapAxes(0, -1), []int{3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		"move axis":                   {count(2, 1, 3).MoveAxis(0, 2), []int{1, 3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		"expand":                      {x.ExpandDims(0, -1), []int{1, 2, 3, 1}, []float32{0, 1, 2, 3, 4, 5}},
		"expand a transpose":          {x.T().ExpandDims(1), []int{3, 1, 2}, []float32{0, 3, 1, 4, 2, 5}},
		"squeeze all":                 {x.ExpandDims(0, 2).Squeeze(), []int{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		"squeeze one":                 {x.ExpandDims(0, 2).Squeeze(-2), []int{1, 2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		"broadcast":                   {count(2, 1).BroadcastTo(2, 2, 2), []int{2, 2, 2}, []float32{0, 0, 1, 1, 0, 0, 1, 1}},
		"broadcast of a number":       {count(1).Reshape().BroadcastTo(2), []int{2}, []float32{0, 0}},
		"broadcast to nothing":        {count(1, 2).BroadcastTo(0, 2), []int{0, 2}, []float32{}},
		"reshape of a broadcast":      {count(2).BroadcastTo(2, 2).Reshape(4), []int{4}, []float32{0, 1, 0, 1}},
		"reshape of nothing":          {count(0, 3).Reshape(3, 0, 5), []int{3, 0, 5}, []float32{}},
		"reshape of equal repetition": {count(1).BroadcastTo(2, 2).Reshape(4), []int{4}, []float32{0, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[float32](t, c.got, c.shape...); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestShapeMistakes(t *testing.T) {
	x := count(2, 3)
	for name, y := range map[string]*array.Array{
		"reshape to another size":       x.Reshape(4),
		"reshape with two open lengths": x.Reshape(-1, -1),
		"transpose with too few axes":   x.Transpose(1),
		"transpose with an axis twice":  x.Transpose(1, 1),
		"swap with a missing axis":      x.SwapAxes(0, 2),
		"move to a missing axis":        x.MoveAxis(0, 2),
		"squeeze of a long axis":        x.Squeeze(0),
		"expand beyond the end":         x.ExpandDims(4),
		"broadcast to other lengths":    x.BroadcastTo(2, 4),
		"broadcast to fewer axes":       x.BroadcastTo(3),
		"zeros beyond all memory":       array.Zeros(dtype.Float32, 1<<40, 1<<40),
		"reshape whose size wraps":      array.Zeros(dtype.Float32, 0).Reshape(1<<32, 1<<32),
		"a sum beyond all memory":       array.Zeros(dtype.Int8, 1<<32, 1).Add(array.Zeros(dtype.Int8, 1<<32)),
		"joining beyond all memory":     array.Stack(slices.Repeat([]*array.Array{array.Zeros(dtype.Int8, 1<<62)}, 2), 0),
		"taking beyond all memory":      array.Zeros(dtype.Int8, 1, 1<<62).Take(list(0, 0, 0), 0),
		"a negative length":             x.BroadcastTo(-1, 3),
		"broadcast beyond all memory":   array.Scalar(1.0).BroadcastTo(1<<40, 1<<40),
	} {
		if y.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
	first := x.Reshape(4)
	if got := first.T().Sum().ExpandDims(9); got.Err() != first.Err() {
		t.Errorf("a later mistake hides the first: %v", got.Err())
	}
	if got := x.Sum().DType(); got != dtype.Float32 {
		t.Errorf("sum is %v", got)
	}
}
