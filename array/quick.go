package array

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Small arrays spend more time in the graph than in kernels. An operation of two arrays of
// one shape and type takes a shorter way here: its node is all that is allocated
// for it, and what it needs to know is looked up once for each operation and type.

// quick is what is known of an operation of two operands.
type quick struct {
	prim  Primitive // a binary
	loops [dtypes]atomic.Pointer[quickLoop]
}

// quickLoop is the loop for one type. It is nil where the result has another type.
type quickLoop struct{ loop kernel.Loop }

const dtypes = 32

// quicks are those that have been asked for. The map is replaced, not changed.
var quicks struct {
	sync.Mutex
	byOp atomic.Pointer[map[kernel.Op]*quick]
}

// quickOf finds the operation of p.
func quickOf(p binary) *quick {
	if all := quicks.byOp.Load(); all != nil {
		if q := (*all)[p.op]; q != nil {
			return q
		}
	}
	quicks.Lock()
	defer quicks.Unlock()
	all := map[kernel.Op]*quick{}
	if old := quicks.byOp.Load(); old != nil {
		maps.Copy(all, *old)
	}
	q := &quick{}
	p.quick = q
	q.prim = p
	all[p.op] = q
	quicks.byOp.Store(&all)
	return q
}

// loopOf is the loop for type t, nil if the result has another type or there is none.
func (q *quick) loopOf(t dtype.Type) kernel.Loop {
	known := q.loops[t%dtypes].Load()
	if known == nil {
		known = &quickLoop{}
		if loop, result := kernel.Binary(q.prim.(binary).op, t); result == t {
			known.loop = loop
		}
		q.loops[t%dtypes].Store(known)
	}
	return known.loop
}

// quickly is the node of p on operands that it need not convert, broadcast or check; nil
// for others.
func (p binary) quickly(x, y *Array) *Array {
	if x == nil || y == nil || x.node.rare != nil || y.node.rare != nil {
		return nil
	}
	s, t := x.node.spec, y.node.spec
	if s != t && (s.DType != t.DType || !slices.Equal(s.Shape, t.Shape)) {
		return nil
	}
	q := quickOf(p)
	if q.loopOf(s.DType) == nil {
		return nil
	}
	n := newNode(q.prim)
	n.spec = s
	n.setInput(0, x, 2)
	n.setInput(1, y, 2)
	n.trace = max(x.node.trace, y.node.trace)
	return &n.self
}

// room is where an evaluation makes its smallest values, some at a time: one that is
// kept keeps its neighbours, which are few and small.
type room struct {
	views []View
	bytes []byte
}

const (
	roomViews = 8
	roomBytes = 2 << 10
)

// view returns a view with so many bytes of storage. A nil room makes single ones.
func (r *room) view(size int) *View {
	if r == nil || size > roomBytes/roomViews {
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

// quickOperands are lists of two operands, between uses.
var quickOperands = sync.Pool{New: func() any { return new([2][]byte) }}

// finishQuickly runs a node that quickly has made; it reports whether it has.
func (n *node) finishQuickly(ctx context.Context, r *room) bool {
	if n.rare != nil || ctx.Err() != nil || !n.claimQuickly() {
		return false
	}
	v := n.runQuickly(r)
	from := n.sources()
	n.releaseQuickly(v)
	if v == nil {
		return false
	}
	from.read()
	return true
}

// claimQuickly is claim for a node that nobody waits for.
func (n *node) claimQuickly() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done() || n.busy || n.wait != nil {
		return false
	}
	if p, ok := n.prim.(binary); !ok || p.quick == nil {
		return false
	}
	n.busy = true
	return true
}

// runQuickly computes a claimed node that quickly has made, where its operands lie in
// row order and are small; else it returns nil.
func (n *node) runQuickly(r *room) *View {
	p, ok := n.prim.(binary)
	if !ok || p.quick == nil || n.rare != nil {
		return nil
	}
	x, y := n.pair[0].node.value.Load(), n.pair[1].node.value.Load()
	size := n.spec.Bytes()
	if n.pair[0].out != 0 || n.pair[1].out != 0 || x == nil || y == nil || size == 0 || buffer.Pooled(size) ||
		!x.isRowsOf(n.spec.Shape) || !y.isRowsOf(n.spec.Shape) {
		return nil
	}
	loop := p.quick.loopOf(n.spec.DType)
	if loop == nil {
		return nil
	}
	v := r.view(size)
	v.Spec, v.Strides = *n.spec, x.Strides
	operands := quickOperands.Get().(*[2][]byte)
	operands[0], operands[1] = x.Bytes(), y.Bytes()
	loop(v.Storage, operands[:])
	x.keep()
	y.keep()
	*operands = [2][]byte{}
	quickOperands.Put(operands)
	return v
}
