package ring

import "time"

// What package onehost asks of a collective under way.

// Identity is the call's number and fingerprint.
func (x *exchange) Identity() (sequence uint64, fingerprint [16]byte) {
	return x.head.sequence, x.head.fingerprint
}

// Over is why x must end now, nil while it may go on.
func (x *exchange) Over() error {
	if x.comm.steps.Err() != nil {
		return errEnded
	}
	return x.over()
}

// Late notes whom x waits for, and is an error when that one has left the group.
func (x *exchange) Late(isLate func(place int) bool) error {
	c := x.comm
	home := c.home()
	x.waiting = -1
	for place, r := range home.ranks {
		p := c.peers[r]
		if p == nil || !isLate(place) {
			continue
		}
		if x.waiting < 0 {
			x.waiting = r
		}
		if p.hasLeft() && isLate(place) {
			return &linkError{r, errLeft}
		}
	}
	return nil
}

// Rest is how long x may sleep at most.
func (x *exchange) Rest(longest time.Duration) time.Duration { return x.rest(longest) }

// home is the members of the group on this host.
func (c *comm) home() *circle {
	if c.levels != nil {
		return c.levels.host
	}
	return c.everyone
}

// hasLeft reports whether the peer has said goodbye.
func (p *peer) hasLeft() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}
