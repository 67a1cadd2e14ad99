package group

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// NextRecord numbers a recorded collective of this group: 1 for the first, then
// counting up. It is for lazy evaluation, which runs collectives in the order of
// these numbers. Safe for concurrent use.
func (g *Group) NextRecord() uint64 { return g.records.Add(1) }

// Abandon says that a recorded collective will never run here: what names it,
// such as "all_sum #17", and reason says why; its number does not matter. It breaks
// the group, so that peers that wait for this rank learn the reason, and does not wait
// for them. It does nothing in groups of one or none and in one that is broken or closed.
func (g *Group) Abandon(_ uint64, what string, reason error) {
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
	key     laneKey
	place   place        // where they take turns
	cut     error        // why no further message can pass; guarded by place
	head    []byte       // room for a header; guarded by place
	dims    [maxDims]int // room for a shape; guarded by place
	records atomic.Uint64

	mu      sync.Mutex
	settled uint64              // of the records up to this one every one ran or never will
	beyond  map[uint64]struct{} // those after it of which the same is known
	last    uint64              // the highest number among those that ran
}

// PeerLane returns the lane of messages that are sent to peer, or received from
// it, with the given tag: the same pointer for the same arguments.
func (g *Group) PeerLane(peer, tag int, send bool) *PeerLane {
	key := laneKey{peer, tag, send}
	recent := &g.recent[0]
	if send {
		recent = &g.recent[1]
	}
	if l := recent.Load(); l != nil && l.key == key {
		return l
	}
	l := g.laneOf(key)
	recent.Store(l)
	return l
}

func (g *Group) laneOf(key laneKey) *PeerLane {
	if l, ok := g.lanes.Load(key); ok {
		return l.(*PeerLane)
	}
	l, _ := g.lanes.LoadOrStore(key, &PeerLane{key: key, place: newPlace(), beyond: map[uint64]struct{}{}})
	return l.(*PeerLane)
}

// room is where the two parts of a message's header lie, whose turn it is.
func (l *PeerLane) room() (first, rest []byte) {
	if l.head == nil {
		l.head = make([]byte, headerBytes+allDims)
	}
	return l.head[:headerBytes], l.head[headerBytes:]
}

// NextRecord numbers a recorded message of this lane from 1. Safe for
// concurrent use.
func (l *PeerLane) NextRecord() uint64 { return l.records.Add(1) }

// Ran says that the recorded message with this number runs now. It is an error where that
// would have the peer take one message for another: when one that was recorded before has
// neither run nor been given up, and when one that was recorded later has run. Then the
// message counts as given up.
func (l *PeerLane) Ran(record uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.settled + 1
	l.settle(record)
	switch {
	case record < l.last:
		return fmt.Errorf("number %d has gone before; %s", l.last, inOrder)
	case record > waiting:
		return fmt.Errorf("number %d was recorded before and has not been evaluated; %s", waiting, inOrder)
	}
	l.last = record
	return nil
}

const inOrder = "messages go in the order in which they were recorded: evaluate them in that order, or together"

// Abandon says that a recorded message will never run. Nobody is told: a message is its
// sender's affair, and a receiver ends at its deadline.
func (l *PeerLane) Abandon(record uint64, what string, reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(record)
}

func (l *PeerLane) settle(record uint64) {
	if record <= l.settled {
		return
	}
	l.beyond[record] = struct{}{}
	for {
		if _, next := l.beyond[l.settled+1]; !next {
			return
		}
		l.settled++
		delete(l.beyond, l.settled)
	}
}

// forgotten counts the recorded messages of which nothing was heard again.
func (l *PeerLane) forgotten() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.records.Load() - l.settled - uint64(len(l.beyond))
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
