package array

import (
	"sync"
	"sync/atomic"
)

// node is one application of a primitive. As an Array it is its own first output. Everything
// but the evaluation state and, until its trace ends, the trace and record numbers is fixed
// when it is made. What it is made of goes once it has a value, under the lock of planning.
//
// Graphs may have millions of nodes. The collector goes after every pointer and fetches
// every byte of them: a node has 64, what few have lies apart, and what many have alike
// they share.
type node Array

// kind is a primitive and what it makes. It is shared only if the primitive is one that
// is always there; the others go with their inputs.
type kind struct {
	prim   Primitive // nil for a constant, and after evaluation if it is not shared
	spec   Spec      // of the first output
	shared bool
}

// node is what x is an output of.
func (x *Array) node() *node {
	if x.kind == nil {
		return (*node)(x.pair[0])
	}
	return (*node)(x)
}

// out is which output x is.
func (x *Array) out() int {
	if x.kind == nil {
		return int(x.stamp)
	}
	return 0
}

// Flags of a node's state.
const (
	running   uint32 = 1 << iota // some evaluation runs it
	awaited                      // somebody waits: see waits
	over                         // it has values, or a failure that stays
	temporary                    // only the operations recorded on it will read it; see donate.go
)

// rare is what few nodes have.
type rare struct {
	err    error // first mistake here or above
	site   *site // who asked for it; only of a Fallible primitive
	lane   Lane
	record uint64
	inputs []*Array               // more than two; nil after evaluation
	specs  []Spec                 // of all outputs, if there is not one; nil if there is
	values []atomic.Pointer[View] // likewise, nil without; set before value
	// failed is set for a node of a lane that ran and failed: it is never run twice.
	failed error
}

// waits are the channels that are closed when nodes stop running. Few nodes are ever
// waited for.
var waits = struct {
	sync.Mutex
	freed map[*node]chan struct{}
}{freed: map[*node]chan struct{}{}}

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

func (n *node) isTemporary() bool { return n.state.Load()&temporary != 0 }

// claimIdle claims a node that nobody has to do with.
func (n *node) claimIdle() bool {
	s := n.state.Load()
	return s&^temporary == 0 && n.state.CompareAndSwap(s, s|running)
}

// claim says who runs a node: the caller (mine), or another evaluation, whose
// end closes wait. Both are zero when there is nothing left to do.
func (n *node) claim() (mine bool, wait <-chan struct{}) {
	waits.Lock()
	defer waits.Unlock()
	for {
		s := n.state.Load()
		switch {
		case s&over != 0:
			return false, nil
		case s&running != 0:
			if n.state.CompareAndSwap(s, s|awaited) {
				return false, n.freed()
			}
		case n.state.CompareAndSwap(s, s|running):
			return true, nil
		}
	}
}

// watch says whether the node is over, with values or a failure that stays, and if not,
// what closes when whoever runs it next is done.
func (n *node) watch() (isOver bool, released <-chan struct{}) {
	waits.Lock()
	defer waits.Unlock()
	for {
		s := n.state.Load()
		if s&over != 0 {
			return true, nil
		}
		if n.state.CompareAndSwap(s, s|awaited) {
			return false, n.freed()
		}
	}
}

// freed is closed when the node stops running. The caller holds the lock of waits.
func (n *node) freed() chan struct{} {
	if waits.freed[n] == nil {
		waits.freed[n] = make(chan struct{})
	}
	return waits.freed[n]
}

// release ends a claim. A node that succeeded lets go of its inputs, so that
// the history of a value does not outlive its computation.
func (n *node) release(err error, values ...*View) {
	switch {
	case err == nil:
		planning.Lock()
		n.forget()
		if n.rare != nil {
			n.setValues(values)
		}
		n.value.Store(values[0])
		planning.Unlock()
		n.settle(over)
	case n.lane() != nil:
		n.rare.failed = err
		n.settle(over)
	default:
		n.settle(0)
	}
}

// forget lets go of what the node was made of. The caller holds the lock of planning.
func (n *node) forget() {
	n.pair = [2]*Array{}
	if !n.kind.shared {
		n.kind.prim = nil
	}
	if n.rare != nil {
		n.rare.inputs = nil
	}
}

// settle says that the node does not run any more and wakes those who wait for that.
func (n *node) settle(flags uint32) {
	if s := n.state.Load(); s&awaited == 0 && n.state.CompareAndSwap(s, s&^running|flags) {
		return
	}
	waits.Lock()
	defer waits.Unlock()
	for s := n.state.Load(); !n.state.CompareAndSwap(s, s&^(running|awaited)|flags); {
		s = n.state.Load()
	}
	if freed := waits.freed[n]; freed != nil {
		close(freed)
		delete(waits.freed, n)
	}
}

func (n *node) setValues(values []*View) {
	if n.rare.specs == nil {
		return
	}
	n.rare.values = make([]atomic.Pointer[View], len(values))
	for i := range values {
		n.rare.values[i].Store(values[i])
	}
}

// sources are the inputs of a node as they were at some moment: they are gone
// once it has been computed.
type sources struct {
	pair [2]*Array
	more []*Array
}

// source returns what the node is made of; empty once it has been computed.
func (n *node) source() (Primitive, sources) {
	if n.done() {
		return nil, sources{}
	}
	planning.Lock()
	defer planning.Unlock()
	return n.kind.prim, n.sources()
}

// sources is for whoever has made or claimed the node, or holds the lock of planning.
func (n *node) sources() sources {
	s := sources{pair: n.pair}
	if n.rare != nil {
		s.more = n.rare.inputs
	}
	return s
}

// input is the i-th input, nil if there are not so many; for the same callers.
func (n *node) input(i int) *Array {
	if n.rare != nil && n.rare.inputs != nil {
		if i < len(n.rare.inputs) {
			return n.rare.inputs[i]
		}
		return nil
	}
	if i < len(n.pair) {
		return n.pair[i]
	}
	return nil
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

// failure is that of a node of a lane which ran and failed.
func (n *node) failure() error {
	if n.state.Load()&over == 0 || n.rare == nil {
		return nil
	}
	return n.rare.failed
}
