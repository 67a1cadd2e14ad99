package array_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

func TestPlacesOfExtrema(t *testing.T) {
	nan := math.NaN()
	x := array.From([]float64{1, 3, 3, 0, nan, 5, nan, -7, 2, 2, 2, 2}, 3, 4)
	for name, c := range map[string]struct {
		got   *array.Array
		shape []int
		want  []uint32
	}{
		"first greatest, first NaN": {x.ArgMax(1), []int{3}, []uint32{1, 0, 0}},
		"first least, first NaN":    {x.ArgMin(-1), []int{3}, []uint32{3, 0, 0}},
		"kept axis":                 {x.ArgMaxKeep(-1), []int{3, 1}, []uint32{1, 0, 0}},
		"along columns":             {x.SliceAxis(1, 1, 4).ArgMax(0), []int{3}, []uint32{1, 1, 2}},
		"kept first axis":           {x.SliceAxis(1, 1, 2).ArgMinKeep(0), []int{1, 1}, []uint32{2}},
		"of bool":                   {array.From([]bool{false, true, true}).ArgMax(0), []int{}, []uint32{1}},
		"of integers":               {array.From([]int64{-5, math.MinInt64, 4}).ArgMin(0), []int{}, []uint32{1}},
		"of halves":                 {array.From([]float64{-1, 2, 2}).AsType(dtype.Float16).ArgMax(0), []int{}, []uint32{1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[uint32](t, c.got, c.shape...); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for name, y := range map[string]*array.Array{
		"an empty axis":   count(2, 0).ArgMax(1),
		"complex numbers": array.Zeros(dtype.Complex64, 2).ArgMin(0),
		"a missing axis":  x.ArgMax(2),
		"a number":        array.Scalar(1.0).ArgMax(0),
	} {
		if y.Err() == nil {
			t.Errorf("argmax of %s has no error", name)
		}
	}
}

func TestSortingOrder(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := array.From([]float64{nan, 1, -inf, 0, inf, 1, math.Copysign(0, -1), nan})
	for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		want := []uint32{2, 3, 6, 1, 5, 4, 0, 7}
		if got := elements[uint32](t, x.AsType(kind).ArgSort(0), 8); !slices.Equal(got, want) {
			t.Errorf("%v: places %v, want %v", kind, got, want)
		}
	}
	for _, kind := range dtype.All() {
		y := array.From([]uint8{1, 0, 1, 0}).AsType(kind)
		if got := elements[uint32](t, y.ArgSort(-1), 4); !slices.Equal(got, []uint32{1, 3, 0, 2}) {
			t.Errorf("%v: places %v", kind, got)
		}
	}
	z := array.From([]complex64{2, complex(1, float32(nan)), 1 + 2i, 1 - 2i})
	if got := elements[uint32](t, z.ArgSort(0), 4); !slices.Equal(got, []uint32{3, 2, 0, 1}) {
		t.Errorf("complex: places %v", got)
	}
	values, places := array.TopK(array.From([]int32{5, 9, 9, 1}), 3, 0)
	if got := elements[int32](t, values, 3); !slices.Equal(got, []int32{9, 9, 5}) {
		t.Errorf("topk %v", got)
	}
	if got := elements[uint32](t, places, 3); !slices.Equal(got, []uint32{2, 1, 0}) {
		t.Errorf("topk places %v", got)
	}
	_, tooMany := array.TopK(count(3), 4, 0)
	for name, y := range map[string]*array.Array{
		"too many":            tooMany,
		"partition beyond":    count(3).Partition(3, 0),
		"argpartition beyond": count(3).ArgPartition(-4, 0),
		"sort along no axis":  count(3).Sort(1),
	} {
		if y.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
}

func TestRunningExtrema(t *testing.T) {
	nan := math.NaN()
	x := array.From([]float64{1, 3, 2, nan, 9})
	for name, c := range map[string]struct {
		got  *array.Array
		want []float64
	}{
		"greatest":             {x.CumMax(0), []float64{1, 3, 3, nan, nan}},
		"least":                {x.CumMin(0), []float64{1, 1, 1, nan, nan}},
		"greatest from behind": {x.CumMax(0, array.Reverse), []float64{nan, nan, nan, nan, 9}},
		"greatest before":      {x.CumMax(0, array.Exclusive), []float64{math.Inf(-1), 1, 3, 3, nan}},
		"of integers":          {array.From([]int8{3, -4, 5}).CumMin(0).AsType(dtype.Float64), []float64{3, -4, -4}},
		"sums of bool":         {array.From([]bool{true, true, false}).CumSum(0).AsType(dtype.Float64), []float64{1, 2, 2}},
		"sums that wrap":       {array.From([]uint8{200, 100}).CumSum(0).AsType(dtype.Float64), []float64{200, 44}},
		"products":             {array.From([]int32{2, -3, 4}).CumProd(0, array.Reverse).AsType(dtype.Float64), []float64{-24, -12, 4}},
		"complex products":     {array.From([]complex64{1i, 1i, 2}).CumProd(0).Real().AsType(dtype.Float64), []float64{0, -1, -2}},
		"sums of halves":       {array.Full(1, dtype.Float16, 4).CumSum(0).AsType(dtype.Float64), []float64{1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			got := elements[float64](t, c.got, len(c.want))
			if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if array.From([]int8{1}).CumMax(0, array.Exclusive).Err() == nil {
		t.Error("integers have no -Inf to begin with")
	}
	if x.CumSum(1).Err() == nil || array.Zeros(dtype.Complex64, 2).CumMax(0).Err() == nil {
		t.Error("a scan that cannot be has no error")
	}
}

func TestLogCumSumExpWithoutOverflow(t *testing.T) {
	inf := math.Inf(1)
	x := array.From([]float64{-inf, 1000, 1000, -1000, 2000, inf})
	got := elements[float64](t, x.LogCumSumExp(0), 6)
	want := []float64{-inf, 1000, 1000 + math.Ln2, 1000 + math.Ln2, 2000, inf}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	f := func(x *array.Array) *array.Array {
		return x.SliceAxis(0, 0, 5).LogCumSumExp(0).SliceAxis(0, 1, 4).Sum()
	}
	if slope := elements[float64](t, transform.Grad(f)(x), 6); !slices.EqualFunc(slope, []float64{0, 2, 1, 0, 0, 0}, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("gradient %v", slope)
	}
	if array.Zeros(dtype.Complex64, 2).LogCumSumExp(0).Err() == nil {
		t.Error("complex numbers have no error")
	}
}

func TestLikes(t *testing.T) {
	x := count(2).AsType(dtype.Int16)
	for want, y := range map[int16]*array.Array{0: array.ZerosLike(x), 1: array.OnesLike(x), 7: array.FullLike(x, 7)} {
		if got := elements[int16](t, y, 2); !slices.Equal(got, []int16{want, want}) {
			t.Errorf("got %v, want %v twice", got, want)
		}
	}
	for name, y := range map[string]*array.Array{
		"shapes that do not fit": array.BroadcastArrays([]*array.Array{count(2), count(3)})[0],
		"a grid of matrices":     array.Meshgrid([]*array.Array{count(2), count(2, 2)})[1],
		"unstacking no axis":     array.Unstack(count(2), 1)[0],
		"lengths that do not":    count(6).Unflatten(0, 4, -1),
		"differences of no axis": count(6).Diff(1),
	} {
		if y.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
}

func TestTruthOfAll(t *testing.T) {
	x := array.From([]float64{0, 1, math.NaN(), 2}, 2, 2)
	for name, c := range map[string]struct {
		got   *array.Array
		shape []int
		want  []bool
	}{
		"all of rows":     {x.All(1), []int{2}, []bool{false, true}},
		"all, axes kept":  {x.AllKeep(0), []int{1, 2}, []bool{false, true}},
		"any of columns":  {x.SliceAxis(1, 0, 1).Any(0), []int{1}, []bool{true}},
		"any, axes kept":  {x.AnyKeep(), []int{1, 1}, []bool{true}},
		"all of nothing":  {count(0).All(), []int{}, []bool{true}},
		"any of nothing":  {count(0).Any(), []int{}, []bool{false}},
		"any of integers": {array.From([]int8{0, -1}).Any(), []int{}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := elements[bool](t, c.got, c.shape...); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSoftmaxWithoutOverflow(t *testing.T) {
	inf := math.Inf(1)
	x := array.From([]float64{1000, 1000, -inf, 0, -1000, -inf}, 2, 3)
	for _, kind := range []dtype.Type{dtype.Float16, dtype.Float32, dtype.Float64} {
		y := x.AsType(kind)
		if got := elements[float64](t, y.Softmax(1).AsType(dtype.Float64), 2, 3); !slices.Equal(got, []float64{0.5, 0.5, 0, 1, 0, 0}) {
			t.Errorf("%v: softmax %v", kind, got)
		}
		if got := elements[float64](t, y.LogSoftmax(1).AsType(dtype.Float64), 2, 3); got[2] != -inf || got[3] != 0 || got[4] != -1000 {
			t.Errorf("%v: log softmax %v", kind, got)
		}
	}
	for name, c := range map[string]struct {
		x    []float64
		want float64
	}{
		"nothing": {nil, -inf}, "only -Inf": {[]float64{-inf, -inf}, -inf}, "an Inf": {[]float64{1, inf}, inf},
		"a NaN": {[]float64{math.NaN(), inf}, math.NaN()}, "large": {[]float64{2000, 2000}, 2000 + math.Ln2},
	} {
		got := elements[float64](t, array.From(c.x, len(c.x)).LogSumExp())[0]
		if got != c.want && (got == got || c.want == c.want) {
			t.Errorf("logsumexp of %s: %v, want %v", name, got, c.want)
		}
	}
	if got := array.From([]int32{1, 2}).Softmax(0).DType(); got != dtype.Float32 {
		t.Errorf("softmax of int32 is %v", got)
	}
	if array.Zeros(dtype.Complex64, 2).Softmax(0).Err() == nil {
		t.Error("softmax of complex numbers has no error")
	}
}
