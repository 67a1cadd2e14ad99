package array

import (
	"cmp"
	"slices"
)

// planned is what an evaluation will do: the nodes that have no value yet,
// inputs before users, in an order that depends only on the graph.
type planned struct {
	tasks []task
	laned bool // some task belongs to a lane
}

// plan lists the nodes to run for xs. It returns the first mistake found, and
// then the plan only serves to abandon its lanes.
func plan(xs []*Array) (*planned, error) {
	w := walk{seen: map[*node]bool{}}
	for _, x := range xs {
		if x == nil {
			w.fail(errNil)
			continue
		}
		w.visit(x.node)
	}
	if w.err == nil {
		w.err = w.traced
	}
	return &w.planned, w.err
}

// walk is a depth-first traversal with its own stack, since graphs may be a
// million nodes deep.
type walk struct {
	planned
	err    error
	traced error // counts only where nothing else is wrong
	seen   map[*node]bool
}

type frame struct {
	task
	next int // input to visit next
}

func (w *walk) visit(root *node) {
	stack := w.enter(nil, root)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(top.inputs) {
			top.next++
			stack = w.enter(stack, top.inputs[top.next-1].node)
			continue
		}
		w.leave(top.task)
		stack = stack[:len(stack)-1]
	}
}

func (w *walk) enter(stack []frame, n *node) []frame {
	if n.done.Load() || w.seen[n] {
		return stack
	}
	w.seen[n] = true
	prim, inputs := n.source()
	if prim == nil && n.err == nil {
		return stack // finished since the check above
	}
	return append(stack, frame{task: task{node: n, prim: prim, inputs: inputs}})
}

func (w *walk) leave(t task) {
	n := t.node
	w.fail(n.err)
	if n.err == nil && n.trace != 0 && w.traced == nil {
		w.traced = newOpError("eval", ErrTraced)
	}
	w.fail(n.failure())
	if t.prim != nil {
		w.tasks = append(w.tasks, t)
		w.laned = w.laned || n.lane != nil
	}
}

func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
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
	for i, t := range p.tasks {
		lane := t.node.lane
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
			return cmp.Compare(p.tasks[a].node.record, p.tasks[b].node.record)
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
		t := &p.tasks[q.tasks[q.next]]
		if t.node.done.Load() {
			continue
		}
		q.lane.Abandon(t.what(), reason)
		return
	}
}
