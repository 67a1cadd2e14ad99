//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
	gompi "github.com/sbromberger/gompi"
)

// Close leaves. A split says goodbye and is done: MPI's memory of it goes once
// all members have left. The world waits for every rank's Close, at most for the
// operation timeout, and finalises MPI. A broken world is not finalised: the
// error says why, and the end of this process then ends the job.
func (c *comm) Close() error {
	if c.isClosed() {
		return nil
	}
	if !c.world {
		c.goodbye()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.job.timeout)
	defer cancel()
	c.announceClose()
	err := c.collective(ctx, call{name: nameClose}, body{memory: (*onehost.Sharing).Barrier})
	if errors.Is(err, group.ErrClosed) {
		return nil
	}
	if err != nil {
		c.shut()
		return fmt.Errorf("%w (MPI is not finalised)", err)
	}
	return c.finalise(ctx)
}

// announceClose tells the world's ranks, which may wait for a message from this
// one, that none will come.
func (c *comm) announceClose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && c.broken == nil && !c.closing {
		c.closing = true
		c.post(noticeGoodbye, 0, "")
	}
}

func (c *comm) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// goodbye closes a split here and tells its members.
func (c *comm) goodbye() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.letGo()
	c.post(noticeGoodbye, 0, "")
}

// shut makes every later call fail, and pending ones soon, and counts those.
func (c *comm) shut() (active int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.letGo()
	return c.active
}

// finalise ends MPI once no call is inside it any more.
func (c *comm) finalise(ctx context.Context) error {
	for !c.job.quiet() {
		if err := ended(ctx); err != nil {
			return fmt.Errorf("mpi: close: calls are still running: %w (MPI is not finalised)", err)
		}
		time.Sleep(shortPause)
	}
	gompi.Stop()
	if now, err := state(); err != nil || !now.finalised {
		return fmt.Errorf("mpi: close: MPI is not finalised: %w", errors.Join(err, errNotFinalised))
	}
	return nil
}

var errNotFinalised = errors.New("MPI_Finalize failed")

// finished reports whether nobody uses this split any more: all members have
// said goodbye and nothing is under way. A broken one is never finished, as MPI
// may still work for it.
func (c *comm) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.world || !c.closed || c.broken != nil || c.active > 0 {
		return false
	}
	if err := c.readNotices(); err != nil || len(c.outbox) > 0 {
		return false
	}
	for rank, since := range c.left {
		if rank != c.rank && since.IsZero() {
			return false
		}
	}
	return true
}

// free gives back what a finished split holds.
func (c *comm) free() error {
	c.transfers.free()
	c.cards.pin.Unpin()
	return errors.Join(release(c.messages), release(c.channel))
}
