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

// Spinner waits by looking, and learns whether that works: whose peers answer only
// once it has made way has come to share a core with them, and makes way sooner
// next time. One goroutine at a time uses it. The zero Spinner has cores enough.
type Spinner struct {
	Company Company
	Cores   int           // how many the processes of a crowd have; 0 when that is not known
	hurry   time.Duration // by how much less than bareTime it looks without making way
}

const (
	// bareTime is more than two processes that take turns on cores of their own
	// need to answer each other.
	bareTime = 50 * time.Microsecond
	// spinTime is how long to make way for others before it is better to sleep.
	// Two that have come to share a core take turns like this until the kernel
	// moves one, which it does not do to sleepers.
	spinTime = time.Millisecond
)

// spins is how often Spin looks before it makes way. In a crowd it takes as long as
// another process takes to get the core and give it back.
var spins = [...]int{Spread: 1000, Crowded: 300, Together: 20}

// clocks is how often Spin makes way before it asks how late it is.
var clocks = [...]int{Spread: 1, Crowded: 16, Together: 1}

// Spin looks for a while, about a millisecond, whether other processes have made
// something ready, and reports that; missing is how many of them have not.
// Meanwhile it makes way for others as the company demands.
func (s *Spinner) Spin(missing func() int) bool {
	var start time.Time
	made := false
	for ways := 0; ; ways++ {
		if s.look(missing) {
			s.learn(made)
			return true
		}
		spun := time.Duration(0)
		if ways%clocks[s.Company] == 0 {
			now := time.Now()
			if start.IsZero() {
				start = now
			}
			if spun = now.Sub(start); spun >= spinTime {
				return false
			}
		}
		made = s.makeWay(spun) || made
	}
}

// look looks some times, but not when those that are missing want this core: when
// they cannot all be running on others.
func (s *Spinner) look(missing func() int) bool {
	for range spins[s.Company] {
		switch n := missing(); {
		case n == 0:
			return true
		case s.Company == Crowded && s.Cores > 0 && n >= s.Cores:
			return false
		}
	}
	return false
}

// learn halves the time without making way, or doubles it up to bareTime.
func (s *Spinner) learn(madeWay bool) {
	bare := bareTime - s.hurry
	if madeWay {
		bare /= 2
	} else {
		bare *= 2
	}
	s.hurry = bareTime - min(max(bare, time.Microsecond), bareTime)
}

// makeWay lets other goroutines run only where it must: that wakes threads, which
// then want a core too.
func (s *Spinner) makeWay(spun time.Duration) bool {
	if s.Company == Together {
		runtime.Gosched()
	}
	if s.Company == Spread && spun <= bareTime-s.hurry {
		return false
	}
	yield()
	return true
}
