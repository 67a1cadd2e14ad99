// Package optim updates parameters from gradients. Optimizers are pure
// functions of trees: they change nothing in place, and everything they return is
// lazy.
//
//	opt := optim.AdamW{Rate: optim.Constant(3e-3)}
//	state := opt.Init(params)
//	params, state, err = opt.Update(params, grads, state)
//	err = array.Eval(ctx, append(params.Arrays(), state.Arrays()...)...)
//
// Every rank that holds the same parameters and is given the same gradients ends
// with the same bits.
package optim

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
)

// Optimizer turns gradients into new parameters.
type Optimizer interface {
	// Init returns the state before the first step. It holds the number of steps
	// taken at the path "step", and what the optimizer remembers of each parameter.
	Init(params tree.Tree) tree.Tree
	// Update takes one step. Parameters and gradients have the same paths, shapes
	// and types, which must be inexact. A mistake among them, or one that a gradient
	// carries, is returned, and then parameters and state are the old ones, still
	// usable.
	Update(params, grads, state tree.Tree) (newParams, newState tree.Tree, err error)
}

// Rate is the learning rate at a step, counted from 0: a function of a lazy
// float32 scalar.
type Rate func(step *array.Array) *array.Array

// Constant is the same rate at every step.
func Constant(rate float64) Rate {
	return func(*array.Array) *array.Array { return array.Scalar(float32(rate)) }
}

// stepPath is where the state keeps the number of steps taken, an int64.
const stepPath = "step"

// initial returns a state with a zero step and, for every parameter, zeros under
// each of the given names, such as "m.layers.0.weight".
func initial(params tree.Tree, names ...string) tree.Tree {
	state := tree.Tree{{Path: stepPath, Array: array.Scalar(int64(0))}}
	for _, name := range names {
		for _, leaf := range params {
			state = append(state, tree.Leaf{Path: name + "." + leaf.Path, Array: array.ZerosLike(leaf.Array)})
		}
	}
	return state
}

// check compares what Update is given and returns the first mistake. slots is how
// many arrays the state keeps for each parameter.
func check(name string, rate Rate, params, grads, state tree.Tree, slots int) error {
	if rate == nil {
		return fmt.Errorf("%s: Rate is nil; optim.Constant makes one of a number", name)
	}
	if err := params.Same(grads); err != nil {
		return fmt.Errorf("%s: parameters and gradients: %w", name, err)
	}
	if len(state) != 1+slots*len(params) || state[0].Path != stepPath {
		return fmt.Errorf("%s: the state has %d leaves, want %d from Init", name, len(state), 1+slots*len(params))
	}
	if err := grads.Err(); err != nil {
		return fmt.Errorf("%s: gradient of %w", name, err)
	}
	for i, leaf := range params {
		have, want := grads[i].Array.Spec(), leaf.Array.Spec()
		if leaf.Array.Err() == nil && !want.DType.IsInexact() {
			return fmt.Errorf("%s: %s is %v, which cannot be trained", name, leaf.Path, want)
		}
		if !have.Equal(want) {
			return fmt.Errorf("%s: gradient of %s is %v, want %v", name, leaf.Path, have, want)
		}
	}
	return nil
}

// begin returns the state's arrays for a new step, and the numbers of the step
// as float32 scalars: the one that the rate is asked for, and one more.
func begin(state tree.Tree) (next []*array.Array, step, count *array.Array) {
	next = state.Arrays()
	step = next[0].AsType(dtype.Float32)
	next[0] = next[0].Add(array.Scalar(int64(1)))
	return next, step, step.AddScalar(1)
}

// in casts a scalar to the type of x, so that it does not widen it.
func in(scalar, x *array.Array) *array.Array { return scalar.AsType(x.DType()) }
