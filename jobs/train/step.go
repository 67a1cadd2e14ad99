package main

import (
	"context"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/ops"
)

// stepper is a training step as compiled functions, which write new parameters over the old
// ones. What it gives back is what its next call takes.
type stepper struct {
	// update is a whole step: of what the trainer holds and a batch.
	update transform.Func
	// With -accumulate, add adds the loss and the gradients of a part of the batch to sums, and
	// apply takes the step with them: of sums, what the trainer holds and a part of the batch, and of
	// what it holds and sums.
	add, apply transform.Func
}

func (t *trainer) compile() stepper {
	params, held := len(nn.Parameters(t.task.model)), len(t.held())
	return stepper{
		update: transform.CompileDonating(t.updateWith, held),
		add:    transform.CompileDonating(t.addTo, 1+params),
		apply:  transform.CompileDonating(t.applySums, held+1+params),
	}
}

// step takes one optimizer step and returns the mean loss of the whole batch.
func (t *trainer) step(ctx context.Context, step int) (float32, error) {
	examples := t.order.batch(step, t.options.batch, t.replicas.Rank(), t.replicas.Size())
	outs, err := t.run(ctx, examples)
	if err != nil {
		return 0, err
	}
	if err := array.Eval(ctx, outs...); err != nil {
		return 0, err
	}
	t.rows += int64(len(examples))
	if err := t.hold(outs[1:]); err != nil {
		return 0, err
	}
	return array.Item[float32](ctx, outs[0])
}

// run gives the batch to the compiled functions, in as many parts as -accumulate says, and returns
// the loss and what the trainer will hold.
func (t *trainer) run(ctx context.Context, examples []int) ([]*array.Array, error) {
	if t.pieces() == 1 {
		return t.compiled.update(slices.Concat(t.held(), t.inputs(examples))...), nil
	}
	sums := []*array.Array{array.Scalar(float32(0))}
	for _, leaf := range nn.Parameters(t.task.model) {
		sums = append(sums, array.ZerosLike(leaf.Array))
	}
	for part := range slices.Chunk(examples, len(examples)/t.pieces()) {
		sums = t.compiled.add(slices.Concat(sums, t.held(), t.inputs(part))...)
		if err := array.Eval(ctx, sums...); err != nil { // or all parts would be in memory at once
			return nil, err
		}
	}
	return t.compiled.apply(slices.Concat(t.held(), sums)...), nil
}

// held is what a step takes and gives back: parameters, the optimizer's state and the scale of
// the loss.
func (t *trainer) held() []*array.Array {
	return slices.Concat(nn.Parameters(t.task.model).Arrays(), t.state.Arrays(), t.scale.arrays())
}

// hold keeps what a step gives back.
func (t *trainer) hold(xs []*array.Array) error {
	params, state, scale := t.cut(xs)
	t.state, t.scale = state, scale
	return nn.Update(t.task.model, params)
}

func (t *trainer) cut(xs []*array.Array) (params, state tree.Tree, s scale) {
	params = nn.Parameters(t.task.model)
	n, m := len(params), len(params)+len(t.state)
	return params.With(xs[:n]), t.state.With(xs[n:m]), scaleOf(xs[m:])
}

func (t *trainer) updateWith(xs ...*array.Array) []*array.Array {
	n := len(t.held())
	loss, grads := t.gradients(xs[:n], xs[n:])
	return t.descend(xs[:n], loss, grads)
}

func (t *trainer) addTo(xs ...*array.Array) []*array.Array {
	n := 1 + len(nn.Parameters(t.task.model))
	m := n + len(t.held())
	loss, grads := t.gradients(xs[n:m], xs[m:])
	sums := []*array.Array{xs[0].Add(loss)}
	for i, leaf := range grads {
		sums = append(sums, xs[1+i].Add(leaf.Array))
	}
	return sums
}

func (t *trainer) applySums(xs ...*array.Array) []*array.Array {
	held, sums := xs[:len(t.held())], xs[len(t.held()):]
	pieces := float64(t.pieces())
	grads := nn.Parameters(t.task.model).With(sums[1:]).Map(func(l tree.Leaf) *array.Array { return l.Array.DivScalar(pieces) })
	return t.descend(held, sums[0].DivScalar(pieces), grads)
}

// gradients are those of this rank's inputs with given parameters, too large by the scale, and the
// loss, which is not.
func (t *trainer) gradients(held, inputs []*array.Array) (*array.Array, tree.Tree) {
	params, _, s := t.cut(held)
	before := nn.Parameters(t.task.model)
	defer nn.Update(t.task.model, before)
	if err := nn.Update(t.task.model, params); err != nil {
		bad := array.Fail("step", err)
		return bad, params.Map(func(tree.Leaf) *array.Array { return bad })
	}
	loss, grads := nn.ValueAndGradAs(t.task.model, t.compute(), func(xs ...*array.Array) *array.Array {
		return s.up(t.loss(t.compute(), xs...))
	})(inputs...)
	return s.down(loss), grads
}

// descend averages over the ranks and has the optimizer take its step. The loss comes first in
// what it returns.
func (t *trainer) descend(held []*array.Array, loss *array.Array, grads tree.Tree) []*array.Array {
	params, state, s := t.cut(held)
	grads = t.average(grads, t.replicas)
	loss = ops.AllMean(loss, t.replicas)
	newParams, newState, err := t.opt.Update(params, grads.Map(func(l tree.Leaf) *array.Array { return s.down(l.Array) }), state)
	if err != nil {
		return []*array.Array{array.Fail("step", err)}
	}
	next := slices.Concat(newParams.Arrays(), newState.Arrays())
	return slices.Concat([]*array.Array{loss}, s.accept(grads, t.shards, held[:len(next)], next))
}
