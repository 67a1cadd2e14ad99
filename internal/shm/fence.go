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

// Company is who else needs the cores while someone waits.
type Company int

const (
	// Spread: every process has a core.
	Spread Company = iota
	// Crowded: there are more processes than cores.
	Crowded
	// Together: some of those who wait for each other are goroutines of one
	// process, and there may be more of them than cores.
	Together
)

const (
	// bareTime is more than two processes that take turns on cores of their own
	// need to answer each other.
	bareTime = 50 * time.Microsecond
	// spinTime is how long to make way for others before it is better to sleep.
	// Two that have come to share a core take turns like this until the kernel
	// moves one, which it does not do to sleepers.
	spinTime = time.Millisecond
)

// spins is how often Spin looks before it looks at the clock.
var spins = [...]int{Spread: 1000, Crowded: 20, Together: 20}

// Spin looks for a while whether the fence becomes full, and reports that.
// Meanwhile it makes way for others as the company demands.
func (f *Fence) Spin(full uint64, company Company) bool {
	var start time.Time
	for {
		for range spins[company] {
			if f.Full(full) {
				return true
			}
		}
		now := time.Now()
		if start.IsZero() {
			start = now
		}
		spun := now.Sub(start)
		if spun >= spinTime {
			return false
		}
		company.makeWay(spun)
	}
}

// makeWay lets other goroutines run only where it must: that wakes threads, which
// then want a core too.
func (c Company) makeWay(spun time.Duration) {
	if c == Together {
		runtime.Gosched()
	}
	if c != Spread || spun > bareTime {
		yield()
	}
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
