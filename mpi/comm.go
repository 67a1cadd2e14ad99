//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
	"github.com/lockstep-go/lockstep/internal/turn"
)

// The tags of the channel of collectives.
const (
	tagCard = iota
	tagOriginal
	tagResult
	tagNotice
)

// comm is one rank's end of the world or of a split.
type comm struct {
	job        *job
	world      bool
	rank, size int
	messages   handle // Send and Recv
	channel    handle // collectives and notices, whose tags users cannot meet
	tagLimit   int

	turn turn.Turn // held by the collective that runs, which owns what follows

	number      uint64 // of the current one, from 1
	fingerprint []byte // what Next said of the coming one
	text        string
	cards       cards
	transfers   *batch
	shared      *onehost.Sharing // nil where messages are used

	mu        sync.Mutex
	closed    bool
	closing   bool               // the world's Close has begun
	active    int                // calls inside
	broken    *group.BrokenError // nil while whole
	arrived   []uint64           // the collective that each rank last said to wait in
	left      []time.Time        // when each rank's goodbye was read; zero before
	outbox    []*batch           // notices under way
	announced uint64             // the collective that this rank last said to wait in
	notice    []byte             // room for one
}

// newComm takes over two handles with the same members.
func newComm(j *job, messages, channel handle, rank, size int) (*comm, error) {
	limit, err := tagLimit()
	if err != nil {
		return nil, err
	}
	c := &comm{
		turn: turn.New(), job: j, rank: rank, size: size, messages: messages, channel: channel, tagLimit: limit,
		transfers: newBatch(4 * inFlight),
		arrived:   make([]uint64, size), left: make([]time.Time, size), notice: make([]byte, noticeRoom),
	}
	j.add(c)
	return c, nil
}

// Rank is this process's number among the members.
func (c *comm) Rank() int { return c.rank }

// Size is the number of members.
func (c *comm) Size() int { return c.size }

// enter admits a call; leave is due when it succeeds.
func (c *comm) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.health(); err != nil {
		return err
	}
	c.active++
	return nil
}

// stay is enter for what outlasts the call that is inside.
func (c *comm) stay() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active++
}

func (c *comm) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active--
	c.letGo()
}

// health is what stands against any call, under the lock.
func (c *comm) health() error {
	switch {
	case c.closed:
		return group.ErrClosed
	case c.broken != nil:
		return c.broken
	}
	return nil
}

// Break makes pending and later calls fail here and at every member.
func (c *comm) Break(reason error) { c.breakBy(c.rank, reason, true) }

// breakBy records the first reason and, if wanted, tells the others.
func (c *comm) breakBy(rank int, reason error, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.broken != nil {
		return
	}
	c.broken = &group.BrokenError{By: rank, Reason: reason}
	defer c.letGo()
	if tell {
		c.post(noticeBroken, 0, reason.Error())
		c.flush(breakMoment)
	}
}

// explain names the call and the ranks that it still waits for.
func explain(op string, missing []int, err error) error {
	var broken *group.BrokenError
	var peer *group.PeerError
	if len(missing) == 0 || errors.As(err, &broken) || errors.As(err, &peer) || errors.Is(err, group.ErrClosed) {
		return fmt.Errorf("mpi: %s: %w", op, err)
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	what := "has not come"
	for _, rank := range missing[1:] {
		what += fmt.Sprintf(", nor rank %d", rank)
	}
	return &group.PeerError{Op: "mpi: " + op, Rank: missing[0], Err: fmt.Errorf("%s: %w", what, err)}
}

// ended is why ctx is over, nil while it is not.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
