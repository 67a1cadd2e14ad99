package main

import (
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
)

// compiledStep is trainer.step of one process as a compiled function of
// parameters, the optimizer's state and inputs. Its results are the loss, the
// gradients, and the new parameters and state.
func compiledStep(t *testing.T, tr *trainer) transform.Func {
	params, state := nn.Parameters(tr.task.model), tr.state
	return transform.Compile(func(xs ...*array.Array) []*array.Array {
		p := params.With(xs[:len(params)])
		s := state.With(xs[len(params) : len(params)+len(state)])
		if err := nn.Update(tr.task.model, p); err != nil {
			t.Error(err)
		}
		loss, grads := nn.ValueAndGrad(tr.task.model, tr.loss)(xs[len(params)+len(state):]...)
		p, s, err := tr.opt.Update(p, grads, s)
		if err != nil {
			t.Error(err)
		}
		return slices.Concat([]*array.Array{loss}, grads.Arrays(), p.Arrays(), s.Arrays())
	})
}

func TestCompiledTrainingIsTraining(t *testing.T) {
	for _, model := range []string{"gpt", "mlp"} {
		t.Run(model, func(t *testing.T) {
			o := options{model: model, steps: 4, batch: 4, rate: 3e-3}
			plain, compiled := newTrial(t, o), newTrial(t, o)
			params, state := nn.Parameters(compiled.task.model), compiled.state
			step := compiledStep(t, compiled)
			for i := range o.steps {
				examples := compiled.order.batch(i, o.batch, 0, 1)
				_, wantGrads := nn.ValueAndGrad(plain.task.model, plain.loss)(plain.inputs(examples)...)
				want, err := plain.step(t.Context(), i)
				if err != nil {
					t.Fatal(err)
				}
				outs := step(slices.Concat(params.Arrays(), state.Arrays(), compiled.inputs(examples))...)
				if err := array.Eval(t.Context(), outs...); err != nil {
					t.Fatal(err)
				}
				got, err := array.Item[float32](t.Context(), outs[0])
				if err != nil || !within(float64(got), float64(want), float64(want)) {
					t.Errorf("step %d: loss %v compiled (%v), %v plain", i, got, err, want)
				}
				compareGradients(t, i, params.With(outs[1:1+len(params)]), wantGrads)
				params = params.With(outs[1+len(params) : 1+2*len(params)])
				state = state.With(outs[1+2*len(params):])
			}
		})
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

// compareGradients compares each gradient relative to its greatest element.
func compareGradients(t *testing.T, step int, got, want tree.Tree) {
	t.Helper()
	for k, leaf := range want {
		g, w := floats(t, got[k].Array), floats(t, leaf.Array)
		scale := 0.0
		for _, v := range w {
			scale = max(scale, math.Abs(float64(v)))
		}
		for i := range w {
			if !within(float64(g[i]), float64(w[i]), scale) {
				t.Errorf("step %d: gradient %d of %s is %v compiled, %v plain", step, i, leaf.Path, g[i], w[i])
				break
			}
		}
	}
}

func floats(t *testing.T, x *array.Array) []float32 {
	t.Helper()
	values, err := array.Values[float32](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
