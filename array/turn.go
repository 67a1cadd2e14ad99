package array

import "sync"

// turns says of each lane which of the evaluations that are under way came to it last.
// An evaluation takes its turns on all of its lanes at once, when it begins, so that
// evaluations run the nodes of every lane one after the other, in the order in which
// they began, and never wait for each other in a circle.
var turns = struct {
	mu   sync.Mutex
	last map[Lane]*turn
}{last: map[Lane]*turn{}}

// turn is an evaluation's place on a lane.
type turn struct {
	lane   Lane
	done   chan struct{} // closed when the evaluation is done with the lane
	before *turn         // the turn before, nil once it is known to be over; guarded by turns
}

// takeTurns gives every queue its turn.
func takeTurns(queues []*queue) {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	for _, q := range queues {
		q.turn = &turn{lane: q.lane, done: make(chan struct{}), before: turns.last[q.lane]}
		turns.last[q.lane] = q.turn
	}
}

// pending is the last turn before t that is not over, nil when it is t's.
func (t *turn) pending() *turn {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	return t.pendingLocked()
}

// An evaluation that gave up may be over before those that it should have waited for.
func (t *turn) pendingLocked() *turn {
	for t.before != nil && t.before.over() {
		t.before = t.before.before
	}
	return t.before
}

func (t *turn) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// end lets the next evaluation have the lane. It may be called again.
func (t *turn) end() {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if t.over() {
		return
	}
	close(t.done)
	switch before := t.pendingLocked(); {
	case turns.last[t.lane] != t:
	case before != nil:
		turns.last[t.lane] = before
	default:
		delete(turns.last, t.lane)
	}
}
