package ops_test

import (
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/ops"
)

// model is a collective and what it does to the arrays of all ranks, stacked along axis 0.
type model struct {
	name    string
	apply   func(x *array.Array, g *group.Group) *array.Array
	stacked func(xs *array.Array) *array.Array
	shared  bool // all ranks get the same
	longer  bool // axis 0 is longer by the number of ranks
	divides bool // axis 0 is divided among the ranks
}

// everywhere repeats x for all ranks.
func everywhere(x *array.Array, n int) *array.Array {
	return x.ExpandDims(0).BroadcastTo(append([]int{n}, x.Shape()...)...)
}

// models has every collective that has derivatives.
var models = []model{
	{name: "all_sum", shared: true, apply: ops.AllSum,
		stacked: func(xs *array.Array) *array.Array { return everywhere(xs.Sum(0), xs.Dim(0)) }},
	{name: "all_mean", shared: true, apply: ops.AllMean,
		stacked: func(xs *array.Array) *array.Array { return everywhere(xs.Mean(0), xs.Dim(0)) }},
	{name: "all_max", shared: true, apply: ops.AllMax,
		stacked: func(xs *array.Array) *array.Array { return everywhere(xs.Max(0), xs.Dim(0)) }},
	{name: "all_min", shared: true, apply: ops.AllMin,
		stacked: func(xs *array.Array) *array.Array { return everywhere(xs.Min(0), xs.Dim(0)) }},
	{name: "all_gather", shared: true, longer: true, apply: ops.AllGather,
		stacked: func(xs *array.Array) *array.Array {
			return everywhere(xs.Reshape(append([]int{xs.Dim(0) * xs.Dim(1)}, xs.Shape()[2:]...)...), xs.Dim(0))
		}},
	{name: "broadcast", shared: true,
		apply:   func(x *array.Array, g *group.Group) *array.Array { return ops.Broadcast(x, g.Size()-1, g) },
		stacked: func(xs *array.Array) *array.Array { return everywhere(xs.At(0, xs.Dim(0)-1), xs.Dim(0)) }},
	{name: "sum_scatter", divides: true, apply: ops.SumScatter,
		stacked: func(xs *array.Array) *array.Array { return xs.Sum(0).Unflatten(0, xs.Dim(0), -1) }},
	{name: "all_to_all", divides: true, apply: ops.AllToAll,
		stacked: func(xs *array.Array) *array.Array {
			parts := xs.Unflatten(1, xs.Dim(0), -1).SwapAxes(0, 1)
			return parts.Reshape(xs.Shape()...)
		}},
}

// each runs f for every collective, in worlds of the given sizes.
func each(t *testing.T, ns []int, f func(r rank, m model)) {
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) { sizes(t, ns, func(r rank) { f(r, m) }) })
	}
}

// numbers are different on every rank, in every place and for every seed.
func numbers(seed float64, rank int, shape ...int) *array.Array {
	values := make([]float64, array.Spec{Shape: shape}.Size())
	for i := range values {
		values[i] = 1.5 * math.Sin(seed+1.7*float64(rank)+0.9*float64(i))
	}
	return array.From(values, shape...)
}

// stackedNumbers are those of n ranks.
func stackedNumbers(seed float64, n int, shape ...int) *array.Array {
	all := make([]*array.Array, n)
	for r := range all {
		all[r] = numbers(seed, r, shape...)
	}
	return array.Stack(all, 0)
}

// scalarLoss makes a number that is the same on all ranks of what the collective gives.
func (m model) scalarLoss(r rank) func(x *array.Array) *array.Array {
	return func(x *array.Array) *array.Array {
		y := m.apply(x, r.g)
		if m.shared {
			return y.Sin().Mul(numbers(5, 0, y.Shape()...)).Sum()
		}
		return ops.AllSum(y.Sin().Mul(numbers(5, r.r, y.Shape()...)).Sum(), r.g)
	}
}

// wrappings leave what a function computes as it is.
var wrappings = map[string]func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array{
	"plain": func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array { return f },
	"compiled": func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
		return only(transform.Compile(many(f)))
	},
	"checkpoint": func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
		return only(transform.Checkpoint(many(f)))
	},
	"compiled checkpoint": func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
		return only(transform.Compile(transform.Checkpoint(many(f))))
	},
}

// near checks values of x against those of want, another way to compute them. Both are
// evaluated together.
func near(r rank, what string, x, want *array.Array, tolerance float64) {
	r.Helper()
	if err := array.Eval(r.ctx, x, want); err != nil {
		r.Errorf("%s on rank %d: %v", what, r.r, err)
		return
	}
	got, _ := array.Values[float64](r.ctx, x)
	wanted, _ := array.Values[float64](r.ctx, want)
	if len(got) != len(wanted) || !x.Spec().Equal(want.Spec()) {
		r.Errorf("%s on rank %d: %v, want %v", what, r.r, x.Spec(), want.Spec())
		return
	}
	if grouptest.PartialSums() { // the bits of an element depend on where it lies
		tolerance = max(tolerance, 1e-14)
	}
	for i := range got {
		if !(math.Abs(got[i]-wanted[i]) <= tolerance*max(1, math.Abs(wanted[i]))) {
			r.Errorf("%s on rank %d: number %d is %v, want %v", what, r.r, i, got[i], wanted[i])
			return
		}
	}
}

// along is the derivative of f at x along dx, by the forward rules.
func along(f func(x *array.Array) *array.Array, x, dx *array.Array) *array.Array {
	_, dy := transform.JVP(many(f), []*array.Array{x}, []*array.Array{dx})
	return dy[0]
}

// difference is the same by two values of f.
func difference(f func(x *array.Array) *array.Array, x, dx *array.Array) *array.Array {
	const h = 1e-5
	return f(x.Add(dx.MulScalar(h))).Sub(f(x.Sub(dx.MulScalar(h)))).DivScalar(2 * h)
}
