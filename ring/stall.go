package ring

import (
	"fmt"
	"time"
)

// watch warns, as long as the world lasts, of collectives that wait for long.
func (n *node) watch() {
	ticker := time.NewTicker(max(n.cfg.StallWarning/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for _, c := range n.groups() {
				c.warnOfStall()
			}
		case <-n.life.Done():
			return
		}
	}
}

// warnOfStall warns once of a collective under way that has waited too long, and
// says for whom.
func (c *comm) warnOfStall() {
	began, call, stalled := c.stalled()
	if !stalled {
		return
	}
	absent, silent := c.census(call.sequence)
	c.mu.Lock()
	over := !c.running || c.sequence != call.sequence || c.life.Err() != nil
	c.warned = call.sequence
	c.mu.Unlock()
	if over {
		return
	}
	text := "all ranks have come and it does not end"
	if len(absent)+len(silent) > 0 {
		text = c.missing(absent, silent)
	}
	c.node.log.Warn(fmt.Sprintf("ring: %s has waited for %v: %s", call, time.Since(began).Round(time.Millisecond), text),
		"op", callNames[call.kind], "sequence", call.sequence, "missing", absent, "silent", silent)
}

// stalled returns the collective under way, since when it has been seen to be, and whether
// there is to be a warning.
func (c *comm) stalled() (began time.Time, call numbered, stalled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running || c.warned == c.sequence || c.life.Err() != nil {
		return began, call, false
	}
	if c.seen != c.sequence {
		c.seen, c.since = c.sequence, time.Now()
	}
	began = c.since
	return began, c.latest, time.Since(began) >= c.node.cfg.StallWarning
}
