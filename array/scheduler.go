package array

import (
	"container/heap"
	"context"
)

// scheduler evaluates a graph that has lanes. The calling goroutine runs the
// ordinary nodes; each lane has at most one node running in a goroutine of its
// own, so that independent work goes on while a collective waits for its peers.
type scheduler struct {
	*planned
	ctx         context.Context
	independent context.Context // ends early when the evaluation has failed
	cancel      context.CancelCauseFunc

	missing []int   // per task: inputs that have no value yet
	users   [][]int // per task: tasks that wait for it
	ready   intHeap // ordinary tasks that can run
	queues  []*queue
	lane    []*queue // per task: its queue, or nil
	busy    map[*queue]bool
	events  chan event
	flying  int // tasks running in goroutines
	err     error
}

// event says that a task in a goroutine has ended.
type event struct {
	task int
	err  error
}

func newScheduler(ctx context.Context, p *planned) *scheduler {
	n := len(p.tasks)
	s := &scheduler{
		planned: p, ctx: ctx,
		missing: make([]int, n), users: make([][]int, n), lane: make([]*queue, n),
		queues: p.queues(), busy: map[*queue]bool{}, events: make(chan event),
	}
	takeTurns(s.queues)
	s.independent, s.cancel = context.WithCancelCause(ctx)
	for _, q := range s.queues {
		for _, i := range q.tasks {
			s.lane[i] = q
		}
	}
	s.connect()
	return s
}

// connect counts what each task waits for.
func (s *scheduler) connect() {
	number := make(map[*node]int, len(s.tasks))
	for i := range s.tasks {
		number[s.tasks[i]] = i
		_, in := s.tasks[i].source()
		for k := 0; in.at(k) != nil; k++ {
			if j, ok := number[in.at(k).node()]; ok {
				s.users[j] = append(s.users[j], i)
				s.missing[i]++
			}
		}
		if s.missing[i] == 0 && s.lane[i] == nil {
			heap.Push(&s.ready, i)
		}
	}
}

func (s *scheduler) run() error {
	defer s.cancel(nil)
	defer s.endTurns()
	for s.err == nil {
		s.startLanes()
		switch {
		case s.ready.Len() > 0:
			s.step(heap.Pop(&s.ready).(int))
			s.poll()
		case s.flying > 0:
			s.landed(<-s.events)
		default:
			return nil
		}
	}
	s.giveUp()
	return s.err
}

// startLanes starts the head of every idle lane whose inputs are ready.
func (s *scheduler) startLanes() {
	for _, q := range s.queues {
		if s.busy[q] || q.next == len(q.tasks) || s.missing[q.tasks[q.next]] > 0 {
			continue
		}
		i := q.tasks[q.next]
		q.next++
		s.busy[q] = true
		ctx := s.ctx
		if q.lane.Independent() {
			ctx = s.independent
		}
		s.flying++
		n := s.tasks[i]
		go func() { s.events <- event{i, q.runInTurn(ctx, n)} }()
	}
}

// runInTurn runs a task of the lane once it is this evaluation's turn. It may be over
// before: evaluations whose turn is earlier run what they share.
func (q *queue) runInTurn(ctx context.Context, n *node) error {
	for before := q.turn.pending(); before != nil; before = q.turn.pending() {
		over, released := n.watch()
		if over {
			return n.failure()
		}
		select {
		case <-before.done:
		case <-released:
		case <-ctx.Done():
			n.abandon(context.Cause(ctx))
			return context.Cause(ctx)
		}
	}
	return n.finish(ctx)
}

func (s *scheduler) endTurns() {
	for _, q := range s.queues {
		q.turn.end()
	}
}

// step runs an ordinary task here, or waits aside for the evaluation that has
// claimed it.
func (s *scheduler) step(i int) {
	mine, wait := s.tasks[i].claim()
	switch {
	case mine:
		s.ended(event{i, s.tasks[i].run(s.ctx)})
	case wait != nil:
		s.fly(s.independent, i)
	default:
		s.ended(event{i, s.tasks[i].failure()})
	}
}

func (s *scheduler) fly(ctx context.Context, i int) {
	s.flying++
	n := s.tasks[i]
	go func() { s.events <- event{i, n.finish(ctx)} }()
}

// poll takes in what has landed without waiting.
func (s *scheduler) poll() {
	for {
		select {
		case e := <-s.events:
			s.landed(e)
		default:
			return
		}
	}
}

func (s *scheduler) landed(e event) {
	s.flying--
	if q := s.lane[e.task]; q != nil {
		s.busy[q] = false
		if q.next == len(q.tasks) {
			q.turn.end()
		}
	}
	s.ended(e)
}

func (s *scheduler) ended(e event) {
	if e.err != nil {
		if s.err == nil {
			s.err = e.err
		}
		return
	}
	for _, user := range s.users[e.task] {
		s.missing[user]--
		if s.missing[user] == 0 && s.lane[user] == nil {
			heap.Push(&s.ready, user)
		}
	}
	s.tasks[e.task] = nil // its value now lives only where it is used
}

// giveUp abandons what was not started, ends what nobody else depends on, and
// waits for the collectives in flight: they end with their peers, or by the
// break of their group.
func (s *scheduler) giveUp() {
	for _, q := range s.queues {
		s.abandonRest(q, s.err)
	}
	s.cancel(s.err)
	for s.flying > 0 {
		s.landed(<-s.events)
	}
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
