package arraytest

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
)

// function is something to derive, at a point.
type function struct {
	f  transform.Func
	at []*array.Array
}

// smooth lists the arguments that have derivatives.
func (f function) smooth() []int {
	var args []int
	for i, x := range f.at {
		if x.DType().IsInexact() {
			args = append(args, i)
		}
	}
	return args
}

// differentiable reports whether some argument and some result can have a
// derivative.
func (f function) differentiable() bool {
	inexact := func(x *array.Array) bool { return x.DType().IsInexact() }
	return slices.ContainsFunc(f.at, inexact) && slices.ContainsFunc(f.f(f.at...), inexact)
}

// cotangents are the weights of the results in the number that is derived.
func (f function) cotangents() (arrays []*array.Array, numbers [][]float64) {
	for i, y := range f.f(f.at...) {
		w := weights(y.Spec(), float64(i+1))
		if !y.DType().IsInexact() {
			clear(w)
		}
		arrays = append(arrays, shaped(w, y.Spec()))
		numbers = append(numbers, w)
	}
	return arrays, numbers
}

// pullback is the vjp by the smooth arguments, as a function of all of them.
func (f function) pullback() function {
	dy, _ := f.cotangents()
	args := f.smooth()
	return function{func(xs ...*array.Array) []*array.Array {
		_, all := transform.VJP(f.f, xs, dy)
		grads := make([]*array.Array, len(args))
		for i, arg := range args {
			grads[i] = all[arg]
		}
		return grads
	}, f.at}
}

// checkGradient compares the vjp with central differences.
func (f function) checkGradient(t tester) {
	grads := elementsOf(t, f.pullback().f(f.at...)...)
	_, w := f.cotangents()
	for i, arg := range f.smooth() {
		tolerance := 1e-6
		if f.isComplex() {
			tolerance = 5e-3
		}
		compare(t, fmt.Sprintf("by argument %d", arg), grads[i], f.differences(t, arg, w), tolerance)
	}
}

// isComplex reports whether float32 limits the precision.
func (f function) isComplex() bool {
	complexType := func(x *array.Array) bool { return x.DType().IsComplex() }
	return slices.ContainsFunc(f.at, complexType) || slices.ContainsFunc(f.f(f.at...), complexType)
}

// differences measures the derivative of the weighted sum of the results by
// every number of an argument.
func (f function) differences(t tester, arg int, w [][]float64) []float64 {
	values := elements(t, f.at[arg])
	steps := make([]float64, len(values))
	var moved []*array.Array
	for i, v := range values {
		steps[i] = f.step(v)
		moved = append(moved, f.movedTo(arg, values, i, v+steps[i])...)
		moved = append(moved, f.movedTo(arg, values, i, v-steps[i])...)
	}
	results := elementsOf(t, moved...)
	slopes := make([]float64, len(values))
	for i := range slopes {
		for _, wk := range w {
			slopes[i] += dot(wk, results[0])
			results = results[1:]
		}
		for _, wk := range w {
			slopes[i] -= dot(wk, results[0])
			results = results[1:]
		}
		slopes[i] /= 2 * steps[i]
	}
	return slopes
}

// step balances the rounding of the results against the curvature.
func (f function) step(at float64) float64 {
	if f.isComplex() {
		return 1.0 / 64
	}
	return 1e-5 * max(1, math.Abs(at))
}

// movedTo is the results with one number of an argument replaced.
func (f function) movedTo(arg int, values []float64, i int, v float64) []*array.Array {
	other := slices.Clone(values)
	other[i] = v
	at := slices.Clone(f.at)
	at[arg] = shaped(other, f.at[arg].Spec())
	return f.f(at...)
}

// checkTangent compares the jvp along one direction with the vjp along it.
func (f function) checkTangent(t tester) {
	tangents := make([]*array.Array, len(f.at))
	directions := make([][]float64, len(f.at))
	for i, x := range f.at {
		directions[i] = weights(x.Spec(), float64(10+i))
		if !x.DType().IsInexact() {
			clear(directions[i])
		}
		tangents[i] = shaped(directions[i], x.Spec())
	}
	outs, pushed := transform.JVP(f.f, f.at, tangents)
	_, w := f.cotangents()
	got, size := 0.0, 1.0
	for i, d := range elementsOf(t, pushed...) {
		if outs[i].DType().IsInexact() {
			got += dot(w[i], d)
			size += math.Abs(dot(w[i], d))
		}
	}
	want := 0.0
	grads := elementsOf(t, f.pullback().f(f.at...)...)
	for i, arg := range f.smooth() {
		want += dot(grads[i], directions[arg])
		size += math.Abs(dot(grads[i], directions[arg]))
	}
	tolerance := 1e-9 * size
	if f.isComplex() {
		tolerance = 1e-4 * size
	}
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("along one direction: jvp gives %v, vjp %v", got, want)
	}
}
