//go:build cgo && mpi

package mpi

import (
	"log/slog"
	"sync"
	"time"
)

// job is what the world and all its splits share.
type job struct {
	timeout time.Duration // of the world's Close
	stall   time.Duration // the wait after which a call warns
	logger  *slog.Logger
	sharing bool // of memory, where ranks are on one host
	library bool // leaves sums to MPI's own reduction

	announced   int    // ranks, as the launcher says; 0 when it does not
	announcedBy string // the variable

	mu    sync.Mutex
	comms []*comm  // all that are not freed
	spare []*batch // of one transfer each
}

// single lends a batch of one transfer.
func (j *job) single() *batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.spare); n > 0 {
		b := j.spare[n-1]
		j.spare = j.spare[:n-1]
		return b
	}
	return newBatch(1)
}

// settle takes a batch back, complete or, after an error, for MPI to keep.
func (j *job) settle(b *batch, err error) {
	if err != nil {
		b.abandon()
		return
	}
	b.reset()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spare = append(j.spare, b)
}

func (j *job) add(c *comm) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.comms = append(j.comms, c)
}

// reap frees the splits that every member has closed.
func (j *job) reap() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var kept []*comm
	var first error
	for _, c := range j.comms {
		if !c.finished() {
			kept = append(kept, c)
		} else if err := c.free(); err != nil && first == nil {
			first = err
		}
	}
	j.comms = kept
	return first
}

// quiet closes every communicator for this rank and reports whether no call is
// inside one any more.
func (j *job) quiet() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	idle := true
	for _, c := range j.comms {
		idle = c.shut() == 0 && idle
	}
	return idle
}
