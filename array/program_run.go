package array

import (
	"context"

	"github.com/lockstep-go/lockstep/internal/buffer"
)

// workspace is what one run of a program works with; it is used again.
type workspace struct {
	stores [][]byte
	steps  []bound
	arena  []byte // of a program that needs little
	held   []View // copies of inputs that do not lie in row order

	in, out []View  // of the program
	values  []*View // of which in are
	results []*View // of which out are
	over    []int   // inputs that results lie over
}

// bound is a step with its views on the stores of a workspace.
type bound struct {
	in, out []View
	inAt    []int // stores of in
	outAt   []int
	skip    bool // it has nothing to compute
}

func (p *Program) take() *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		f := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return f
	}
	return p.newWorkspace()
}

func (p *Program) newWorkspace() *workspace {
	f := &workspace{stores: make([][]byte, len(p.stores)), steps: make([]bound, len(p.steps))}
	if !buffer.Pooled(p.arena) {
		f.arena = buffer.Small(p.arena)
	}
	for i := range p.steps {
		if p.steps[i].pass != nil {
			continue
		}
		s := &f.steps[i]
		op := p.steps[i].op
		s.in, s.inAt = views(op.in)
		s.out, s.outAt = views(op.out)
		s.skip = len(op.in) > 0 && isEmpty(s.in) && isEmpty(s.out)
	}
	return f
}

func views(values []value) (list []View, at []int) {
	for _, v := range values {
		list = append(list, v.View)
		at = append(at, v.store)
	}
	return list, at
}

// giveBack keeps the workspace for the next run, without what was lent to it.
func (p *Program) giveBack(f *workspace) {
	clear(f.stores)
	for _, views := range []*[]View{&f.held, &f.in, &f.out} {
		clear(*views)
		*views = (*views)[:0]
	}
	clear(f.values)
	clear(f.results)
	f.values, f.results, f.over = f.values[:0], f.results[:0], f.over[:0]
	for i := range f.steps {
		f.steps[i].bind(f.stores)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, f)
}

func (s *bound) bind(stores [][]byte) {
	for i, at := range s.inAt {
		s.in[i].Storage = stores[at]
	}
	for i, at := range s.outAt {
		s.out[i].Storage = stores[at]
	}
}

// Eval runs the steps.
func (p *Program) Eval(ctx context.Context, in, out []View) error {
	f := p.take()
	defer p.giveBack(f)
	return p.runSteps(ctx, f, in, out)
}

func (p *Program) runSteps(ctx context.Context, f *workspace, in, out []View) error {
	arena := f.arena
	if arena == nil {
		b := buffer.New(p.arena)
		defer b.Release()
		arena = b.Bytes()
	}
	f.attach(p, arena, in, out)
	for i := range p.steps {
		if err := p.runStep(ctx, f, i); err != nil {
			return err
		}
	}
	return nil
}

// attach gives every store its memory.
func (f *workspace) attach(p *Program, arena []byte, in, out []View) {
	for i, s := range p.stores {
		switch s.kind {
		case inArena:
			f.stores[i] = arena[s.offset : s.offset+s.bytes : s.offset+s.bytes]
		case inInput:
			f.stores[i] = f.inRows(in[s.index]).Bytes()
		case inResult:
			f.stores[i] = out[s.index].Bytes()
		case isFixed:
			f.stores[i] = s.fixed
		}
	}
}

func (f *workspace) inRows(v View) View {
	if !v.IsContiguous() {
		v = v.Contiguous()
		f.held = append(f.held, v)
	}
	return v
}

func (p *Program) runStep(ctx context.Context, f *workspace, i int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if pass := p.steps[i].pass; pass != nil {
		pass.run(f.stores)
		return nil
	}
	s := &f.steps[i]
	if s.skip {
		return nil
	}
	s.bind(f.stores)
	prim := p.steps[i].op.prim
	if err := prim.Eval(ctx, s.in, s.out); err != nil {
		return &OpError{Op: prim.Name(), Err: err}
	}
	return nil
}
