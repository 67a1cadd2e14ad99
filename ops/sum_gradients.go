package ops

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

// SumGradients returns x as it is; its gradient is summed over the ranks of g. It
// stands before work that each rank does on its own part of a replicated value.
func SumGradients(x *array.Array, g *group.Group) *array.Array {
	g, local, err := use(g)
	switch {
	case err != nil:
		return array.Fail("sum_gradients", err)
	case local:
		return x
	}
	return array.Apply1(sumGradients{g: g}, x)
}

type sumGradients struct{ g *group.Group }

func (sumGradients) Name() string { return "sum_gradients" }

func (sumGradients) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }

func (sumGradients) View(in array.View, _ array.Spec) (array.View, bool) { return in, true }

// Eval is never called: the output shares the input's storage.
func (sumGradients) Eval(context.Context, []array.View, []array.View) error {
	return fmt.Errorf("is a view")
}

func (p sumGradients) VJP(_, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{AllSum(dy[0], p.g)}, nil
}

// JVP passes the tangent on as it does the value.
func (p sumGradients) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return array.Apply(p, dx[0]), nil
}

func (p sumGradients) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in[0]), axes, nil
}
