package ops

import (
	"context"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

// AllGather concatenates x of every rank of g along axis 0, in rank order; scalars
// give an array with one element for each rank. Shapes and types must agree. Bytes
// are kept as they are. Its gradient is this rank's slice of the cotangent.
func AllGather(x *array.Array, g *group.Group) *array.Array {
	return collective("all_gather", x, g, func(g *group.Group) array.Primitive { return gather{lane{g}} })
}

type gather struct{ lane }

func (gather) Name() string { return "all_gather" }

func (p gather) OutputSpecs(in []array.Spec) ([]array.Spec, error) {
	shape := slices.Clone(in[0].Shape)
	if len(shape) == 0 {
		shape = []int{1}
	}
	shape[0] *= p.g.Size()
	return []array.Spec{{Shape: shape, DType: in[0].DType}}, nil
}

func (p gather) Eval(ctx context.Context, in, out []array.View) error {
	return lent(p.g.AllGatherBytes(label(ctx, p, in[0].Spec), in[0].Bytes(), out[0].Bytes()))
}

func (p gather) VJP(in, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	if in[0].NDim() > 0 && in[0].Dim(0) == 0 {
		return dy, nil
	}
	mine := array.Split(dy[0], p.g.Size(), 0)[p.g.Rank()]
	return []*array.Array{mine.Reshape(in[0].Shape()...)}, nil
}

func (p gather) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dx[0]), nil
}

// VMap keeps the batch axis behind the axis that is gathered.
func (p gather) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	x := in[0].MoveAxis(axes[0], -1)
	if x.NDim() == 1 {
		x = x.ExpandDims(0)
	}
	return array.Apply(p, x), []int{x.NDim() - 1}, nil
}
