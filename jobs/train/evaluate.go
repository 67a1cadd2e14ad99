package main

import (
	"context"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
)

// Of an evaluation: how many of the examples that are held back it takes at most, and how many
// of them a rank takes at once.
const (
	evalExamples = 256
	evalBatch    = 32
)

// evaluated are the examples of every evaluation: all that are held back, or some at even distances.
func (t *task) evaluated() []int {
	n := min(evalExamples, len(t.heldBack))
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = t.heldBack[i*len(t.heldBack)/n]
	}
	return chosen
}

// evaluator is the loss of a batch as a compiled function of parameters and inputs.
func (t *trainer) evaluator() transform.Func {
	return transform.Compile(func(xs ...*array.Array) []*array.Array {
		before := nn.Parameters(t.task.model)
		defer nn.Update(t.task.model, before)
		if err := nn.Update(t.task.model, before.With(xs[:len(before)])); err != nil {
			return []*array.Array{array.Fail("evaluate", err)}
		}
		return []*array.Array{t.loss(dtype.Float32, xs[len(before):]...)}
	})
}

// evaluate is the mean loss of what is held back. The replicas divide the examples, each of which
// counts once, on any number of ranks.
func (t *trainer) evaluate(ctx context.Context) (float32, error) {
	all := t.evaluated()
	first, last := t.replicas.Rank()*len(all)/t.replicas.Size(), (t.replicas.Rank()+1)*len(all)/t.replicas.Size()
	params := nn.Parameters(t.task.model).Arrays()
	sum := []float64{0}
	for part := range slices.Chunk(all[first:last], evalBatch) {
		loss, err := array.Item[float32](ctx, t.evaluation(slices.Concat(params, t.inputs(part))...)[0])
		if err != nil {
			return 0, err
		}
		sum[0] += float64(loss) * float64(len(part))
	}
	err := group.AllReduce(ctx, t.replicas, group.Sum, sum)
	return float32(sum[0] / float64(len(all))), err
}

// evaluateWhenDue evaluates after so many steps if it is time to; nil if not.
func (t *trainer) evaluateWhenDue(ctx context.Context, done int) (*number, error) {
	if t.evalEvery == 0 || done%t.evalEvery != 0 && done != t.steps {
		return nil, nil
	}
	loss, err := t.evaluate(ctx)
	n := number(loss)
	return &n, err
}
