package ring

import (
	"fmt"
	"slices"
	"time"
)

// tell queues a notice for a rank. It does not wait.
func (n *node) tell(rank int, m notice) {
	if k := n.controls[rank].Load(); k != nil {
		k.post(posting{notice: m})
	}
}

// flushTime is how long announce waits for the system to take what it sends.
const flushTime = 50 * time.Millisecond

// announce tells ranks of an end, and returns when the system has the notices: a
// program may exit on the error that it is about to get, and its peers shall not
// take that for the cause.
func (n *node) announce(ranks []int, m notice) {
	sent := make(chan struct{}, len(ranks))
	waiting := 0
	for _, r := range ranks {
		if k := n.controls[r].Load(); k != nil && k.post(posting{m, sent}) {
			waiting++
		}
	}
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	for range waiting {
		select {
		case <-sent:
		case <-timer.C:
			return
		}
	}
}

// heard acts on a notice. It never waits for a peer.
func (n *node) heard(from int, m notice) {
	switch m.kind {
	case lost:
		n.heardOfLoss(from, m)
		return
	case asks:
		n.tell(from, n.progress(m.group))
		return
	case listens:
		n.prefer(from, m.number)
		n.claims(from, decodeClaim(m.text))
		return
	case goodbye:
		if m.group == n.root.id {
			n.depart(from)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.deliver(m.group, event{from: from, notice: m}); err != nil {
		n.log.Debug("ring: notice dropped", "peer", from, "err", err)
	}
}

// progress answers how far a group has come here.
func (n *node) progress(id groupID) notice {
	n.mu.Lock()
	c := n.comms[id]
	n.mu.Unlock()
	answer := notice{kind: answers, group: id}
	if c != nil {
		answer.number, answer.text = c.progress()
	}
	return answer
}

// depart notes that a rank has said goodbye to the world.
func (n *node) depart(rank int) {
	n.mu.Lock()
	n.departed[rank] = true
	n.mu.Unlock()
	for _, c := range n.groups() {
		if r := c.member(rank); r >= 0 {
			c.farewell(r)
		}
	}
}

// hungUp is called when a control connection has ended. Only after a goodbye
// that is in order. While the world is being formed a rank that gives up may end a
// connection before it has said why on it: the one that made it give up tells this
// rank too, which gets time to do so.
func (n *node) hungUp(rank int, err error) {
	select {
	case <-n.formed:
	case <-n.root.life.Done():
	case <-time.After(graceTime):
	}
	n.mu.Lock()
	fine := n.departed[rank] || n.closing
	n.mu.Unlock()
	if !fine {
		n.lose(rank, fmt.Errorf("died or cannot be reached: %w", err))
	}
}

// heardOfLoss believes a rank that another one is gone. When that other one is
// this rank, the two have lost each other.
func (n *node) heardOfLoss(from int, m notice) {
	gone, err := int(m.rank), fmt.Errorf("rank %d of the world says: %s", from, m.text)
	if gone >= n.size {
		return
	}
	if gone == n.rank {
		gone, err = from, fmt.Errorf("it has lost this rank: %s", m.text)
	}
	n.lose(gone, err)
}

// lose breaks every group that holds a rank that is gone, and tells all others,
// whose own connections to it may look well.
func (n *node) lose(rank int, err error) {
	n.mu.Lock()
	known := n.lost[rank] != nil || n.departed[rank] || n.closing
	if !known {
		n.lost[rank] = err
	}
	n.mu.Unlock()
	if known {
		return
	}
	n.log.Debug("ring: rank lost", "peer", rank, "err", err)
	groups := n.groups()
	each := func(do func(*comm, fault)) {
		for _, c := range groups {
			if r := c.member(rank); r >= 0 {
				do(c, fault{peer: r, by: -1, err: err})
			}
		}
	}
	each((*comm).blame)
	others := slices.DeleteFunc(everyone(n.size), func(r int) bool { return r == rank })
	n.announce(others, notice{kind: lost, group: n.root.id, rank: uint32(rank), text: err.Error()})
	each((*comm).lose)
}
