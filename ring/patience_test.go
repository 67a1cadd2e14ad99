package ring

import (
	"testing"
	"time"
)

// waits plays waits in which what is waited for comes soon, or not while there are
// looks, and counts those in which it came before sleep.
func waits(p *patience, n int, soon bool) (awake int) {
	for range n {
		looked := p.look()
		if looked && !soon {
			p.since = p.since.Add(-lookTime)
			looked = p.look()
		}
		if looked {
			awake++
		}
		p.moved()
	}
	return awake
}

func TestPatience(t *testing.T) {
	p := newPatience(false)
	if got := waits(p, 100, true); got != 100 {
		t.Errorf("peers that answer soon: %d of 100 waits without sleep", got)
	}
	if waits(p, 20, false); p.trust != 0 {
		t.Errorf("trust %d after many looks in vain", p.trust)
	}
	if got := waits(p, fewTries-1, true); got == fewTries-1 {
		t.Error("looks go on without trust")
	}
	if got := waits(p, 2*fewTries, true); got < fewTries {
		t.Errorf("peers that answer soon again: %d of %d waits without sleep", got, 2*fewTries)
	}
}

func TestPatienceInACrowd(t *testing.T) {
	if got := waits(newPatience(true), 1000, true); got != 0 {
		t.Errorf("%d looks, want none", got)
	}
}

func TestALookThatLostItsProcessorDidNotPay(t *testing.T) {
	p := newPatience(false)
	p.look()
	p.since = p.since.Add(-time.Second)
	if p.moved(); p.trust != 0 {
		t.Errorf("trust %d, want none", p.trust)
	}
}
