//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
)

// lookTime is how often a rank that sleeps in shared memory looks for notices and
// the end of its context; whoever it waits for wakes it.
const lookTime = 10 * time.Millisecond

// inMemory is a collective in shared memory, as package onehost asks of it.
type inMemory struct {
	comm    *comm
	ctx     context.Context
	number  uint64
	hash    [16]byte
	op      func() string
	began   time.Time // of waiting; zero until then
	stalled bool
}

// Identity is the collective's number and hash.
func (x *inMemory) Identity() (sequence uint64, fingerprint [16]byte) { return x.number, x.hash }

// Over is why the collective must end now.
func (x *inMemory) Over() error {
	if x.began.IsZero() {
		x.began = time.Now()
	}
	return x.comm.ready(x.ctx)
}

// Late warns when the wait has become long, and refuses to wait for a rank that
// has left.
func (x *inMemory) Late(isLate func(rank int) bool) error {
	c := x.comm
	if waited := time.Since(x.began); !x.stalled && waited > c.job.stall {
		x.stalled = true
		c.warnOfStall(x.op(), c.shared.Missing(), waited)
	}
	if c.world {
		return nil // whose goodbyes come before its last collective
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for rank, since := range c.left {
		if !since.IsZero() && isLate(rank) {
			return &group.PeerError{Rank: rank, Err: errLeft}
		}
	}
	return nil
}

// Rest is how long to sleep.
func (x *inMemory) Rest(longest time.Duration) time.Duration { return min(longest, lookTime) }

// runInMemory runs a collective in shared memory.
func (c *comm) runInMemory(x *inMemory, run func(s *onehost.Sharing, x onehost.Call) error) error {
	err := run(c.shared, x)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, onehost.ErrDiffers):
		return c.disagreement(x.ctx, x.op())
	}
	return explain(x.op(), c.shared.Missing(), err)
}

// letGo unmaps shared memory once no call can come any more, under the lock.
func (c *comm) letGo() {
	if c.active == 0 && (c.closed || c.broken != nil) {
		c.shared.Close()
		c.shared = nil
	}
}
