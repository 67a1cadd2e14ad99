package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func TestCompiledTrainingIsTraining(t *testing.T) {
	for _, o := range []options{
		{model: "gpt"}, {model: "mlp"}, {model: "mlp", accumulate: 2}, {model: "mlp", dtype: "f16", accumulate: 4},
	} {
		t.Run(fmt.Sprintf("%s %s in %d", o.model, o.dtype, o.pieces()), func(t *testing.T) {
			o.steps, o.batch, o.rate = 4, 4, 3e-3
			plain, compiled := newTrial(t, o), newTrial(t, o)
			plain.compiled = stepper{update: plain.updateWith, add: plain.addTo, apply: plain.applySums}
			for i := range o.steps {
				want, err := plain.step(t.Context(), i)
				if err != nil {
					t.Fatal(err)
				}
				got, err := compiled.step(t.Context(), i)
				if err != nil || !within(float64(got), float64(want), float64(want)) {
					t.Errorf("step %d: loss %v compiled (%v), %v plain", i, got, err, want)
				}
				for k, x := range compiled.held() {
					compare(t, fmt.Sprintf("step %d: array %d", i, k), x, plain.held()[k])
				}
			}
		})
	}
}

// Old parameters are written over by new ones: whoever kept them cannot read them.
func TestAStepTakesTheStorageOfTheOneBefore(t *testing.T) {
	tr := newTrial(t, options{model: "mlp", steps: 2, batch: 4, rate: 3e-3})
	if _, err := tr.step(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	before := tr.held()
	if _, err := tr.step(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for k, x := range before[:4] {
		if _, err := array.Values[float32](t.Context(), x); err == nil {
			t.Errorf("parameter %d of before the step can be read", k)
		}
	}
}

func newTrial(t *testing.T, o options) *trainer {
	t.Helper()
	task, err := o.task()
	if err != nil {
		t.Fatal(err)
	}
	return newTrainer(o, task, dataParallel(group.Single()))
}

// within reports whether two numbers differ by less than a millionth of a scale.
func within(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-6*math.Abs(scale)
}

// compare compares an array relative to its greatest element.
func compare(t *testing.T, what string, got, want *array.Array) {
	t.Helper()
	g, w := floats(t, got), floats(t, want)
	scale := 0.0
	for _, v := range w {
		scale = max(scale, math.Abs(float64(v)))
	}
	for i := range w {
		if !(math.Abs(float64(g[i]-w[i])) <= 1e-5*scale) {
			t.Errorf("%s: element %d is %v compiled, %v plain", what, i, g[i], w[i])
			return
		}
	}
}

func floats(t *testing.T, x *array.Array) []float32 {
	t.Helper()
	values, err := array.Values[float32](t.Context(), x.AsType(dtype.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return values
}
