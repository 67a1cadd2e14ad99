package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
)

// Parameters lists the arrays of a module in field order. Paths are MLX's: field
// names in snake case and indices, joined by dots, such as
// "layers.0.query_proj.weight". Fields that are nil, not exported, or tagged
// `nn:"-"` are left out; a tag `nn:"name"` gives another name. A module that is
// reachable twice is listed once, where it is met first. A nil module has none. An
// array that could not be replaced, because its struct is given or held in an
// interface by value and not by a pointer, is listed as one that carries this error.
func Parameters(module any) tree.Tree { return held(places(module, false)) }

// TrainableParameters lists the parameters that are not frozen, as Parameters does.
func TrainableParameters(module any) tree.Tree { return held(places(module, true)) }

// Update puts the arrays of params into the module, in place. The paths must be
// those of Parameters, or those of TrainableParameters, which leaves what is
// frozen as it is. Shapes and types must be those of the arrays that are there; on an
// error nothing is changed.
func Update(module any, params tree.Tree) error {
	into := places(module, false)
	old := held(into)
	if err := old.Same(params); err != nil {
		into = places(module, true)
		if old = held(into); old.Same(params) != nil {
			return fmt.Errorf("update: %w", err)
		}
	}
	for i, leaf := range params {
		if err := leaf.Array.Err(); err != nil {
			return fmt.Errorf("update: %s: %w", leaf.Path, err)
		}
		if have, want := leaf.Array.Spec(), old[i].Array.Spec(); !have.Equal(want) {
			return fmt.Errorf("update: %s is %v, want %v", leaf.Path, have, want)
		}
	}
	put(into, params.Arrays())
	return nil
}

// ValueAndGrad returns a function that computes loss, one floating-point number,
// and its gradients by every parameter of the module that is not frozen, as a tree
// like TrainableParameters'; integers get zeros. Integers that are no parameters
// belong in a field with `nn:"-"`. loss uses the module and the arrays that it is
// given, which are constants. While loss runs the module holds stand-ins for its
// parameters, so it must not be used from another goroutine meanwhile.
func ValueAndGrad(module any, loss func(xs ...*array.Array) *array.Array) func(xs ...*array.Array) (*array.Array, tree.Tree) {
	return valueAndGrad(module, loss, func(l tree.Leaf) *array.Array { return l.Array })
}

// ValueAndGradAs is ValueAndGrad for a loss that computes with the parameters rounded to
// another floating-point type, while the module keeps them in their own, which is that of the
// gradients too: mixed precision (Micikevicius et al. 2018). In float16 small gradients are lost
// unless loss multiplies its result by a large number, by which the gradients are then too large.
func ValueAndGradAs(module any, compute dtype.Type, loss func(xs ...*array.Array) *array.Array) func(xs ...*array.Array) (*array.Array, tree.Tree) {
	return valueAndGrad(module, loss, func(l tree.Leaf) *array.Array {
		switch {
		case !compute.IsFloat():
			return array.Fail("value_and_grad", fmt.Errorf("%v is no floating-point type to compute in", compute))
		case l.Array.DType().IsFloat():
			return l.Array.AsType(compute)
		}
		return l.Array
	})
}

// valueAndGrad has the module hold what stand makes of each parameter while loss runs.
func valueAndGrad(module any, loss func(xs ...*array.Array) *array.Array, stand func(tree.Leaf) *array.Array) func(xs ...*array.Array) (*array.Array, tree.Tree) {
	return func(xs ...*array.Array) (*array.Array, tree.Tree) {
		into := places(module, true)
		params := held(into)
		defer put(into, params.Arrays())
		value, _, grads := transform.ValueAndGradTree(func(t tree.Tree) (*array.Array, []*array.Array) {
			put(into, t.Map(stand).Arrays())
			return loss(xs...), nil
		})(params)
		return value, grads
	}
}

// places lists where a module holds its arrays, or those that are trainable.
func places(module any, trainable bool) []place {
	var all []place
	walk(module, walker{trainable: trainable, found: func(p place) { all = append(all, p) }})
	return all
}

// held lists the arrays at some places.
func held(at []place) tree.Tree {
	t := make(tree.Tree, len(at))
	for i, p := range at {
		t[i] = tree.Leaf{Path: p.path, Array: *p.at}
	}
	return t
}

// put sets the arrays at some places, without checks.
func put(at []place, xs []*array.Array) {
	for i, p := range at {
		*p.at = xs[i]
	}
}
