// Package turn has calls take turns: a lock that is quick while nobody waits for it,
// and that can be waited for until something else happens.
package turn

import "sync/atomic"

// Turn is held by one caller at a time.
type Turn struct {
	state atomic.Int32
	next  chan struct{} // holds a token when one of those who wait should look again
}

const (
	free = iota
	held
	wanted // held, and somebody may wait for it
)

// New makes a Turn that nobody holds.
func New() Turn { return Turn{next: make(chan struct{}, 1)} }

// Try takes the turn if nobody holds it, and reports whether it did.
func (t *Turn) Try() bool { return t.state.CompareAndSwap(free, held) }

// Take waits for the turn until one of the channels is closed, and reports whether
// it has it. A nil channel never is.
func (t *Turn) Take(done, over <-chan struct{}) bool {
	if t.Try() {
		return true
	}
	for t.state.Swap(wanted) != free { // others may go on waiting when this one has it
		select {
		case <-t.next:
		case <-done:
			return false
		case <-over:
			return false
		}
	}
	return true
}

// Pass lets the next one have the turn.
func (t *Turn) Pass() {
	if t.state.Swap(free) != wanted {
		return
	}
	select {
	case t.next <- struct{}{}:
	default: // someone has been told already
	}
}
