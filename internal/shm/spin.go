package shm

import (
	"runtime"
	"time"
)

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

// Spin looks for a while, about a millisecond, whether another process has made
// something ready, and reports that. Meanwhile it makes way for others as the
// company demands.
func Spin(ready func() bool, company Company) bool {
	var start time.Time
	for {
		for range spins[company] {
			if ready() {
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
