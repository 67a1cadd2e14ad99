package transform

import (
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// Checkpoint returns a function that does what f does but whose gradient
// computes the inside of f once more, from the arguments, instead of keeping it
// from the forward to the backward pass: less memory for more time. Gradients are
// those of f, also by arrays of an enclosing transform that f captures, such as
// parameters of a layer. Collectives inside f that depend on an argument run again
// in the backward pass, so that all ranks must checkpoint the same.
//
// Evaluating inside f is array.ErrTraced.
func Checkpoint(f Func) Func {
	return func(xs ...*array.Array) []*array.Array {
		t := record(f, xs)
		if t.mistake() != nil {
			return finished(t)
		}
		inside, captured := newTape(t).closed()
		return Custom(inside, Rules{Name: "checkpoint"})(append(slices.Clone(xs), captured...)...)
	}
}

// closed makes captured arrays of enclosing transforms arguments, which follow
// the others. It returns the function and these arrays.
func (t *tape) closed() (f Func, captured []*array.Array) {
	var numbers []int
	for i, x := range t.captured {
		if x.IsTraced() {
			numbers = append(numbers, i)
			captured = append(captured, x)
		}
	}
	return func(xs ...*array.Array) []*array.Array {
		again := *t
		again.captured = slices.Clone(t.captured)
		for i, number := range numbers {
			again.captured[number] = xs[t.arguments+i]
		}
		return again.run(xs[:t.arguments])
	}, captured
}
