package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/optim"
)

// The sizes of the two models, which src/torch_steps.py repeats.
const (
	mlpIn, mlpHidden, mlpClasses, mlpBatch     = 784, 512, 10, 128
	dims, layers, heads, length, batch, vocabs = 128, 4, 4, 128, 16, 96
)

// perceptron has two hidden layers.
type perceptron struct{ In, Hidden, Out nn.Module }

func (m *perceptron) Forward(x *array.Array) *array.Array {
	relu := func(x *array.Array) *array.Array { return x.MaximumScalar(0) }
	return m.Out.Forward(relu(m.Hidden.Forward(relu(m.In.Forward(x)))))
}

// trainer repeats the training step of a model on one batch.
type trainer struct {
	model  nn.Module
	opt    optim.Optimizer
	params tree.Tree
	state  tree.Tree
	batch  []*array.Array // inputs and targets
	args   []*array.Array // parameters, state and batch, as they are now
	update transform.Func // of args
}

// newTrainer makes a model with its batch: "mlp" or "transformer".
func newTrainer(name string, compiled bool) (*trainer, error) {
	key := random.NewKey(1)
	t := &trainer{opt: optim.AdamW{Rate: optim.Constant(1e-3), Decay: 0.01}}
	switch name {
	case "mlp":
		keys := key.Split(4)
		t.model = &perceptron{
			nn.NewLinear(keys[0], mlpIn, mlpHidden, true),
			nn.NewLinear(keys[1], mlpHidden, mlpHidden, true),
			nn.NewLinear(keys[2], mlpHidden, mlpClasses, true),
		}
		x := random.Uniform(keys[3], 0, 1, dtype.Float32, mlpBatch, mlpIn)
		t.batch = []*array.Array{x, numbers(mlpClasses, mlpBatch)}
	case "transformer":
		model, err := nn.NewLanguageModel(key, nn.LanguageModelConfig{Vocab: vocabs, Context: length, Dims: dims, Layers: layers, Heads: heads})
		if err != nil {
			return nil, err
		}
		t.model = model
		t.batch = []*array.Array{numbers(vocabs, batch, length), numbers(vocabs, batch, length)}
	default:
		return nil, fmt.Errorf("no model %q (have mlp, transformer)", name)
	}
	t.params = nn.Parameters(t.model)
	t.state = t.opt.Init(t.params)
	t.args = slices.Concat(t.params.Arrays(), t.state.Arrays(), t.batch)
	t.update = t.step
	if compiled {
		// What is written over needs no second room.
		t.update = transform.CompileDonating(t.step, len(t.args)-len(t.batch))
	}
	return t, t.evaluate(slices.Concat(t.params.Arrays(), t.batch))
}

// numbers are integers below n that look drawn.
func numbers(n int, shape ...int) *array.Array {
	values := make([]int32, array.Spec{Shape: shape}.Size())
	for i := range values {
		values[i] = int32(i * 7919 % 10007 % n)
	}
	return array.From(values, shape...)
}

// step is forward, backward and AdamW.
func (t *trainer) step(xs ...*array.Array) []*array.Array {
	n, m := len(t.params), len(t.params)+len(t.state)
	params, state, batch := t.params.With(xs[:n]), t.state.With(xs[n:m]), xs[m:]
	before := nn.Parameters(t.model)
	defer nn.Update(t.model, before)
	if err := nn.Update(t.model, params); err != nil {
		return []*array.Array{array.Fail("step", err)}
	}
	loss, grads := nn.ValueAndGrad(t.model, func(xs ...*array.Array) *array.Array {
		return nn.CrossEntropy(t.model.Forward(xs[0]), xs[1]).Mean()
	})(batch...)
	params, state, err := t.opt.Update(params, grads, state)
	if err != nil {
		return []*array.Array{array.Fail("step", err)}
	}
	return slices.Concat([]*array.Array{loss}, params.Arrays(), state.Arrays())
}

// run takes one step and returns the loss.
func (t *trainer) run() (float64, error) {
	ctx := context.Background()
	ys := t.update(t.args...)
	if err := array.Eval(ctx, ys...); err != nil {
		return 0, err
	}
	copy(t.args, ys[1:])
	loss, err := array.Item[float32](ctx, ys[0])
	return float64(loss), err
}

func (t *trainer) evaluate(xs []*array.Array) error { return array.Eval(context.Background(), xs...) }
