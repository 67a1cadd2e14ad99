package main

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/nn"
)

// task is a model together with what it learns.
type task struct {
	name     string            // what is learnt from what, for people
	digest   string            // of the data; the same on all ranks
	meta     map[string]string // what a checkpoint says of the model
	unit     string            // what is counted in rates, such as "tokens"
	units    int               // of these in one example
	examples int               // how many there are to learn
	heldBack []int             // numbers of those that are held back
	// model is what this rank trains, and whole what that is a part of: the same one
	// unless divide was called.
	model, whole nn.Module
	// shard returns this rank's part of whole.
	shard func(g *group.Group) (nn.Module, error)
	// inputs gathers the examples with the given numbers.
	inputs func(examples []int) []*array.Array
	// sample shows what the whole model has learnt, in a line or more. It runs on
	// one rank alone.
	sample func(ctx context.Context) (string, error)
}

// loss is the mean loss, float32, over inputs: what the model sees, and what it is to say. The model
// computes in a given type.
func (t *task) loss(compute dtype.Type, inputs ...*array.Array) *array.Array {
	seen := inputs[0]
	if seen.DType().IsFloat() {
		seen = seen.AsType(compute)
	}
	return nn.CrossEntropy(t.model.Forward(seen).AsType(dtype.Float32), inputs[1]).Mean()
}

// divide leaves this rank its part of the model.
func (t *task) divide(g *group.Group) error {
	if g.Size() == 1 {
		return nil
	}
	part, err := t.shard(g)
	if err != nil {
		return program.WrongUse(fmt.Errorf("-tp is %d, which the model does not divide into: %w", g.Size(), err))
	}
	t.model = part
	return nil
}

// learnt puts the parameters of all ranks' parts into the whole model.
func (t *task) learnt(full tree.Tree) error {
	if t.model == t.whole {
		return nil
	}
	return nn.Update(t.whole, full)
}
