package shm

import (
	"runtime"
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

// The time that Spin takes is more than the kernel needs to wake a process on an
// idle core, so that two ranks that take turns never sleep.
const spinTime = 100 * time.Microsecond

const (
	// bareSpins is how often Spin looks before it lets other goroutines run.
	bareSpins = 2000
	// crowdedSpins is the same where that would keep those from running who are
	// waited for.
	crowdedSpins = 20
)

// Spin looks for a moment whether the fence becomes full, and reports that.
// crowded says that there are more processes than cores: then it makes way for
// them.
func (f *Fence) Spin(full uint64, crowded bool) bool {
	spins := bareSpins
	if crowded {
		spins = crowdedSpins
	}
	for range spins {
		if f.Full(full) {
			return true
		}
	}
	for end := time.Now().Add(spinTime); time.Now().Before(end); {
		runtime.Gosched()
		if crowded {
			yield()
		}
		if f.Full(full) {
			return true
		}
	}
	return false
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
