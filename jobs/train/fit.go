package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/optim"
)

// trainer is one rank's part of the job.
type trainer struct {
	options
	*task
	*layout
	order order
	opt   optim.Optimizer
	state tree.Tree
	scale scale
	rows  int64 // examples that this rank has consumed
	start group.Stats
	asked func() request // for a checkpoint; nil for never
	// average is how the ranks come to one gradient.
	average  func(grads tree.Tree, g *group.Group) tree.Tree
	compiled stepper
	// evaluation is the loss of parameters and inputs.
	evaluation transform.Func
}

func newTrainer(o options, t *task, l *layout) *trainer {
	opt := optim.AdamW{Rate: optim.Constant(o.rate)}
	tr := &trainer{
		options: o, task: t, layout: l,
		order:   order{seed: o.seed, examples: t.examples},
		opt:     opt,
		state:   opt.Init(nn.Parameters(t.model)),
		scale:   newScale(o.compute()),
		start:   l.stats(),
		average: o.averaging(),
	}
	tr.compiled, tr.evaluation = tr.compile(), tr.evaluator()
	return tr
}

// fit trains for the given number of steps and reports.
func fit(ctx context.Context, o options, t *task, l *layout, r *report) error {
	tr := newTrainer(o, t, l)
	loss := float32(math.NaN()) // as long as nothing is learnt
	var held *number
	tr.asked = r.asked
	first, err := tr.resume(ctx)
	if err != nil {
		return err
	}
	if first == o.steps {
		if err := r.complete(); err != nil {
			return err
		}
	}
	for step := first; step < o.steps; step++ {
		if loss, err = tr.step(ctx, step); err != nil {
			return err
		}
		if held, err = tr.evaluateWhenDue(ctx, step+1); err != nil {
			return err
		}
		if err = r.step(step+1, loss, held); err != nil {
			return err
		}
		if err = tr.saveWhenDue(ctx, step+1); err != nil {
			return errors.Join(err, r.draw())
		}
	}
	if err := r.draw(); err != nil {
		return err
	}
	end, err := tr.outcome(ctx)
	if err != nil {
		return err
	}
	end.Loss, end.Eval = number(loss), held
	if l.world.IsLeader() {
		if end.Sample, err = t.sample(ctx); err != nil {
			return err
		}
	}
	if err := r.done(end); err != nil {
		return err
	}
	if !end.RanksEqual {
		return errors.New("the parameters are not the same on all ranks")
	}
	return nil
}

// outcome compares the ranks' parameters, those of the whole model, and gathers what
// each rank has consumed.
func (t *trainer) outcome(ctx context.Context) (outcome, error) {
	stats := t.stats()
	full := nn.FullParameters(t.task.model)
	sum, err := hash(ctx, full)
	if err != nil {
		return outcome{}, err
	}
	if err := t.learnt(full); err != nil {
		return outcome{}, err
	}
	sums, err := group.AllGather(ctx, t.world, sum[:])
	if err != nil {
		return outcome{}, err
	}
	rows, err := group.AllGather(ctx, t.world, []int64{t.rows})
	if err != nil {
		return outcome{}, err
	}
	equal := true
	for other := range slices.Chunk(sums, len(sum)) {
		equal = equal && slices.Equal(other, sum[:])
	}
	return outcome{
		SHA256: hex(sum[:]), RanksEqual: equal, Rows: rows,
		Collectives: stats.Collectives - t.start.Collectives, BytesReduced: stats.BytesReduced - t.start.BytesReduced,
	}, nil
}

// hash is over all parameters as float32, in canonical order.
func hash(ctx context.Context, params tree.Tree) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, leaf := range params {
		data, err := array.Bytes(ctx, leaf.Array.AsType(dtype.Float32))
		if err != nil {
			return sum, err
		}
		h.Write(data)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
