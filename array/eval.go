package array

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/internal/kernel"
)

// ErrTraced is wrapped by the error of evaluating an array inside a function
// that is being transformed, where it has no value yet.
var ErrTraced = errors.New("evaluated inside a function that is being transformed; return it instead")

// Eval computes the given arrays and everything that they need, each node once,
// and returns when all are there. Nodes of a lane (collectives, sends, receives)
// run in the background as soon as their inputs are ready and their turn has
// come; other nodes run meanwhile in a deterministic order.
//
// A mistake carried by any array of the graph is returned before anything runs,
// and the first failure ends the evaluation. Either way the lanes whose nodes can
// now not run are abandoned, so that peers get the reason instead of waiting.
// Nodes already computed keep their values; a collective that failed is not
// tried again. The end of ctx ends the evaluation with its cause.
//
// Eval holds no lock and no worker while it waits for a peer. Two evaluations
// may share nodes: each node is run by one of them. Evaluations that are under way at
// once, from several goroutines or begun by AsyncEval, take turns on a lane: one that
// began later runs its nodes of the lane when the earlier one has run all of its own.
func Eval(ctx context.Context, xs ...*Array) error {
	run, err := begin(ctx, xs)
	if err != nil {
		return err
	}
	return run()
}

// begin plans an evaluation and takes its place among the others.
func begin(ctx context.Context, xs []*Array) (run func() error, err error) {
	p, err := plan(xs)
	if err == nil {
		_, err = kernel.Active()
	}
	if err != nil {
		p.abandon(err)
		return nil, err
	}
	if p.laned {
		return newScheduler(ctx, p).run, nil
	}
	return func() error { return p.runInOrder(ctx) }, nil
}

// Eval computes x; see the function Eval.
func (x *Array) Eval(ctx context.Context) error { return Eval(ctx, x) }

// runInOrder is the whole evaluation of a graph without lanes.
func (p *planned) runInOrder(ctx context.Context) error {
	for i := range p.tasks {
		if err := p.tasks[i].finish(ctx); err != nil {
			return err
		}
		p.tasks[i] = task{}
	}
	return nil
}

// task is a node to run, with its operation and inputs as they were when the
// evaluation was planned: another evaluation may finish the node meanwhile.
type task struct {
	node   *node
	prim   Primitive
	inputs []*Array
}

// finish runs the node, or waits until whoever runs it is done.
func (t *task) finish(ctx context.Context) error {
	for {
		mine, wait := t.node.claim()
		switch {
		case mine:
			return t.run(ctx)
		case wait == nil:
			return t.node.failure()
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run computes a claimed node and releases it.
func (t *task) run(ctx context.Context) error {
	values, err := t.compute(ctx)
	t.node.release(values, err)
	return err
}

func (t *task) compute(ctx context.Context) (out []View, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: internal error: %v", t.prim.Name(), r)
		}
	}()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	in := make([]View, len(t.inputs))
	for i, x := range t.inputs {
		in[i], _ = x.view()
	}
	if _, ok := t.prim.(Forwarder); ok {
		return in[:len(t.node.specs)], nil
	}
	if viewer, ok := t.prim.(Viewer); ok {
		return []View{viewOf(viewer, in[0], t.node.specs[0])}, nil
	}
	if _, ok := t.prim.(StridedReader); !ok {
		for i := range in {
			in[i] = in[i].Contiguous()
		}
	}
	out = make([]View, len(t.node.specs))
	for i, s := range t.node.specs {
		out[i] = NewView(s)
	}
	switch {
	case t.node.lane != nil:
		return out, t.prim.Eval(context.WithValue(ctx, recordKey{}, t.node.record), in, out)
	case len(in) > 0 && isEmpty(in) && isEmpty(out):
		return out, nil // kernels need not care how many rows there are of nothing
	}
	if err := t.prim.Eval(ctx, in, out); err != nil {
		return nil, t.mistake(err)
	}
	return out, nil
}

func isEmpty(views []View) bool {
	return !slices.ContainsFunc(views, func(v View) bool { return v.Size() > 0 })
}

// mistake names the operation, and the place where it was asked for if known.
func (t *task) mistake(err error) error {
	e := &OpError{Op: t.prim.Name(), Err: err}
	if t.node.site != nil {
		e.Where = t.node.site.String()
	}
	return e
}

func viewOf(p Viewer, in View, out Spec) View {
	if v, ok := p.View(in, out); ok {
		return v
	}
	v, _ := p.View(in.Contiguous(), out)
	return v
}

// what names the node in messages to peers.
func (t *task) what() string {
	if t.node.record == 0 {
		return t.prim.Name()
	}
	return fmt.Sprintf("%s #%d", t.prim.Name(), t.node.record)
}
