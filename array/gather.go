package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Gather picks elements of x by one array of indices for each of the given axes:
// out[k …] = x[indices[0][k], indices[1][k] …]. The indices broadcast to one
// shape, which is followed in the result by the axes of x that are not given, in
// their order. Indices and gradient are as for Take.
func Gather(x *Array, indices []*Array, axes []int) *Array {
	g, bad := newGathering("gather", x, indices, axes)
	if bad != nil {
		return bad
	}
	return g.flat(x).Take(g.linear, 0)
}

// ScatterAt returns x with the elements that Gather would pick replaced by
// updates, which has, or broadcasts to, the shape of what Gather gives. Where
// several indices are the same, the last update counts.
func ScatterAt(x *Array, indices []*Array, updates *Array, axes []int) *Array {
	g, bad := newGathering("scatter", x, indices, axes)
	if bad != nil {
		return bad
	}
	return g.unflat(x, g.flat(x).Scatter(g.linear, updates, 0))
}

// ScatterAddAt is ScatterAt with updates added, all of them where several indices
// are the same.
func ScatterAddAt(x *Array, indices []*Array, updates *Array, axes []int) *Array {
	g, bad := newGathering("scatter_add", x, indices, axes)
	if bad != nil {
		return bad
	}
	return g.unflat(x, g.flat(x).ScatterAdd(g.linear, updates, 0))
}

// gathering treats several axes as one: they come first, in the given order, and
// are joined.
type gathering struct {
	order  []int
	joined int
	linear *Array
}

// newGathering returns, instead of an error, an array that carries it.
func newGathering(op string, x *Array, indices []*Array, axes []int) (g gathering, bad *Array) {
	if x.Err() != nil {
		return g, x
	}
	if len(indices) != len(axes) || len(axes) == 0 {
		return g, x.fail(op, fmt.Errorf("%d arrays of indices for %d axes", len(indices), len(axes)))
	}
	sorted, err := sortedAxes(axes, x.NDim())
	if err != nil {
		return g, x.fail(op, fmt.Errorf("%v: %w", x.spec(), err))
	}
	front := make([]int, len(axes))
	lengths := make([]int, len(axes))
	for i, axis := range axes {
		front[i] = x.fromFront(axis)
		lengths[i] = x.Dim(axis)
	}
	g.order = append(front, others(sorted, x.NDim())...)
	g.joined = len(axes)
	g.linear = Apply1(ravel{lengths: lengths}, sameShape(indices...)...)
	if g.linear.Err() != nil {
		return g, g.linear
	}
	return g, nil
}

func (g gathering) flat(x *Array) *Array {
	moved := x.Transpose(g.order...)
	n := Spec{Shape: moved.Shape()[:g.joined]}.Size()
	return moved.Reshape(append([]int{n}, moved.Shape()[g.joined:]...)...)
}

func (g gathering) unflat(x, y *Array) *Array {
	return y.Reshape(x.Transpose(g.order...).Shape()...).Transpose(inverse(g.order)...)
}

// ravel makes one index into joined axes of the given lengths from one index into
// each.
type ravel struct {
	NoRules
	lengths []int
}

func (ravel) Name() string { return "indices" }

// Equal reports whether o joins axes of the same lengths.
func (p ravel) Equal(o Primitive) bool {
	q, ok := o.(ravel)
	return ok && slices.Equal(p.lengths, q.lengths)
}

func (ravel) OutputSpecs(in []Spec) ([]Spec, error) {
	for _, s := range in {
		if err := checkIndices(s); err != nil {
			return nil, err
		}
	}
	return []Spec{{in[0].Shape, dtype.Int64}}, checkAlike(in)
}

// ChecksValues tells that an index may be out of range.
func (ravel) ChecksValues() {}

func (p ravel) Eval(_ context.Context, in, out []View) error {
	y := Elements[int64](out[0])
	clear(y)
	for i, x := range in {
		err := kernel.Indices(x.DType, x.Bytes(), p.lengths[i], func(at []int) {
			for k, v := range at {
				y[k] = y[k]*int64(p.lengths[i]) + int64(v)
			}
		})
		if err != nil {
			return fmt.Errorf("number %d: %w", i, err)
		}
	}
	return nil
}

func (p ravel) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	xs, _ := batchAll(in, axes)
	return Apply(p, xs...), []int{0}, nil
}
