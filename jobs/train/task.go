package main

import (
	"context"

	"github.com/lockstep-go/lockstep/array"
)

// task is a model together with what it learns.
type task struct {
	name     string // what is learnt from what, for people
	digest   string // of the data; the same on all ranks
	unit     string // what is counted in rates, such as "tokens"
	units    int    // of these in one example
	examples int    // how many there are
	model    any    // its parameters are found by nn.Parameters
	// inputs gathers the examples with the given numbers.
	inputs func(examples []int) []*array.Array
	// loss is the mean loss over such inputs.
	loss func(inputs ...*array.Array) *array.Array
	// sample shows what the model has learnt, in a line or more. It runs on one
	// rank alone.
	sample func(ctx context.Context) (string, error)
}
