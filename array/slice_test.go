package array_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// walked lists the places that Python's x[start:stop:step] visits, found by
// trying every place in the order of the walk.
func walked(n, start, stop, step int) []float32 {
	normal := func(limit int) int {
		if limit < 0 {
			return limit + n
		}
		return limit
	}
	first, end := normal(start), normal(stop)
	var at []float32
	if step > 0 {
		for i := max(first, 0); i < min(end, n); i += step {
			at = append(at, float32(i))
		}
	} else {
		for i := min(first, n-1); i > max(end, -1); i += step {
			at = append(at, float32(i))
		}
	}
	return at
}

func TestSliceLimitsAreThoseOfPython(t *testing.T) {
	for n := range 5 {
		x := count(n)
		for start := -7; start <= 7; start++ {
			for stop := -7; stop <= 7; stop++ {
				for _, step := range []int{-7, -2, -1, 1, 2, 7} {
					want := walked(n, start, stop, step)
					y := x.SliceAxisStep(0, start, stop, step)
					if got := elements[float32](t, y, len(want)); !slices.Equal(got, want) {
						t.Fatalf("[%d:%d:%d] of %d: %v, want %v", start, stop, step, n, got, want)
					}
				}
			}
		}
	}
}

func TestSliceDefaults(t *testing.T) {
	x := count(2, 3)
	for name, c := range map[string]struct {
		got   *array.Array
		shape []int
		want  []float32
	}{
		"everything":               {x.Slice(nil, nil, nil), []int{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		"from a start":             {x.Slice([]int{1, 1}, nil, nil), []int{1, 2}, []float32{4, 5}},
		"backwards":                {x.Slice(nil, nil, []int{-1, -2}), []int{2, 2}, []float32{5, 3, 2, 0}},
		"down to the first":        {x.SliceAxisStep(1, 1, math.MinInt, -1), []int{2, 2}, []float32{1, 0, 4, 3}},
		"the longest step":         {x.SliceAxisStep(1, 0, math.MaxInt, math.MaxInt), []int{2, 1}, []float32{0, 3}},
		"the longest step back":    {x.SliceAxisStep(1, math.MaxInt, math.MinInt, math.MinInt), []int{2, 1}, []float32{2, 5}},
		"a slice of a slice":       {x.SliceAxisStep(1, 2, -4, -1).SliceAxisStep(1, 2, 0, -1), []int{2, 2}, []float32{0, 1, 3, 4}},
		"a slice of a transpose":   {x.T().SliceAxis(0, 1, 9), []int{2, 2}, []float32{1, 4, 2, 5}},
		"one element of each row":  {x.At(-1, -1), []int{2}, []float32{2, 5}},
		"an update at every other": {x.SliceUpdate(array.From([]float32{9, 8}), nil, nil, []int{1, 2}), []int{2, 3}, []float32{9, 1, 8, 9, 4, 8}},
		"an update of nothing":     {x.SliceUpdate(array.Scalar(int32(7)), []int{0, 3}, nil, nil), []int{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
		"padding around":           {count(1, 2).Pad(7, [2]int{1, 0}, [2]int{0, 1}), []int{2, 3}, []float32{7, 7, 7, 0, 1, 7}},
		"padding of nothing":       {count(0).Pad(2, [2]int{1, 1}), []int{2}, []float32{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[float32](t, c.got, c.shape...); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestJoiningPromotes(t *testing.T) {
	x := array.Concatenate([]*array.Array{array.From([]int8{-1}), array.From([]uint8{200}), array.From([]bool{true})}, 0)
	if got := elements[int16](t, x, 3); !slices.Equal(got, []int16{-1, 200, 1}) {
		t.Errorf("got %v", got)
	}
	xs := []*array.Array{count(2), nil}
	if array.Concatenate(xs, 0).Err() == nil || xs[1] != nil {
		t.Error("a nil argument is not refused, or was replaced in the caller's list")
	}
	parts := array.Split(count(2, 6), 3, -1)
	if got := elements[float32](t, parts[1], 2, 2); len(parts) != 3 || !slices.Equal(got, []float32{2, 3, 8, 9}) {
		t.Errorf("part 1 of %d: %v", len(parts), got)
	}
}

func TestCutAndJoinMistakes(t *testing.T) {
	x := count(2, 3)
	for name, y := range map[string]*array.Array{
		"a step of zero":              x.SliceAxisStep(0, 0, 1, 0),
		"limits for fewer axes":       x.Slice([]int{0}, nil, nil),
		"a missing axis":              x.SliceAxis(2, 0, 1),
		"an element beyond the end":   x.At(1, 3),
		"an update of another shape":  x.SliceUpdate(count(4), nil, nil, nil),
		"negative padding":            x.Pad(0, [2]int{-1, 0}),
		"padding of fewer axes":       count(2, 2, 2).Pad(0, [2]int{1, 0}, [2]int{1, 0}),
		"padding beyond all memory":   x.Pad(0, [2]int{1 << 60, 0}),
		"nothing to join":             array.Concatenate(nil, 0),
		"shapes that do not join":     array.Concatenate([]*array.Array{x, count(2, 2)}, 0),
		"axes that do not join":       array.Concatenate([]*array.Array{x, count(2)}, 0),
		"joining along no axis":       array.Concatenate([]*array.Array{x, x}, 2),
		"stacking different shapes":   array.Stack([]*array.Array{x, x.T()}, 0),
		"stacking nothing":            array.Stack(nil, 0),
		"parts of different lengths":  array.Split(x, 2, 1)[1],
		"no parts":                    array.Split(x, 0, 1)[0],
		"places that go back":         array.SplitAt(x, []int{2, 1}, 1)[2],
		"a negative repetition":       x.Repeat(-1, 0),
		"a negative tile":             x.Tile(-1),
		"rolling along no axis":       x.Roll(1, 2),
		"tiles beyond all memory":     x.Tile(1<<40, 1<<40),
		"repetition beyond memory":    x.Repeat(1<<62, 0),
		"flipping an axis twice":      x.Flip(0, 0),
		"a triangle of a vector":      count(3).Tril(0),
		"a triangle of negative size": array.Tri(-1, 2, 0, dtype.Float32),
	} {
		if y.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
}

func TestIndexMistakes(t *testing.T) {
	x := count(2, 3)
	for name, y := range map[string]*array.Array{
		"float indices":                     x.Take(count(1), 0),
		"bool indices":                      x.Take(array.From([]bool{true}), 0),
		"taking along no axis":              x.Take(list(0), 2),
		"no indices":                        x.Take(nil, 0),
		"indices of fewer axes":             x.TakeAlongAxis(list(0), 0),
		"indices that do not broadcast":     x.TakeAlongAxis(list(0, 0, 0, 0).Reshape(2, 2), 0),
		"updates of another shape":          x.ScatterAdd(list(0, 1, 0), count(2, 3), 0),
		"updates of another shape along":    x.PutAlongAxis(list(0, 1).Reshape(2, 1), count(3, 1), 1),
		"fewer indices than axes":           array.Gather(x, []*array.Array{list(0)}, []int{0, 1}),
		"an axis twice":                     array.Gather(x, []*array.Array{list(0), list(0)}, []int{0, 0}),
		"indices of shapes that do not fit": array.Gather(x, []*array.Array{list(0, 1), list(0, 1, 2)}, []int{0, 1}),
	} {
		if y.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, y := range map[string]*array.Array{
		"beyond the end":      x.Take(list(0, 3), 1),
		"before the start":    x.Take(list(-4), 1),
		"of an empty axis":    count(0).Take(list(0), 0),
		"along an axis":       x.TakeAlongAxis(list(3, 0).Reshape(2, 1), 1),
		"of a scatter":        x.ScatterAdd(list(2), count(1, 3), 0),
		"of several axes":     array.Gather(x, []*array.Array{list(0), list(3)}, []int{0, 1}),
		"unsigned and beyond": x.Take(array.From([]uint64{math.MaxUint64}), 1),
	} {
		if err := y.Err(); err != nil {
			t.Errorf("index %s: refused before its value is known: %v", name, err)
		}
		if err := y.Eval(context.Background()); err == nil || !strings.Contains(err.Error(), "index") || strings.Contains(err.Error(), "internal") {
			t.Errorf("index %s: error %v", name, err)
		}
	}
}

func TestScatterOfEveryType(t *testing.T) {
	for _, kind := range dtype.All() {
		x := array.From([]int8{1, 0, 1}).AsType(kind)
		update := array.From([]int8{1, 1, 1, 0}).AsType(kind)
		got := elements[float64](t, x.ScatterAdd(list(0, 1, 0, 2), update, 0).AsType(dtype.Float64), 3)
		want := []float64{3, 1, 1}
		if kind == dtype.Bool {
			want[0] = 1
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
		put := elements[float64](t, x.Scatter(list(1), update.SliceAxis(0, 0, 1), 0).AsType(dtype.Float64), 3)
		if !slices.Equal(put, []float64{1, 1, 1}) {
			t.Errorf("%v: scatter gives %v", kind, put)
		}
	}
	ones := array.Ones(dtype.Float16, 3000)
	sum := array.Zeros(dtype.Float16, 1).ScatterAdd(array.Zeros(dtype.Int32, 3000), ones, 0)
	if got := elements[dtype.F16](t, sum, 1)[0].Float64(); got != 3000 {
		t.Errorf("3000 ones in float16 add up to %v", got)
	}
}
