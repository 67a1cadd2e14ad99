package nn

import (
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// ClipGradNorm scales gradients so that their norm, that of all elements of all leaves
// together, is at most max: each leaf is multiplied by max/(norm+1e-6), or by 1 if that
// is more. It returns the norm before as well, a float32. Types and paths stay. An empty tree
// has norm 0. A NaN makes the norm and all gradients NaN. Gradients that are not of a
// floating-point type are errors.
func ClipGradNorm(grads tree.Tree, max float64) (clipped tree.Tree, norm *array.Array) {
	return clip(grads, max, sumOfSquares(grads))
}

// ClipGradNormSharded is ClipGradNorm where every leaf is this rank's shard of a
// gradient that is divided over the ranks of g, nil meaning the default group: the norm
// is that of the whole gradients, the same bits on every rank, and takes one AllSum of
// a number. A leaf that all ranks hold whole would count as often as there are ranks:
// ClipGradNormOf tells them apart.
func ClipGradNormSharded(grads tree.Tree, max float64, g *group.Group) (clipped tree.Tree, norm *array.Array) {
	return clip(grads, max, ops.AllSum(sumOfSquares(grads), g))
}

// ClipGradNormOf is ClipGradNorm for the gradients of a module, as ValueAndGrad gives
// them, with parameters that are divided over ranks and others that are whole: each
// counts once in the norm. It takes one AllSum of a number for every group that
// something is divided over; the ranks of these groups call it alike.
func ClipGradNormOf(module any, grads tree.Tree, max float64) (clipped tree.Tree, norm *array.Array) {
	at := places(module, true)
	if err := held(at).Same(grads); err != nil {
		bad := array.Fail("clip_grad_norm", fmt.Errorf("parameters and gradients: %w", err))
		return grads.Map(func(tree.Leaf) *array.Array { return bad }), bad
	}
	var whole tree.Tree
	var groups []*group.Group // in the order of parameters, the same on all ranks
	divided := map[*group.Group]tree.Tree{}
	for i, p := range at {
		d, ok := p.base().division(p.below)
		if !ok {
			whole = append(whole, grads[i])
			continue
		}
		if divided[d.g] == nil {
			groups = append(groups, d.g)
		}
		divided[d.g] = append(divided[d.g], grads[i])
	}
	total := sumOfSquares(whole)
	for _, g := range groups {
		total = total.Add(ops.AllSum(sumOfSquares(divided[g]), g))
	}
	return clip(grads, max, total)
}

// sumOfSquares is over all elements of all leaves, a float32.
func sumOfSquares(grads tree.Tree) *array.Array {
	total := array.Scalar(float32(0))
	for _, leaf := range grads {
		x := leaf.Array
		if x.Err() == nil && !x.DType().IsFloat() {
			return array.Fail("clip_grad_norm", fmt.Errorf("%s is %v, which has no norm", leaf.Path, x.Spec()))
		}
		total = total.Add(x.AsType(dtype.Float32).Square().Sum())
	}
	return total
}

func clip(grads tree.Tree, max float64, squares *array.Array) (tree.Tree, *array.Array) {
	if !(max > 0) {
		squares = array.Fail("clip_grad_norm", errors.New("the greatest norm must be above 0"))
	}
	norm := squares.Sqrt()
	scale := array.Scalar(float32(max)).Div(norm.AddScalar(1e-6)).Minimum(array.Scalar(float32(1)))
	return grads.Map(func(l tree.Leaf) *array.Array { return l.Array.Mul(scale.AsType(l.Array.DType())) }), norm
}
