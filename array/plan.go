package array

import (
	"cmp"
	"slices"
	"sync"
)

// planned is what an evaluation will do: the nodes that have no value yet,
// inputs before users, in an order that depends only on the graph.
type planned struct {
	tasks []*node
	laned bool // some task belongs to a lane
}

// plan lists the nodes to run for xs. It returns the first mistake found, and
// then the plan only serves to abandon its lanes.
func plan(xs []*Array) (*planned, error) {
	w := newWalk()
	defer w.end()
	for _, x := range xs {
		if x == nil {
			w.fail(errNil)
			continue
		}
		w.visit(x.node())
	}
	if w.err == nil {
		w.err = w.traced
	}
	return &w.planned, w.err
}

// planning lets one walk at a time mark the nodes that it has met, and keeps what these
// are made of until it is through. Nothing waits for peers meanwhile.
var planning struct {
	sync.Mutex
	number uint64  // of the last walk
	stack  []frame // to be used again
	tasks  []*node // likewise
}

// mostFrames is how long a stack, or a list of tasks, is kept to be used again.
const mostFrames = 1 << 12

// walk is a depth-first traversal with its own stack, since graphs may be a
// million nodes deep.
type walk struct {
	planned
	err    error
	traced error // counts only where nothing else is wrong
	number uint64
	stack  []frame
}

// newWalk begins a walk, which holds the lock of planning until its end.
func newWalk() *walk {
	planning.Lock()
	planning.number++
	w := &walk{number: planning.number, stack: planning.stack}
	w.tasks, planning.tasks = planning.tasks, nil
	return w
}

func (w *walk) end() {
	clear(w.stack[:cap(w.stack)])
	planning.stack = nil
	if cap(w.stack) <= mostFrames {
		planning.stack = w.stack[:0]
	}
	planning.Unlock()
}

type frame struct {
	node *node
	next int // input to visit next
}

func (w *walk) visit(root *node) {
	w.enter(root)
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if x := top.node.input(top.next); x != nil {
			top.next++
			w.enter(x.node())
			continue
		}
		w.leave(top.node)
		w.stack = w.stack[:len(w.stack)-1]
	}
}

func (w *walk) enter(n *node) {
	if n.stamp == w.number || n.done() {
		return
	}
	n.stamp = w.number
	w.stack = append(w.stack, frame{node: n})
}

func (w *walk) leave(n *node) {
	if n.trace != 0 && w.traced == nil && n.err() == nil {
		w.traced = newOpError("eval", ErrTraced)
	}
	if n.rare != nil {
		w.leaveRare(n)
	}
	if n.kind.prim != nil {
		w.tasks = append(w.tasks, n)
	}
}

func (w *walk) leaveRare(n *node) {
	w.fail(n.rare.err)
	if n.rare.lane != nil {
		w.fail(n.failure())
		w.laned = w.laned || n.kind.prim != nil
	}
}

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// forget lets go of what nodes that have a value are made of, and of the nodes. Some are
// done at a time, to take the lock once.
func forget(tasks []*node) {
	planning.Lock()
	defer planning.Unlock()
	for i, n := range tasks {
		if n.done() {
			n.forget()
		}
		tasks[i] = nil
	}
}

// recycle lets the next walk have the list of tasks, which are forgotten.
func (p *planned) recycle() {
	if cap(p.tasks) > mostFrames {
		return
	}
	planning.Lock()
	defer planning.Unlock()
	planning.tasks, p.tasks = p.tasks[:0], nil
}

// queue is the tasks of one lane in record order.
type queue struct {
	lane  Lane
	tasks []int // numbers in planned.tasks
	next  int   // first one that was not started
	turn  *turn // of this evaluation on the lane; nil in a plan that does not run
}

// queues groups the tasks of lanes, in the order in which the lanes first occur.
func (p *planned) queues() []*queue {
	var all []*queue
	byLane := map[Lane]*queue{}
	for i, n := range p.tasks {
		lane := n.lane()
		if lane == nil {
			continue
		}
		q := byLane[lane]
		if q == nil {
			q = &queue{lane: lane}
			byLane[lane] = q
			all = append(all, q)
		}
		q.tasks = append(q.tasks, i)
	}
	for _, q := range all {
		slices.SortStableFunc(q.tasks, func(a, b int) int {
			return cmp.Compare(p.tasks[a].rare.record, p.tasks[b].rare.record)
		})
	}
	return all
}

// abandon tells every lane of the plan that its nodes will not run. A trace's
// nodes have no record: nobody waits for them before the trace has ended, but
// with a mistake in it they never will be recorded.
func (p *planned) abandon(reason error) {
	for _, q := range p.queues() {
		p.abandonRest(q, reason)
	}
}

func (p *planned) abandonRest(q *queue, reason error) {
	for ; q.next < len(q.tasks); q.next++ {
		p.tasks[q.tasks[q.next]].abandon(reason)
	}
}
