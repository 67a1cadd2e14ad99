package ring

import (
	"slices"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// dispute is a collective about which the ranks disagree. Whoever finds out tells
// all others what it called; whoever hears of it, or begins that collective later,
// does the same.
type dispute struct {
	sequence uint64
	texts    []string // by rank
	heard    []bool
	missing  int
	full     chan struct{} // closed once nothing is missing
	settled  bool          // this rank's collective has returned the mismatch
}

// disputeLocked returns the dispute, opening it if need be. A group has at most
// one: it breaks with it.
func (c *comm) disputeLocked(sequence uint64) *dispute {
	if c.dispute == nil {
		n := len(c.ranks)
		c.dispute = &dispute{sequence: sequence, texts: make([]string, n), heard: make([]bool, n), missing: n, full: make(chan struct{})}
		close(c.opened)
	}
	return c.dispute
}

func (d *dispute) add(rank int, text string) (added bool) {
	if d.heard[rank] {
		return false
	}
	d.heard[rank], d.texts[rank] = true, text
	if d.missing--; d.missing == 0 {
		close(d.full)
	}
	return true
}

// disagree opens the dispute about a collective that has begun here, or joins it.
func (c *comm) disagree(sequence uint64) {
	c.mu.Lock()
	d, text := c.disputeLocked(sequence), c.latest.String()
	added := d.add(c.rank, text)
	c.mu.Unlock()
	if added {
		c.tell(notice{kind: differs, number: d.sequence, text: text})
	}
}

// heardText notes what a peer called, and tells what this rank did.
func (c *comm) heardText(r int, m notice) {
	c.mu.Lock()
	d := c.disputeLocked(m.number)
	d.add(r, m.text)
	begun := c.sequence >= d.sequence
	c.mu.Unlock()
	if begun {
		c.disagree(m.number)
		c.interrupt()
	}
}

// disputed reports whether the collective with this number, or an earlier one, is
// in dispute and this rank has not said so yet.
func (c *comm) disputed(sequence uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dispute != nil && sequence >= c.dispute.sequence && !c.dispute.settled
}

// settle returns the mismatch with what every rank called, as far as they say so
// in time, and breaks the group.
func (c *comm) settle(x *exchange) error {
	c.disagree(x.head.sequence)
	c.mu.Lock()
	d := c.dispute
	c.mu.Unlock()
	timer := time.NewTimer(graceTime)
	defer timer.Stop()
	select {
	case <-d.full:
	case <-timer.C:
	}
	c.mu.Lock()
	d.settled = true
	err := &group.MismatchError{Calls: slices.Clone(d.texts)}
	c.mu.Unlock()
	return c.giveUp(-1, err)
}
