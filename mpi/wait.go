//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

const (
	burst       = 20               // µs of tests in C at a time while waiting is new
	idleBurst   = 5                // µs once pauses have begun
	spin        = time.Millisecond // making way for others between tests
	shortPause  = 20 * time.Microsecond
	longPause   = 4 * time.Millisecond
	announceAt  = 2 * time.Millisecond
	leaveGrace  = 100 * time.Millisecond
	breakMoment = 5 * time.Millisecond
	bulkBytes   = 64 << 10
)

// poller is something to wait for.
type poller interface {
	// poll tests for at most some microseconds.
	poll(micros int) (done bool, err error)
}

// wait says who waits for what.
type wait struct {
	op         string       // for the stall warning
	bytes      int          // to be moved: the more, the longer tests go on without pauses
	peer       int          // the only peer that matters, -1 for all
	collective bool         // tell the others after a while that this rank has come
	missing    func() []int // the ranks waited for
}

// await polls in bursts until p is done, ctx ends, or the communicator closes or
// breaks. Pauses are a sixteenth of what has been waited, so that they add no
// more than that. What is complete by the time that something else ends the wait
// counts as complete.
func (c *comm) await(ctx context.Context, p poller, w *wait) error {
	if done, err := p.poll(burst); done || err != nil {
		return err
	}
	start := time.Now()
	patience := spin + time.Duration(w.bytes)*5*time.Nanosecond
	micros, stalled := burst, false
	for {
		waited := time.Since(start)
		stop := c.interrupted(ctx, w, waited)
		if stop != nil {
			micros = 0
		}
		if done, err := p.poll(micros); done || err != nil {
			return err
		}
		if stop != nil {
			return stop
		}
		if waited < patience {
			runtime.Gosched()
			continue
		}
		pause := min(max(waited/16, shortPause), longPause)
		if micros = idleBurst; w.bytes >= bulkBytes {
			micros = int(pause.Microseconds())
		}
		if !stalled && waited > c.job.stall {
			stalled = true
			c.warnOfStall(w.op, w.missing(), waited)
		}
		time.Sleep(pause)
	}
}

func (c *comm) warnOfStall(op string, peers []int, waited time.Duration) {
	c.job.logger.Warn("stalled", "backend", "mpi", "rank", c.rank, "size", c.size, "op", op, "peers", peers, "waited", waited)
}

// interrupted is the reason to stop waiting, if there is one.
func (c *comm) interrupted(ctx context.Context, w *wait, waited time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.readNotices(); err != nil {
		return err
	}
	if err := c.health(); err != nil {
		return err
	}
	if w.collective && waited > announceAt && c.announced < c.number {
		c.announced = c.number
		c.post(noticeArrived, c.number, "")
	}
	if err := c.deserted(w); err != nil {
		return err
	}
	return ended(ctx)
}

var errLeft = errors.New("has closed the group")

// deserted tells that a rank waited for has said goodbye, once what it sent
// before has had time to come. Who says so in the world still takes part in its
// last collective, Close.
func (c *comm) deserted(w *wait) error {
	if c.world && w.peer < 0 {
		return nil
	}
	for rank, since := range c.left {
		if (w.peer < 0 || w.peer == rank) && !since.IsZero() && time.Since(since) > leaveGrace {
			return &group.PeerError{Rank: rank, Err: errLeft}
		}
	}
	return nil
}
