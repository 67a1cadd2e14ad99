package shm

import (
	"sync/atomic"
	"time"
)

// Fence is where processes wait for each other, again and again. Each passing is
// known by how many arrivals there have been in all: with n processes the k-th
// one, counted from 1, is full at n×k. A process waits for one passing before it
// arrives for the next. A zero Fence is ready for use.
type Fence struct {
	arrivals atomic.Uint64
	_        [Line - 8]byte
	sleepers atomic.Uint32
	_        [Line - 4]byte
}

// Arrive counts this process in. The last one, whose arrival makes it full, wakes
// the others. What it wrote before is seen by those who have waited.
func (f *Fence) Arrive(full uint64) {
	if f.arrivals.Add(1) == full && f.sleepers.Load() != 0 {
		wake(&f.arrivals)
	}
}

// Full reports whether all have arrived.
func (f *Fence) Full(full uint64) bool { return f.arrivals.Load() >= full }

// missing is how many processes have not arrived.
func (f *Fence) missing(full uint64) int { return int(full - min(full, f.arrivals.Load())) }

// Spin looks for a while whether the fence becomes full, and reports that.
func (f *Fence) Spin(full uint64, s *Spinner) bool {
	return f.Full(full) || s.Spin(func() int { return f.missing(full) })
}

// Sleep waits until the fence is full, but at most for the time d; Poke may end it
// sooner. The kernel puts the caller's thread to sleep, not only the goroutine.
func (f *Fence) Sleep(full uint64, d time.Duration) {
	f.sleepers.Add(1)
	defer f.sleepers.Add(^uint32(0))
	if seen := f.arrivals.Load(); seen < full {
		sleep(&f.arrivals, seen, d)
	}
}

// Poke has all that sleep look again.
func (f *Fence) Poke() { wake(&f.arrivals) }
