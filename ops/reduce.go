package ops

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// AllSum adds x over the ranks of g, element by element. Shapes and types must
// agree; every rank gets the same bits, as if each element's values were added in
// rank order and rounded once. Bool means or. Its derivative passes cotangents and
// sums tangents.
func AllSum(x *array.Array, g *group.Group) *array.Array {
	return allReduce("all_sum", group.Sum, x, g)
}

// AllMean is AllSum divided by the size of the group before the one rounding.
// Integers and bool become float32 first, in a group of one too.
func AllMean(x *array.Array, g *group.Group) *array.Array { return AllMeanOf("", x, g) }

// AllMeanOf is AllMean of something that has a name, such as "gradient of
// layers.0.weight". The name is part of what the ranks compare before they reduce:
// where names differ, all ranks get an error with everybody's.
func AllMeanOf(what string, x *array.Array, g *group.Group) *array.Array {
	if t := x.DType(); t.IsInteger() || t.IsBool() {
		x = x.AsType(dtype.Float32)
	}
	return collective("all_mean", x, g, func(g *group.Group) array.Primitive {
		return reduction{lane: lane{g}, name: "all_mean", op: group.Mean, what: what}
	})
}

// AllMax takes the largest value over the ranks of g, element by element. A NaN
// on any rank wins, and +0 is larger than -0. Complex numbers compare by real, then
// by imaginary part.
func AllMax(x *array.Array, g *group.Group) *array.Array {
	return allReduce("all_max", group.Max, x, g)
}

// AllMin is AllMax with the smallest value; a NaN wins here too.
func AllMin(x *array.Array, g *group.Group) *array.Array {
	return allReduce("all_min", group.Min, x, g)
}

func allReduce(name string, op group.Op, x *array.Array, g *group.Group) *array.Array {
	return collective(name, x, g, func(g *group.Group) array.Primitive {
		return reduction{lane: lane{g}, name: name, op: op}
	})
}

type reduction struct {
	lane
	name string
	op   group.Op
	what string // what is reduced, for messages; may be empty
}

func (p reduction) Name() string { return p.name }

func (p reduction) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }

func (p reduction) Eval(ctx context.Context, in, out []array.View) error {
	data, own := out[0].Bytes(), in[0].Bytes()
	if len(data) > 0 && &data[0] != &own[0] {
		copy(data, own)
	}
	return lent(p.g.AllReduceBytes(label(ctx, p, p.given(in[0].Spec)), p.op, in[0].DType, data))
}

// given is what is reduced, as messages show it.
func (p reduction) given(x array.Spec) any {
	if p.what == "" {
		return x
	}
	return fmt.Sprintf("%v: %s", x, p.what)
}

// Overwrites lists the input: a donated one is reduced in place.
func (reduction) Overwrites(int) []int { return []int{0} }

func (p reduction) VJP(in, out, dy []*array.Array, _ []int) ([]*array.Array, error) {
	switch p.op {
	case group.Sum:
		return dy, nil
	case group.Mean:
		return []*array.Array{dy[0].DivScalar(float64(p.g.Size()))}, nil
	}
	held := p.held(in[0], out[0])
	return []*array.Array{dy[0].Mul(held).Div(AllSum(held, p.g))}, nil
}

func (p reduction) JVP(in, out, dx []*array.Array, _ []int) ([]*array.Array, error) {
	if p.op == group.Sum || p.op == group.Mean {
		return []*array.Array{array.Apply1(p, dx[0])}, nil
	}
	held := p.held(in[0], out[0])
	sums := AllSum(array.Stack([]*array.Array{dx[0].Mul(held), held}, 0), p.g)
	both := array.Split(sums, 2, 0)
	return []*array.Array{both[0].Squeeze(0).Div(both[1].Squeeze(0))}, nil
}

// held is 1 where this rank holds the extremum, 0 elsewhere.
func (p reduction) held(x, y *array.Array) *array.Array { return x.Equal(y).AsType(x.DType()) }

// VMap reduces all examples at once: the batch axis is one more axis.
func (p reduction) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in[0]), axes, nil
}

// SumScatter adds x over the ranks of g and leaves each rank its slice of the sum:
// rank r of n gets rows r·k to (r+1)·k of axis 0, where k is its length divided by n.
// n must divide the length. The gradient gathers the cotangents of all ranks.
func SumScatter(x *array.Array, g *group.Group) *array.Array {
	return collective("sum_scatter", x, g, func(g *group.Group) array.Primitive { return scatter{lane{g}} })
}

type scatter struct{ lane }

func (scatter) Name() string { return "sum_scatter" }

func (p scatter) OutputSpecs(in []array.Spec) ([]array.Spec, error) {
	shape, n := in[0].Shape, p.g.Size()
	if err := divides(shape, n); err != nil {
		return nil, err
	}
	return []array.Spec{{Shape: append([]int{shape[0] / n}, shape[1:]...), DType: in[0].DType}}, nil
}

func (p scatter) Eval(ctx context.Context, in, out []array.View) error {
	return lent(p.g.ReduceScatterBytes(label(ctx, p, in[0].Spec), group.Sum, in[0].DType, in[0].Bytes(), out[0].Bytes()))
}

func (p scatter) VJP(_, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{AllGather(dy[0], p.g)}, nil
}

func (p scatter) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dx[0]), nil
}

// VMap keeps the batch axis last, so that the examples' own axis 0 is divided.
func (p scatter) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	y := array.Apply1(p, in[0].MoveAxis(axes[0], -1))
	return []*array.Array{y}, []int{in[0].NDim() - 1}, nil
}
