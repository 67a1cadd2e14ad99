package array

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/lockstep-go/lockstep/internal/buffer"
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
		err = environment()
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

// environment says what is wrong with the variables that an evaluation depends on.
func environment() error {
	if _, err := kernel.Active(); err != nil {
		return err
	}
	return buffer.CheckEnvironment()
}

// Eval computes x; see the function Eval.
func (x *Array) Eval(ctx context.Context) error { return Eval(ctx, x) }

// atOnce is how many tasks are forgotten together.
const atOnce = 64

// runInOrder is the whole evaluation of a graph without lanes.
func (p *planned) runInOrder(ctx context.Context) error {
	var r room
	for tasks := range slices.Chunk(p.tasks, atOnce) {
		err := runAll(ctx, tasks, &r)
		forget(tasks)
		if err != nil {
			return err
		}
	}
	p.recycle()
	return nil
}

func runAll(ctx context.Context, tasks []*node, r *room) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, n := range tasks {
		if !n.claimIdle() {
			if err := n.finish(ctx); err != nil {
				return err
			}
			continue
		}
		if n.runQuickly(r) {
			continue
		}
		if err := n.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finish runs the node, or waits until whoever runs it is done.
func (n *node) finish(ctx context.Context) error {
	for {
		mine, wait := n.claim()
		switch {
		case mine:
			return n.run(ctx)
		case wait == nil:
			return n.failure()
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run computes a claimed node and releases it.
func (n *node) run(ctx context.Context) error {
	if p, ok := n.kind.prim.(interface{ program() *Program }); ok {
		return n.runProgram(ctx, p.program())
	}
	from := n.sources()
	values, err := n.compute(ctx, &from)
	switch {
	case err != nil:
		n.release(err)
		return err
	case len(values) == 1:
		n.release(nil, &values[0])
	default:
		n.release(nil, pointers(values)...)
	}
	from.read()
	return nil
}

func pointers(values []View) []*View {
	list := make([]*View, len(values))
	for i := range values {
		list[i] = &values[i]
	}
	return list
}

func (n *node) compute(ctx context.Context, from *sources) (out []View, err error) {
	p := n.kind.prim
	defer n.recovered(&err)
	if ctx.Err() != nil {
		n.abandon(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
	in, err := inputs(from)
	if err != nil {
		err = &OpError{Op: p.Name(), Err: err}
		n.abandon(err)
		return nil, err
	}
	if _, ok := p.(donate); ok {
		from.at(0).give()
		return in[:1:1], nil
	}
	if _, ok := p.(Forwarder); ok {
		return shared(slices.Clone(in[:n.outputsCount()])), nil
	}
	if viewer, ok := p.(Viewer); ok {
		return []View{viewOf(viewer, in[0], n.kind.spec)}, nil
	}
	if _, ok := p.(StridedReader); !ok {
		for i := range in {
			in[i] = in[i].Contiguous()
		}
	}
	out, taken := n.newOutputs(from, in)
	defer func() { // the storage is there until here
		runtime.KeepAlive(in)
		runtime.KeepAlive(out)
		for _, i := range taken {
			if err != nil { // written over in part
				from.at(i).give()
			}
		}
	}()
	switch {
	case n.lane() != nil:
		err := p.Eval(context.WithValue(ctx, recordKey{}, n.rare.record), in, out)
		if done, ok := err.(untouched); ok {
			return out, done.error
		}
		if err != nil {
			abandonStorage(in, out)
		}
		return out, err
	case len(in) > 0 && isEmpty(in) && isEmpty(out):
		return out, nil // kernels need not care how many rows there are of nothing
	}
	if err := p.Eval(ctx, in, out); err != nil {
		return nil, n.mistake(err)
	}
	return out, nil
}

// recovered turns a panic into an error; it is deferred.
func (n *node) recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: internal error: %v", n.kind.prim.Name(), r)
		n.abandon(*err)
	}
}

// inputs are the computed inputs.
func inputs(from *sources) ([]View, error) {
	in := make([]View, 0, max(len(from.pair), len(from.more)))
	for i := 0; from.at(i) != nil; i++ {
		v, ok := from.at(i).view()
		if !ok {
			return nil, ErrDonated
		}
		in = append(in, v)
	}
	return in, nil
}

// shared counts the references that views are to the storage of others.
func shared(views []View) []View {
	for _, v := range views {
		v.owner.Retain()
	}
	return views
}

// newOutputs makes room for the outputs, over inputs where that is allowed. Strides
// that an input has already are shared with it. taken are the inputs that outputs lie
// over.
func (n *node) newOutputs(from *sources, in []View) (out []View, taken []int) {
	out = make([]View, n.outputsCount())
	p, overwrites := n.kind.prim.(Overwriter)
	overwrites = overwrites && from.anyTemporary()
	for i := range out {
		s := n.specOf(i)
		if overwrites {
			if v, ok := overwritten(p, from, in, i, s, &taken); ok {
				out[i] = v
				continue
			}
		}
		if len(in) > 0 && in[0].isRowsOf(s.Shape) {
			out[i] = newView(s, in[0].Strides)
			continue
		}
		out[i] = NewView(s)
	}
	return out, taken
}

func (s *sources) anyTemporary() bool {
	for i := 0; s.at(i) != nil; i++ {
		if s.at(i).node().isTemporary() {
			return true
		}
	}
	return false
}

// Untouched marks an error of the Eval of a primitive with a lane after which nothing uses
// the storage that Eval was lent. Without it what was lent is never used again, since a
// transport may still write to it.
func Untouched(err error) error { return untouched{err} }

type untouched struct{ error }

// abandonStorage keeps from being used again what a transport may still write to
// after an error.
func abandonStorage(views ...[]View) {
	for _, some := range views {
		for _, v := range some {
			v.owner.Abandon()
		}
	}
}

func isEmpty(views []View) bool {
	return !slices.ContainsFunc(views, func(v View) bool { return v.Size() > 0 })
}

// mistake names the operation, and the place where it was asked for if known.
func (n *node) mistake(err error) error {
	e, named := err.(*OpError) // by a program, whose instruction it was
	if !named {
		e = &OpError{Op: n.kind.prim.Name(), Err: err}
	}
	if n.rare != nil && n.rare.site != nil {
		e.Where = n.rare.site.String()
	}
	return e
}

// viewOf asks a Viewer for its output, which keeps the storage that it shares.
func viewOf(p Viewer, in View, out Spec) View {
	v, ok := p.View(in, out)
	if ok {
		in.owner.Retain()
	} else {
		in = in.Contiguous()
		v, _ = p.View(in, out)
	}
	v.owner = in.owner
	return v
}

// abandon tells the node's lane, if it has one, that it will not run, unless it has.
func (n *node) abandon(reason error) {
	p, _ := n.source()
	lane := n.lane()
	if p == nil || lane == nil {
		return
	}
	what := p.Name()
	if n.rare.record > 0 {
		what = fmt.Sprintf("%s #%d", what, n.rare.record)
	}
	lane.Abandon(n.rare.record, what, reason)
}
