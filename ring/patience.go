package ring

import "time"

// patience decides how often a collective looks for what its peers send before it
// sleeps. Looking is quicker while the peer is at work on another processor, and
// worse than nothing while it waits for one: so patience goes by how it went
// before. One goroutine at a time uses it.
type patience struct {
	crowded bool // ranks take turns on fewer processors: looking never pays
	trust   int  // grows as looking pays; without it, looking is only tried now and then
	skipped int  // waits without a look

	waiting, looking bool
	since            time.Time // of looking
}

const (
	// lookTime is more than a peer takes to answer that has to be woken first: two
	// that have come to sleep would else never find out that looking pays.
	lookTime = 150 * time.Microsecond
	// longLook is longer unless the processor was lost meanwhile.
	longLook  = time.Millisecond
	mostTrust = 8
	distrust  = 4
	fewTries  = 64
)

func newPatience(crowded bool) *patience { return &patience{crowded: crowded, trust: distrust} }

// look reports whether to look once more instead of going to sleep.
func (p *patience) look() bool {
	if !p.waiting {
		p.begin()
	}
	if p.looking && time.Since(p.since) < lookTime {
		return true
	}
	p.learn(false)
	return false
}

// begin begins a wait.
func (p *patience) begin() {
	p.waiting = true
	if p.crowded {
		return
	}
	if p.trust == 0 {
		if p.skipped++; p.skipped < fewTries {
			return
		}
		p.skipped = 0
	}
	p.looking, p.since = true, time.Now()
}

// moved ends the wait under way, if there is one: something has come.
func (p *patience) moved() {
	if p.looking {
		p.learn(time.Since(p.since) < longLook)
	}
	p.waiting = false
}

// learn notes whether looking paid, once for each wait.
func (p *patience) learn(paid bool) {
	switch {
	case !p.looking:
	case paid:
		p.trust = min(p.trust+1, mostTrust)
	default:
		p.trust = max(p.trust-distrust, 0)
	}
	p.looking = false
}
