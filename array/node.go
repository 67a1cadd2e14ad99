package array

import (
	"sync"
	"sync/atomic"
)

// node is one application of a primitive. Everything but the evaluation state
// and, until its trace ends, the trace and record numbers is fixed when it is made.
// Graphs may have millions of them: what few have lies apart.
type node struct {
	prim Primitive // nil for a constant, and after evaluation
	pair [2]*Array // the inputs, if there are no more than two; nil after evaluation
	rare *rare     // nil for most nodes
	spec *Spec     // of the first output, shared with other nodes; never nil but for no outputs

	value atomic.Pointer[View] // of the first output; nil before evaluation
	mu    sync.Mutex
	wait  *waiting // under mu; nil while nobody waits and nothing failed
	busy  bool     // under mu: some evaluation runs it

	// temporary is set for a node that only the operations recorded on it will read;
	// unread counts those that have not run. See donate.go.
	temporary bool
	unread    atomic.Int32

	trace uint64 // number of the innermost trace that it belongs to; 0 if concrete
	stamp uint64 // number of the last plan that met it; under planning
	self  Array  // the first output
}

// rare is what few nodes have.
type rare struct {
	err    error // first mistake here or above
	site   *site // who asked for it; only of a Fallible primitive
	lane   Lane
	record uint64
	inputs []*Array               // more than two; nil after evaluation
	specs  []Spec                 // of all outputs, if there is not one
	values []atomic.Pointer[View] // likewise, nil without; set before value
}

// waiting is the state of a node that more than one evaluation met.
type waiting struct {
	freed chan struct{} // closed when busy ends next
	// failed is set for a node of a lane that ran and failed: it is never run twice.
	failed error
}

func (n *node) err() error {
	if n.rare == nil {
		return nil
	}
	return n.rare.err
}

func (n *node) lane() Lane {
	if n.rare == nil {
		return nil
	}
	return n.rare.lane
}

// special gives n the room for what few nodes have.
func (n *node) special() *rare {
	if n.rare == nil {
		n.rare = &rare{}
	}
	return n.rare
}

func (n *node) done() bool { return n.value.Load() != nil }

// claim says who runs a node: the caller (mine), or another evaluation, whose
// end closes wait. Both are zero when there is nothing left to do.
func (n *node) claim() (mine bool, wait <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.done() || n.wait != nil && n.wait.failed != nil:
		return false, nil
	case !n.busy:
		n.busy = true
		return true, nil
	}
	return false, n.next()
}

// next is closed when busy ends next.
func (n *node) next() <-chan struct{} {
	if n.wait == nil {
		n.wait = &waiting{}
	}
	if n.wait.freed == nil {
		n.wait.freed = make(chan struct{})
	}
	return n.wait.freed
}

// watch says whether the node is over, with values or a failure that stays, and if not,
// what closes when whoever runs it next is done.
func (n *node) watch() (over bool, released <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done() || n.wait != nil && n.wait.failed != nil {
		return true, nil
	}
	return false, n.next()
}

// release ends a claim. A node that succeeded lets go of its inputs, so that
// the history of a value does not outlive its computation.
func (n *node) release(values []View, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy = false
	switch {
	case err == nil:
		n.prim, n.pair = nil, [2]*Array{}
		if n.rare != nil {
			n.rare.inputs = nil
			n.setValues(values)
		}
		n.value.Store(&values[0])
	case n.lane() != nil:
		n.wait = &waiting{freed: n.freed(), failed: err}
	}
	if freed := n.freed(); freed != nil {
		close(freed)
		n.wait.freed = nil
	}
}

// releaseQuickly is release of a node with one value and nothing rare; v is nil if it was
// not computed.
func (n *node) releaseQuickly(v *View) {
	n.mu.Lock()
	n.busy = false
	if v != nil {
		n.prim, n.pair = nil, [2]*Array{}
		n.value.Store(v)
	}
	freed := n.freed()
	if freed != nil {
		n.wait.freed = nil
	}
	n.mu.Unlock()
	if freed != nil {
		close(freed)
	}
}

func (n *node) setValues(values []View) {
	if n.rare.specs == nil {
		return
	}
	n.rare.values = make([]atomic.Pointer[View], len(values))
	for i := range values {
		n.rare.values[i].Store(&values[i])
	}
}

func (n *node) freed() chan struct{} {
	if n.wait == nil {
		return nil
	}
	return n.wait.freed
}

// sources are the inputs of a node as they were at some moment: they are gone
// once it has been computed.
type sources struct {
	pair [2]*Array
	more []*Array
}

// source returns what a walker may see of the graph above n; empty once the
// node has been computed.
func (n *node) source() (Primitive, sources) {
	if n.done() {
		return nil, sources{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.prim, n.sources()
}

// sources is for whoever has made or claimed the node, or holds its lock.
func (n *node) sources() sources {
	s := sources{pair: n.pair}
	if n.rare != nil {
		s.more = n.rare.inputs
	}
	return s
}

// at is the i-th input, nil if there are not so many.
func (s *sources) at(i int) *Array {
	switch {
	case s.more != nil && i < len(s.more):
		return s.more[i]
	case s.more == nil && i < len(s.pair):
		return s.pair[i]
	}
	return nil
}

func (s *sources) list() []*Array {
	if s.more != nil {
		return s.more
	}
	var list []*Array
	for i := 0; s.at(i) != nil; i++ {
		list = append(list, s.at(i))
	}
	return list
}

func (n *node) failure() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wait == nil {
		return nil
	}
	return n.wait.failed
}
