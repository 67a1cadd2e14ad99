package array

import (
	"runtime"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Small arrays spend more time in the graph than in kernels. An operation of two arrays of
// one shape and type takes a shorter way here: its node is all that is allocated
// for it, what it needs to know is looked up once for each operation and type, and it is
// run without lists of inputs and outputs.

const dtypes = 32

// none is the loop of types for which there is none, or one that gives another type.
var none kernel.Loop

// loopOf is the loop of operands and a result of type t, nil if there is none.
func (p *binary) loopOf(t dtype.Type) kernel.Loop {
	known := p.loops[t%dtypes].Load()
	if known == nil {
		known = &none
		if loop, result := kernel.Binary(p.op, t); result == t {
			known = &loop
		}
		p.loops[t%dtypes].Store(known)
	}
	return *known
}

// kindOf is that of p on operands of the kind k and a result like them. The last one of each
// type is kept: arrays of one shape often meet.
func (p *binary) kindOf(k *kind) *kind {
	if k.shared && k.prim == p {
		return k
	}
	last := &p.kinds[k.spec.DType%dtypes]
	if l := last.Load(); l != nil && slices.Equal(l.spec.Shape, k.spec.Shape) {
		return l
	}
	made := &kind{prim: p, spec: k.spec, shared: true}
	last.Store(made)
	return made
}

// quickly is the node of p on operands that it need not convert, broadcast or check; nil
// for others.
func (p *binary) quickly(x, y *Array) *Array {
	if x == nil || y == nil || x.kind == nil || y.kind == nil || x.rare != nil || y.rare != nil {
		return nil
	}
	s, t := &x.kind.spec, &y.kind.spec
	if s != t && (s.DType != t.DType || !slices.Equal(s.Shape, t.Shape)) || p.loopOf(s.DType) == nil {
		return nil
	}
	n := &node{kind: p.kindOf(x.kind)}
	n.setInput(0, x, 2)
	n.setInput(1, y, 2)
	n.trace = max(x.trace, y.trace)
	return (*Array)(n)
}

// room is where an evaluation makes its smallest values, some at a time: one that is
// kept keeps its neighbours, which are few and small.
type room struct {
	views    []View
	bytes    []byte
	operands [2][]byte
}

const (
	roomViews = 9 // which fill a class of Go's heap
	roomBytes = 2 << 10
	mostRoom  = roomBytes / 8 // bytes of a value
)

// view returns a view with so many bytes of storage.
func (r *room) view(size int) *View {
	if size > mostRoom {
		return &View{Storage: buffer.Small(size)}
	}
	if len(r.views) == 0 {
		r.views = make([]View, roomViews)
	}
	if len(r.bytes) < size {
		r.bytes = buffer.Small(roomBytes)
	}
	v := &r.views[0]
	r.views = r.views[1:]
	v.Storage = r.bytes[:size:size]
	r.bytes = r.bytes[(size+7)/8*8:]
	return v
}

// runQuickly runs a claimed node if it is a small operation of two arrays of its own type
// that lie in row order; it reports whether it has. The inputs are left to forget.
func (n *node) runQuickly(r *room) bool {
	p, ok := n.kind.prim.(*binary)
	if !ok || n.rare != nil || n.pair[0].kind == nil || n.pair[1].kind == nil {
		return false
	}
	s, x, y := &n.kind.spec, n.pair[0].node(), n.pair[1].node()
	a, b := x.value.Load(), y.value.Load()
	size := s.Bytes()
	if size == 0 || buffer.Pooled(size) || !a.isQuick(s) || !b.isQuick(s) {
		return false
	}
	loop := p.loopOf(s.DType)
	if loop == nil {
		return false
	}
	v := r.view(size)
	v.Spec, v.Strides = *s, a.Strides
	r.operands = [2][]byte{a.rowBytes(size), b.rowBytes(size)}
	loop(v.Storage, r.operands[:])
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	n.value.Store(v)
	n.settle(over)
	x.readOnce()
	y.readOnce()
	return true
}

// isQuick reports whether v is there, of this shape and type, and lies in row order.
func (v *View) isQuick(s *Spec) bool {
	return v != nil && v != &givenAway && v.DType == s.DType && rowsOf(s.Shape, v.Shape, v.Strides)
}

// rowBytes are the elements of a view in row order, which have so many bytes.
func (v *View) rowBytes(size int) []byte {
	at := v.Offset * v.DType.Size()
	return v.Storage[at : at+size]
}
