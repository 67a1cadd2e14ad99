package array

import (
	"sync"
	"sync/atomic"
)

// node is one application of a primitive. Everything but the evaluation state
// and, until its trace ends, the trace and record numbers is fixed when it is made.
type node struct {
	prim   Primitive // nil for a constant, and after evaluation
	inputs []*Array  // nil after evaluation
	specs  []Spec
	err    error // first mistake here or above
	site   *site // who asked for it; only of a Fallible primitive

	lane   Lane
	record uint64
	trace  uint64 // number of the innermost trace that it belongs to; 0 if concrete

	done  atomic.Bool // values are there; set under mu, read without
	mu    sync.Mutex
	busy  bool          // some evaluation runs it
	freed chan struct{} // closed when busy ends next; nil while nobody waits
	// failed is set for a node of a lane that ran and failed: it is never run twice.
	failed error
	values []View
}

// claim says who runs a node: the caller (mine), or another evaluation, whose
// end closes wait. Both are zero when there is nothing left to do.
func (n *node) claim() (mine bool, wait <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.done.Load() || n.failed != nil:
		return false, nil
	case !n.busy:
		n.busy = true
		return true, nil
	}
	if n.freed == nil {
		n.freed = make(chan struct{})
	}
	return false, n.freed
}

// watch says whether the node is over, with values or a failure that stays, and if not,
// what closes when whoever runs it next is done.
func (n *node) watch() (over bool, released <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done.Load() || n.failed != nil {
		return true, nil
	}
	if n.freed == nil {
		n.freed = make(chan struct{})
	}
	return false, n.freed
}

// release ends a claim. A node that succeeded lets go of its inputs, so that
// the history of a value does not outlive its computation.
func (n *node) release(values []View, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy = false
	if err == nil {
		n.values = values
		n.prim, n.inputs = nil, nil
		n.done.Store(true)
	} else if n.lane != nil {
		n.failed = err
	}
	if n.freed != nil {
		close(n.freed)
		n.freed = nil
	}
}

// source returns what a walker may see of the graph above n; empty once the
// node has been computed.
func (n *node) source() (Primitive, []*Array) {
	if n.done.Load() {
		return nil, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.prim, n.inputs
}

func (n *node) failure() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failed
}
