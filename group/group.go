package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultTimeout        = 10 * time.Minute
	defaultConnectTimeout = time.Minute
	defaultStall          = time.Minute
)

var errOutside = errors.New("this rank sat the split out (NoColor) and has no group here")

// Group is one rank's place in a set of ranks that work in step. It is safe for
// use from several goroutines: collectives run one at a time, Send and Recv one
// at a time for the same peer, tag and direction. All ranks must call the same
// collectives in the same order; goroutines that cannot agree on one order use
// one Split each.
//
// Once a call has passed its own checks, a failure breaks the group: a lost
// peer, a disagreement, the end of a context. Every later call, here and where
// the backend can tell them at the peers, returns a *BrokenError with the reason.
// A received message of another type, shape or length does not break the group.
//
// A group of one communicates with nobody and never fails for reasons outside
// the call. A group of size 0 is what Split gives a rank with NoColor: every
// operation on it is an error.
//
// Functions that take a group, here and in packages above, take nil for the default
// group. The methods are not for a nil *Group.
type Group struct {
	comm       Communicator // nil in groups of one or none that need no closing
	rank, size int
	backend    string
	id         string // the same on every rank of the group, on no other group
	world      []int  // world ranks by rank; nil when they are the same

	timeout time.Duration
	stall   time.Duration
	logger  *slog.Logger // with the group's attributes
	base    *slog.Logger // without them, for splits

	place  place  // where collectives take turns
	runs   uint64 // collectives run so far; guarded by place
	splits uint64 // splits so far; guarded by place

	fingerprint [fingerprintBytes]byte // of the collective that is running; guarded by place
	background  queue
	federating  sync.Mutex
	federation  *federation     // nil before the first average; guarded by federating
	life        context.Context // ends with Close
	end         context.CancelFunc

	records atomic.Uint64
	counts  counts
	origin  string                      // what in the environment Init went by; empty for groups made otherwise
	lanes   sync.Map                    // laneKey to *PeerLane
	recent  [2]atomic.Pointer[PeerLane] // the lanes last sent to and received from

	broken  atomic.Pointer[BrokenError]
	closed  atomic.Bool
	left    sync.Once
	leaving error // what closing the communicator returned; set by left
}

var single = &Group{size: 1, backend: "single", id: "single"}

// Single returns the group of one, which is the same for all callers.
func Single() *Group { return single }

// New makes a group of a communicator, which then belongs to the group: Close
// closes it. All settings are those of an empty Config. Worlds whose ranks live
// in one process are made this way.
func New(comm Communicator) *Group { return NewWith(comm, Config{}) }

// NewWith is New with a backend name, a timeout and a logger from cfg.
func NewWith(comm Communicator, cfg Config) *Group {
	g := &Group{
		comm:    comm,
		rank:    comm.Rank(),
		size:    comm.Size(),
		backend: cmp.Or(cfg.Backend, "custom"),
		id:      "world",
		timeout: cmp.Or(max(cfg.Timeout, 0), defaultTimeout),
		stall:   defaultStall,
		base:    cmp.Or(cfg.Logger, slog.Default()),
		place:   newPlace(),
	}
	g.life, g.end = context.WithCancel(context.Background())
	if g.size == 1 {
		g.backend = single.backend
	}
	g.logger = g.base.With("rank", g.rank, "size", g.size, "backend", g.backend)
	return g
}

// Rank is this rank's number in the group, from 0 to Size-1; -1 in a group of
// size 0.
func (g *Group) Rank() int { return g.rank }

// Size is the number of ranks.
func (g *Group) Size() int { return g.size }

// IsLeader reports whether this is rank 0.
func (g *Group) IsLeader() bool { return g.rank == 0 }

// Backend is the name of the backend that carries the group: "single" for every
// group of one, "none" for a group of size 0.
func (g *Group) Backend() string { return g.backend }

// Communicator is what carries the group; nil where there is none. Calls on it
// bypass the group's order, checks and deadlines.
func (g *Group) Communicator() Communicator { return g.comm }

// Close leaves the group and closes its communicator, which may wait for what
// was sent to be flushed and, on MPI, for the other ranks. Calls that are
// running end with an error; later ones return ErrClosed. The log names sends
// that were recorded but never evaluated. A second Close
// returns what the first did. Closing a group of one ends nothing but its
// communicator.
func (g *Group) Close() error {
	if g.comm == nil {
		return nil
	}
	if !g.closed.Swap(true) {
		g.warnOfForgotten()
		g.end()
	}
	if last := g.background.tail(); last != nil {
		<-last.done
	}
	g.unfederate()
	return g.leave()
}

// leave closes the communicator once; later callers wait until it is closed.
func (g *Group) leave() error {
	g.left.Do(func() { g.leaving = g.comm.Close() })
	return g.leaving
}

// usable returns the reason why nothing can run on the group, if there is one.
func (g *Group) usable() error {
	switch {
	case g.size == 0:
		return errOutside
	case g.size == 1:
		return nil
	case g.closed.Load():
		return ErrClosed
	}
	if b := g.broken.Load(); b != nil {
		return b
	}
	return nil
}

// shatter breaks the group for its later calls and, as far as the backend can,
// for the peers. Only the first reason counts.
func (g *Group) shatter(reason error) {
	if !g.broken.CompareAndSwap(nil, &BrokenError{By: -1, Reason: reason}) {
		return
	}
	g.logger.Debug("group broken", "reason", reason)
	if b, ok := g.comm.(Breaker); ok {
		b.Break(reason)
		return
	}
	go g.leave() // Close waits for it
}

// fail breaks the group after a call that went wrong and returns the error for
// its caller.
func (g *Group) fail(what call, err error) error {
	if g.closed.Load() {
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
	if b := g.broken.Load(); b != nil && errors.Is(err, ErrClosed) {
		err = b
	}
	err = g.explain(what, err)
	var told *BrokenError
	if errors.As(err, &told) {
		g.broken.CompareAndSwap(nil, told)
	} else {
		g.shatter(err)
	}
	return err
}

// explain adds to err what was being done and, in a split, the peer's rank in
// the world.
func (g *Group) explain(what call, err error) error {
	var peer *PeerError
	if errors.As(err, &peer) {
		if peer == err && peer.Op == "" {
			named := *peer
			named.Op = what.String()
			err = &named
		}
		if r := peer.Rank; r >= 0 && r < g.size && g.worldRank(r) != r {
			err = fmt.Errorf("%w (rank %d is world rank %d)", err, r, g.worldRank(r))
		}
	}
	return within(what, err)
}

// timeoutError is the cause of a context that the group's own timeout ended.
type timeoutError time.Duration

func (t timeoutError) Error() string { return "timeout after " + time.Duration(t).String() }

func (t timeoutError) Unwrap() error { return context.DeadlineExceeded }

// Timeout reports true, as net.Error wants it.
func (t timeoutError) Timeout() bool { return true }
