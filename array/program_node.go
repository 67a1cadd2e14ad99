package array

import (
	"context"
	"runtime"
	"slices"

	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// A program's node has many inputs and results, and a training step makes one after the
// other. It is run with lists that the program keeps, and a result that is written over an
// input has that input's View too: a step in place makes no values at all.

// runProgram runs a claimed node of p and releases it.
func (n *node) runProgram(ctx context.Context, p *Program) error {
	f := p.take()
	defer p.giveBack(f)
	from := n.sources()
	err := n.computeProgram(ctx, p, f, &from)
	n.release(err, f.results...)
	if err == nil {
		from.read()
	}
	return err
}

func (n *node) computeProgram(ctx context.Context, p *Program, f *workspace, from *sources) (err error) {
	defer n.recovered(&err)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !f.lend(p, from) {
		return &OpError{Op: p.Name(), Err: ErrDonated}
	}
	for i := range p.outs {
		f.results = append(f.results, f.result(p, from, i))
		f.out = append(f.out, *f.results[i])
	}
	defer f.settle(p, from, &err)
	if len(f.in) > 0 && isEmpty(f.in) && isEmpty(f.out) {
		return nil
	}
	if err := p.runSteps(ctx, f, f.in, f.out); err != nil {
		return n.mistake(err)
	}
	return nil
}

// lend lists the inputs; false if the storage of one has been given away. Arguments that
// the program takes come first, so that one which is given twice is missed.
func (f *workspace) lend(p *Program, from *sources) bool {
	for i := 0; from.at(i) != nil; i++ {
		f.values = append(f.values, nil)
		if p.takes != nil && p.takes[i] {
			if f.values[i] = from.at(i).takeAway(); f.values[i] == nil {
				return false
			}
		}
	}
	for i := range f.values {
		if f.values[i] == nil {
			f.values[i] = from.at(i).pointer()
		}
		if f.values[i] == nil {
			return false
		}
		f.in = append(f.in, *f.values[i])
	}
	return true
}

// result is the value of a result, over an input where that may be.
func (f *workspace) result(p *Program, from *sources, i int) *View {
	s, at := p.outs[i], p.over[i]
	if at < 0 || slices.Contains(f.over, at) || !f.in[at].hasRoomFor(s) || !f.mayOverwrite(p, from, at) {
		return p.newResult(s)
	}
	f.over = append(f.over, at)
	if v := f.values[at]; v.Spec.Equal(s) {
		return v
	}
	v := &View{Spec: s, Strides: layout.Strides(s.Shape)}
	v.Storage, v.owner = f.in[at].Storage, f.in[at].owner
	return v
}

// mayOverwrite reports whether nothing else needs an input, and takes the reference to its
// storage if so.
func (f *workspace) mayOverwrite(p *Program, from *sources, at int) bool {
	owner := f.in[at].owner
	if p.takes != nil && p.takes[at] {
		return owner != nil && owner.References() == 1
	}
	if !from.free(at, f.in[at]) {
		return false
	}
	owner.Retain() // that of the temporary node goes with it
	return true
}

// newResult makes room for a result. Where the program takes storage, small results have
// storage that can be taken too.
func (p *Program) newResult(s Spec) *View {
	v := NewView(Spec{s.Shape, s.DType})
	if n := s.Bytes(); p.takes != nil && v.owner == nil && n > 0 {
		v.owner = buffer.New(n)
		v.Storage = v.owner.Bytes()
	}
	return &v
}

// settle gives back the storage that was taken and is no result's. An input that was
// written over in part is gone.
func (f *workspace) settle(p *Program, from *sources, err *error) {
	for i, v := range f.in {
		taken := p.takes != nil && p.takes[i]
		switch over := slices.Contains(f.over, i); {
		case taken && (!over || *err != nil):
			v.owner.Release()
		case over && *err != nil:
			from.at(i).give()
		}
	}
	if *err != nil {
		f.results = f.results[:0]
	}
	runtime.KeepAlive(f)
}

// pointer is the value of x; nil if it is not there or was given away.
func (x *Array) pointer() *View { return x.node().valueOf(x.out()) }

// valueOf is the value of an output, likewise.
func (n *node) valueOf(out int) *View {
	v := n.value.Load()
	if v != nil && out > 0 {
		v = n.rare.values[out].Load()
	}
	if v == &givenAway {
		return nil
	}
	return v
}
