package ops_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

// small are numbers that every type holds exactly (of them bool keeps which are zero), and
// so are their sums over eight ranks.
func small(r int, t dtype.Type, shape ...int) *array.Array {
	values := make([]float64, array.Spec{Shape: shape}.Size())
	for i := range values {
		values[i] = float64((i*7 + r*3) % 11)
	}
	return array.From(values).Reshape(shape...).AsType(t)
}

// equal checks that the bytes of x and want, shapes and types are the same.
func equal(r rank, what string, x, want *array.Array) {
	r.Helper()
	got, err := array.Bytes(r.ctx, x)
	wanted, err2 := array.Bytes(r.ctx, want)
	if err != nil || err2 != nil || !bytes.Equal(got, wanted) || !x.Spec().Equal(want.Spec()) {
		r.Errorf("%s on rank %d: %v, want %v (%v, %v)", what, r.r, x, want, err, err2)
	}
}

var shapes = [][]int{{}, {1}, {7}, {24}, {24, 3}, {2, 2, 4}, {0, 3}, {2, 0}}

func TestCollectivesOfEveryTypeAndShape(t *testing.T) {
	conform.Row(t, "R2", "R4", "R18", "R21", "A1", "A3", "A5", "C1", "C6")
	sizes(t, []int{2, 3, 4, 8}, func(r rank) {
		n := r.g.Size()
		for _, kind := range dtype.All() {
			for _, shape := range shapes {
				mine, all := small(r.r, kind, shape...), make([]*array.Array, n)
				for i := range all {
					all[i] = small(i, kind, shape...)
				}
				together := array.Stack(all, 0)
				sum := together.AsType(wide(kind)).Sum(0).AsType(kind)
				what := kind.String() + " "
				equal(r, what+"sum", ops.AllSum(mine, r.g), sum)
				if kind != dtype.Complex64 { // which has no order in package array
					equal(r, what+"max", ops.AllMax(mine, r.g), together.AsType(wide(kind)).Max(0).AsType(kind))
					equal(r, what+"min", ops.AllMin(mine, r.g), together.AsType(wide(kind)).Min(0).AsType(kind))
				}
				flat := together
				if len(shape) > 0 {
					flat = array.Concatenate(all, 0)
				}
				equal(r, what+"gather", ops.AllGather(mine, r.g), flat)
				equal(r, what+"broadcast", ops.Broadcast(mine, n/2, r.g), all[n/2])
				if len(shape) > 0 && shape[0]%n == 0 {
					k := shape[0] / n
					equal(r, what+"scatter", ops.SumScatter(mine, r.g), sum.SliceAxis(0, r.r*k, (r.r+1)*k))
					parts := make([]*array.Array, n)
					for i := range parts {
						parts[i] = all[i].SliceAxis(0, r.r*k, (r.r+1)*k)
					}
					equal(r, what+"all to all", ops.AllToAll(mine, r.g), array.Concatenate(parts, 0))
				}
			}
		}
	})
}

// wide is a type in which sums of small numbers of type t are exact and mean the same; for
// bool, where a sum is or, they are zero where it is false.
func wide(t dtype.Type) dtype.Type {
	if t == dtype.Complex64 {
		return t
	}
	return dtype.Float64
}

func TestBytesAreKept(t *testing.T) {
	conform.Row(t, "A6")
	world(t, 2, func(r rank) {
		odd := []float32{math.Float32frombits(0x7fc00001 + uint32(r.r)), math.Float32frombits(0xffc12345), float32(math.Copysign(0, -1)), 1}
		for _, x := range []*array.Array{
			array.From(odd), array.From([]complex64{complex(odd[0], odd[2]), complex(odd[1], 1)}), array.From([]bool{true, r.r == 0}),
		} {
			mine, err := array.Bytes(r.ctx, x)
			if err != nil {
				r.Error(err)
			}
			gathered, err := array.Bytes(r.ctx, ops.AllGather(x, r.g))
			if err != nil || !bytes.Equal(gathered[r.r*len(mine):(r.r+1)*len(mine)], mine) {
				r.Errorf("gather of %v: %x holds not %x (%v)", x.DType(), gathered, mine, err)
			}
			there, err := array.Bytes(r.ctx, ops.AllToAll(ops.AllToAll(x, r.g), r.g))
			if err != nil || !bytes.Equal(there, mine) {
				r.Errorf("all to all and back of %v: %x, want %x (%v)", x.DType(), there, mine, err)
			}
			from0, err := array.Bytes(r.ctx, ops.Broadcast(x, 0, r.g))
			if err != nil || !bytes.Equal(from0, gathered[:len(mine)]) {
				r.Errorf("broadcast of %v: %x, want %x (%v)", x.DType(), from0, gathered[:len(mine)], err)
			}
		}
	})
}

// The views have other values at every place, and the source is used afterwards.
func TestCollectivesOfViews(t *testing.T) {
	conform.Row(t, "A4", "R19", "R20", "R28", "S14")
	sizes(t, []int{2, 3}, func(r rank) {
		n := r.g.Size()
		source := small(r.r, dtype.Float32, 2*n, 4*n)
		before := small(r.r, dtype.Float32, 2*n, 4*n)
		for name, x := range inOrder(map[string]*array.Array{
			"transposed": source.T(), "reversed": source.Flip(0), "every other": source.SliceAxisStep(1, 0, 4*n, 2),
			"from the middle": source.SliceAxis(1, n, 2*n), "broadcast": source.SliceAxis(1, 0, 1).BroadcastTo(2*n, 3),
		}) {
			copied := x.Add(array.Zeros(dtype.Float32, 1)) // the same values, contiguous
			equal(r, name+": gather", ops.AllGather(x, r.g), ops.AllGather(copied, r.g))
			equal(r, name+": sum", ops.AllSum(x, r.g), ops.AllSum(copied, r.g))
			equal(r, name+": scatter", ops.SumScatter(x, r.g), ops.SumScatter(copied, r.g))
			equal(r, name+": all to all", ops.AllToAll(x, r.g), ops.AllToAll(copied, r.g))
			equal(r, name+": broadcast", ops.Broadcast(x, n-1, r.g), ops.Broadcast(copied, n-1, r.g))
			sent := ops.Send(x, (r.r+1)%n, r.g)
			got := ops.RecvLike(x, (r.r+n-1)%n, r.g)
			if err := array.Eval(r.ctx, sent, got); err != nil {
				r.Error(err)
			}
			equal(r, name+": sent", sent, copied)
			gathered := ops.AllGather(copied, r.g)
			equal(r, name+": received", got, array.Split(gathered, n, 0)[(r.r+n-1)%n])
		}
		equal(r, "source afterwards", source, before)
	})
}

func TestScatteredSumsOfEightRanks(t *testing.T) {
	conform.Row(t, "C2")
	world(t, 8, func(r rank) {
		for _, c := range []struct {
			kind      dtype.Type
			tolerance float64
			columns   int
		}{{dtype.Float32, 1e-6, 1024}, {dtype.Float16, 5e-3, 64}, {dtype.BFloat16, 1e-1, 64}} {
			for _, shape := range [][]int{{8}, {64}, {1024}, {1024, c.columns}} {
				k := shape[0] / 8
				waves := func(rank, from, to int, step float64) *array.Array { // from 0 to 5
					return array.Arange(float64(from), float64(to), 1, dtype.Float64).AddScalar(float64(rank)).MulScalar(step).Sin().AddScalar(1).MulScalar(2.5)
				}
				draw := func(rank, from, to int) *array.Array { // rows, other digits on every rank
					x := waves(rank, from, to, 0.7)
					if len(shape) == 2 {
						x = x.ExpandDims(1).Add(waves(rank, 0, shape[1], 0.3))
					}
					return x.AsType(c.kind)
				}
				want := array.Scalar(0.0)
				for i := range 8 {
					want = want.Add(draw(i, r.r*k, (r.r+1)*k).AsType(dtype.Float64))
				}
				got := ops.SumScatter(draw(r.r, 0, shape[0]), r.g)
				off := got.AsType(dtype.Float64).Sub(want).Abs().Div(want.Abs().AddScalar(1e-3)).Max()
				worst, err := array.Item[float64](r.ctx, off)
				if err != nil || worst > c.tolerance {
					r.Errorf("%v%v on rank %d is off by %v (%v)", c.kind, shape, r.r, worst, err)
				}
			}
		}
	})
}

// Gathered again, a scattered sum is the sum, and so is its gradient.
func TestGatherOfAScatteredSumIsTheSum(t *testing.T) {
	conform.Row(t, "C10")
	sizes(t, []int{2, 3, 4}, func(r rank) {
		n := r.g.Size()
		x, w := numbers(1, r.r, 2*n, 3), numbers(2, 0, 2*n, 3)
		whole := func(x *array.Array) *array.Array { return ops.AllSum(x, r.g) }
		parts := func(x *array.Array) *array.Array { return ops.AllGather(ops.SumScatter(x, r.g), r.g) }
		equal(r, "value", parts(x), whole(x))
		loss := func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
			return func(x *array.Array) *array.Array { return f(x).Square().Mul(w).Sum() }
		}
		// By the rules, gather takes this rank's slice of the cotangent and scatter gathers them.
		_, both := valueAndGrad(loss(parts), x)
		_, one := valueAndGrad(loss(whole), x)
		near(r, "gradient", both, one, 1e-14)
	})
}

func TestGroupOfOneReturnsTheArgumentWhateverItIs(t *testing.T) {
	conform.Row(t, "R25", "A8", "C5", "O21")
	nan := array.Scalar(math.NaN())
	odd := array.From([]bool{true, false, true})
	mistake := array.Ones(dtype.Int8, 2).Add(array.Ones(dtype.Int8, 3))
	for _, x := range []*array.Array{nan, odd, mistake, array.Zeros(dtype.Complex64, 0, 3)} {
		for name, y := range map[string]*array.Array{
			"all_sum": ops.AllSum(x, nil), "all_max": ops.AllMax(x, nil), "all_min": ops.AllMin(x, nil), "all_gather": ops.AllGather(x, nil),
			"sum_scatter": ops.SumScatter(x, nil), "broadcast": ops.Broadcast(x, 0, nil), "all_to_all": ops.AllToAll(x, nil),
			"sum_gradients": ops.SumGradients(x, nil),
		} {
			if y != x {
				t.Errorf("%s of %v returns another array", name, x.Spec())
			}
		}
	}
	if err := ops.Broadcast(nan, 1, nil).Err(); err == nil || !strings.Contains(err.Error(), "invalid root 1 in a group of size 1") {
		t.Errorf("error is %v", err)
	}
}

// What is wrong with the arguments is found when the collective is built, on every rank.
func TestWrongArgumentsAreFoundWhenBuilt(t *testing.T) {
	conform.Row(t, "C3", "C4")
	world(t, 2, func(r rank) {
		x := array.Ones(dtype.Float32, 3, 2)
		for name, c := range map[string]struct {
			x    *array.Array
			want string
		}{
			"scatter of three rows":    {ops.SumScatter(x, r.g), "sum_scatter at types_test.go:"},
			"all to all of three rows": {ops.AllToAll(x, r.g), "axis 0 of shape [3 2] does not divide into 2"},
			"all to all of a number":   {ops.AllToAll(array.Scalar(1.0), r.g), "axis 0 is needed"},
			"no such root":             {ops.Broadcast(x, 2, r.g), "invalid root 2 in a group of size 2"},
			"a negative root":          {ops.Broadcast(x, -1, r.g), "broadcast at types_test.go:"},
			"a mistake before":         {ops.Broadcast(x.Reshape(4), 0, r.g), "reshape at types_test.go:"},
		} {
			if err := c.x.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				r.Errorf("%s: error is %v, want %q in it", name, err, c.want)
			}
		}
		if r.g.Stats() != (group.Stats{}) {
			r.Errorf("something was sent: %+v", r.g.Stats())
		}
		same(r, "afterwards", ops.AllSum(array.Scalar(1.0), r.g), []float64{2})
	})
}

func TestMessagesOfEveryTypeAndShapeGoRound(t *testing.T) {
	conform.Row(t, "S3", "S13", "S16")
	sizes(t, []int{2, 3, 4}, func(r rank) {
		n := r.g.Size()
		left, right := (r.r+n-1)%n, (r.r+1)%n
		for _, kind := range dtype.All() {
			for _, shape := range slices.Concat(shapes, [][]int{{1024}, {64, 64}}) {
				x := small(r.r, kind, shape...)
				sent, got := ops.Send(x, right, r.g), ops.RecvLike(x, left, r.g)
				first := []*array.Array{sent, got}
				if r.r%2 == 1 {
					slices.Reverse(first)
				}
				if err := array.Eval(r.ctx, first...); err != nil {
					r.Error(err)
					return
				}
				equal(r, "sent", sent, x)
				equal(r, "received", got, small(left, kind, shape...))
			}
		}
		for from := range n { // everyone to everyone, neighbours or not
			if from == r.r {
				var all []*array.Array
				for to := range n {
					if to != from {
						all = append(all, ops.Send(array.Scalar(float64(10*from+to)), to, r.g))
					}
				}
				if err := array.Eval(r.ctx, all...); err != nil {
					r.Error(err)
				}
			} else {
				same(r, "from afar", ops.Recv(from, r.g, dtype.Float64), []float64{float64(10*from + r.r)})
			}
		}
	})
}
