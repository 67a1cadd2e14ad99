package ops

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

// Broadcast gives every rank of g the x of rank root. Shapes and types must agree; bytes
// are kept as they are. Its derivative is that of taking root's part of AllGather(x): root
// gets its cotangent, the other ranks get zeros.
func Broadcast(x *array.Array, root int, g *group.Group) *array.Array {
	g, local, err := use(g)
	switch {
	case err != nil:
		return array.Fail("broadcast", err)
	case root < 0 || root >= g.Size():
		return array.Fail("broadcast", fmt.Errorf("invalid root %d in a group of size %d", root, g.Size()))
	case local:
		return x
	}
	return array.Apply1(broadcast{lane{g}, root}, x)
}

type broadcast struct {
	lane
	root int
}

func (broadcast) Name() string { return "broadcast" }

func (broadcast) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }

func (p broadcast) Eval(ctx context.Context, in, out []array.View) error {
	data := out[0].Bytes()
	if p.g.Rank() == p.root {
		copy(data, in[0].Bytes())
	}
	return lent(p.g.Broadcast(label(ctx, p, fmt.Sprintf("from rank %d %v", p.root, in[0].Spec)), p.root, data))
}

// VJP builds the same graph on every rank: who else reads the cotangent communicates
// with all of them.
func (p broadcast) VJP(_, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	mine := array.Scalar(p.g.Rank() == p.root)
	return []*array.Array{array.Where(mine, dy[0], array.ZerosLike(dy[0]))}, nil
}

func (p broadcast) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dx[0]), nil
}

// VMap broadcasts all examples at once: the batch axis is one more axis.
func (p broadcast) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in[0]), axes, nil
}

// AllToAll divides axis 0 of x into as many equal parts as g has ranks, sends part i to
// rank i, and puts the parts that come in together along axis 0, in the order of their
// ranks. Shapes and types must agree; bytes are kept as they are. Applied twice it gives x
// again, and its gradient is the AllToAll of the cotangents.
func AllToAll(x *array.Array, g *group.Group) *array.Array {
	return collective("all_to_all", x, g, func(g *group.Group) array.Primitive { return exchange{lane{g}} })
}

type exchange struct{ lane }

func (exchange) Name() string { return "all_to_all" }

func (p exchange) OutputSpecs(in []array.Spec) ([]array.Spec, error) {
	return in, divides(in[0].Shape, p.g.Size())
}

func (p exchange) Eval(ctx context.Context, in, out []array.View) error {
	return lent(p.g.AllToAll(label(ctx, p, in[0].Spec), in[0].Bytes(), out[0].Bytes()))
}

func (p exchange) VJP(_, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dy[0]), nil
}

func (p exchange) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dx[0]), nil
}

// VMap keeps the batch axis last, so that the examples' own axis 0 is divided.
func (p exchange) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	y := array.Apply1(p, in[0].MoveAxis(axes[0], -1))
	return []*array.Array{y}, []int{in[0].NDim() - 1}, nil
}

// divides reports whether axis 0 divides among n ranks.
func divides(shape []int, n int) error {
	if len(shape) == 0 {
		return fmt.Errorf("a scalar cannot be divided among %d ranks; axis 0 is needed", n)
	}
	if shape[0]%n != 0 {
		return fmt.Errorf("axis 0 of shape %v does not divide into %d equal slices, one for each rank", shape, n)
	}
	return nil
}
