package group

import (
	"fmt"
	"sync/atomic"
)

// NextRecord numbers a recorded collective of this group: 1 for the first, then
// counting up. It is for lazy evaluation, which runs collectives in the order of
// these numbers. Safe for concurrent use.
func (g *Group) NextRecord() uint64 { return g.records.Add(1) }

// Abandon says that a recorded collective will never run here: what names it,
// such as "all_sum #17", and reason says why. It breaks the group, so that peers
// that wait for this rank learn the reason, and does not wait for them. It does
// nothing in groups of one or none and in one that is broken or closed.
func (g *Group) Abandon(what string, reason error) {
	if g.size > 1 && g.usable() == nil {
		g.shatter(fmt.Errorf("gave up %s: %w", what, reason))
	}
}

// Independent reports false: ending a collective's context breaks the group.
func (g *Group) Independent() bool { return false }

type laneKey struct {
	peer, tag int
	send      bool
}

// PeerLane is the order of the messages to, or from, one peer with one tag.
type PeerLane struct {
	turn    chan struct{} // held by the message that is under way
	cut     error         // why no further message can pass; guarded by turn
	records atomic.Uint64
	ran     atomic.Uint64 // of the records, those that ran or never will
	last    atomic.Uint64 // the highest number among those that ran
}

// PeerLane returns the lane of messages that are sent to peer, or received from
// it, with the given tag: the same pointer for the same arguments.
func (g *Group) PeerLane(peer, tag int, send bool) *PeerLane {
	key := laneKey{peer, tag, send}
	if l, ok := g.lanes.Load(key); ok {
		return l.(*PeerLane)
	}
	l, _ := g.lanes.LoadOrStore(key, &PeerLane{turn: make(chan struct{}, 1)})
	return l.(*PeerLane)
}

// NextRecord numbers a recorded message of this lane from 1. Safe for
// concurrent use.
func (l *PeerLane) NextRecord() uint64 { return l.records.Add(1) }

// Ran says that the message with this record number runs. Close warns of sends that
// never did. Where one that was recorded later has run before, it is an error: the peer
// would take each for the other.
func (l *PeerLane) Ran(record uint64) error {
	l.ran.Add(1)
	for last := l.last.Load(); ; last = l.last.Load() {
		if record < last {
			return fmt.Errorf("number %d has gone before; messages go in the order in which they were recorded: evaluate them in that order, or together", last)
		}
		if l.last.CompareAndSwap(last, record) {
			return nil
		}
	}
}

// Abandon says that a recorded message, and those recorded with it, will never
// run. Nobody is told: a message is its sender's affair, and a receiver ends at
// its deadline.
func (l *PeerLane) Abandon(what string, reason error) { l.ran.Store(l.records.Load()) }

// forgotten counts the recorded messages of which nothing was heard again.
func (l *PeerLane) forgotten() uint64 {
	ran, records := l.ran.Load(), l.records.Load()
	return records - min(ran, records)
}

// Independent reports true: cancelling a message harms no other lane.
func (l *PeerLane) Independent() bool { return true }

// warnOfForgotten says in the log which sends were recorded and never evaluated: a
// peer may have waited for them in vain. In a broken group there is a reason that
// its user knows.
func (g *Group) warnOfForgotten() {
	if g.broken.Load() != nil {
		return
	}
	g.lanes.Range(func(key, lane any) bool {
		k, n := key.(laneKey), lane.(*PeerLane).forgotten()
		if k.send && n > 0 {
			g.logger.Warn("sends were recorded but never evaluated", "to", k.peer, "tag", k.tag, "number", n)
		}
		return true
	})
}
