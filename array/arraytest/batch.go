package arraytest

import (
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
)

// examples is the size of the batches.
const examples = 3

// checkBatching compares vmap with a loop: over each axis of each argument with
// the others as they are, and over all arguments at once.
func (f function) checkBatching(t tester) {
	axes := make([]int, len(f.at))
	for arg, x := range f.at {
		for axis := range x.NDim() + 1 {
			for i := range axes {
				axes[i] = -1
			}
			axes[arg] = axis
			f.checkBatch(t, axes, 0)
		}
	}
	for i, x := range f.at {
		axes[i] = (i + 1) % (x.NDim() + 1)
	}
	f.checkBatch(t, axes, -1)
}

// checkBatch batches the arguments whose axis is not -1.
func (f function) checkBatch(t tester, axes []int, outAxis int) {
	t.Helper()
	batched := slices.Clone(f.at)
	loop := make([][]*array.Array, examples)
	for e := range loop {
		loop[e] = slices.Clone(f.at)
	}
	for i, axis := range axes {
		if axis < 0 {
			continue
		}
		var all []float64
		values := elements(t, f.at[i])
		for e := range loop {
			example := turned(values, e, f.at[i])
			loop[e][i] = shaped(example, f.at[i].Spec())
			all = append(all, example...)
		}
		s := f.at[i].Spec()
		s.Shape = slices.Insert(s.Shape, 0, examples)
		batched[i] = shaped(all, s).MoveAxis(0, axis)
	}
	outs := transform.VMap(f.f, axes, []int{outAxis})(batched...)
	for k, got := range outs {
		var want []float64
		for e := range loop {
			want = append(want, elements(t, f.f(loop[e]...)[k])...)
		}
		tolerance := 1e-10
		if f.isComplex() {
			tolerance = 1e-4
		}
		compare(t, fmt.Sprintf("result %d batched over axes %v", k, axes), elements(t, got.MoveAxis(outAxis, 0)), want, tolerance)
	}
}

// turned is the elements begun at the e-th, so that no value is outside of what
// the case has chosen.
func turned(values []float64, e int, x *array.Array) []float64 {
	if len(values) == 0 {
		return values
	}
	e = e * numbersOf(x) % len(values)
	return slices.Concat(values[e:], values[:e])
}
