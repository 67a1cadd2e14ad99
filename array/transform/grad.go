package transform

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

// Grad returns the derivative of a function of one array whose result is one
// number. It can be applied again for higher derivatives of such functions.
func Grad(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
	both := ValueAndGrad(func(xs ...*array.Array) *array.Array { return f(xs[0]) })
	return func(x *array.Array) *array.Array {
		_, grads := both(x)
		return grads[0]
	}
}

// ValueAndGrad returns a function that computes f, whose result is one number
// of a floating-point type, and its gradients by the arguments with the given
// numbers, in that order; by the first argument if none are given. Gradients
// have the shape and type of their argument; another number than those of the call,
// one given twice, and an argument of integers are errors. The other arguments are
// constants.
func ValueAndGrad(f func(xs ...*array.Array) *array.Array, argnums ...int) func(xs ...*array.Array) (*array.Array, []*array.Array) {
	if len(argnums) == 0 {
		argnums = []int{0}
	}
	return func(xs ...*array.Array) (*array.Array, []*array.Array) {
		if err := checkArguments(argnums, xs); err != nil {
			bad := array.Fail("value_and_grad", err)
			return bad, all(bad, len(argnums))
		}
		wanted := make([]*array.Array, len(argnums))
		for i, arg := range argnums {
			wanted[i] = xs[arg]
		}
		outs, grads := gradients(func(standIns ...*array.Array) []*array.Array {
			args := append([]*array.Array(nil), xs...)
			for i, arg := range argnums {
				args[arg] = standIns[i]
			}
			return []*array.Array{f(args...)}
		}, wanted)
		return outs[0], grads
	}
}

// ValueAndGradTree is ValueAndGrad for a function of a tree, by all of its
// leaves: the gradients come as a tree with the same paths, zeros for leaves of
// integers. Further results of f are passed on as they are and do not take part in
// the derivative.
func ValueAndGradTree(f func(t tree.Tree) (loss *array.Array, aux []*array.Array)) func(t tree.Tree) (loss *array.Array, aux []*array.Array, grads tree.Tree) {
	return func(t tree.Tree) (*array.Array, []*array.Array, tree.Tree) {
		outs, grads := gradients(func(xs ...*array.Array) []*array.Array {
			loss, aux := f(t.With(xs))
			return append([]*array.Array{loss}, aux...)
		}, t.Arrays())
		return outs[0], outs[1:], t.With(grads)
	}
}

// ValueAndGradOf is ValueAndGrad for a function of a struct, map or slice that
// holds arrays, or of anything else that tree.Flatten takes, by all of these
// arrays: the gradients come in a value of the same form. The error is Flatten's.
func ValueAndGradOf[P any](f func(params P) *array.Array) func(params P) (loss *array.Array, grads P, err error) {
	return func(params P) (loss *array.Array, grads P, err error) {
		t, err := tree.Flatten(params)
		if err != nil {
			return nil, grads, err
		}
		outs, dt := gradients(func(xs ...*array.Array) []*array.Array {
			standIns, _ := tree.Like(params, t.With(xs))
			return []*array.Array{f(standIns)}
		}, t.Arrays())
		grads, err = tree.Like(params, t.With(dt))
		return outs[0], grads, err
	}
}

// gradients derives the first result of f, which must be one number.
func gradients(f Func, xs []*array.Array) (outs, grads []*array.Array) {
	t := record(f, xs)
	t.trace.Finish(t.outs...)
	if bad := t.mistake(); bad != nil {
		return t.outs, all(bad, len(xs))
	}
	loss := t.outs[0]
	if loss.Size() != 1 || !loss.DType().IsFloat() {
		err := fmt.Errorf("the function returned %v; a gradient needs one floating-point number", loss.Spec())
		t.outs[0] = loss.WithError(array.Fail("grad", err).Err())
		return t.outs, all(t.outs[0], len(xs))
	}
	one := array.Ones(loss.DType(), loss.Shape()...)
	lossOnly := &traced{standIns: t.standIns, outs: t.outs[:1]}
	return t.outs, lossOnly.backward(tied([]*array.Array{one}, xs))
}

func checkArguments(argnums []int, xs []*array.Array) error {
	seen := map[int]bool{}
	for _, arg := range argnums {
		if arg < 0 || arg >= len(xs) {
			return fmt.Errorf("argument number %d of a call with %d arguments", arg, len(xs))
		}
		if seen[arg] {
			return fmt.Errorf("argument number %d is given twice", arg)
		}
		seen[arg] = true
		if x := xs[arg]; x.Err() == nil && !x.DType().IsInexact() {
			return fmt.Errorf("argument %d is %v; only floating-point and complex arrays have gradients", arg, x.Spec())
		}
	}
	return nil
}
