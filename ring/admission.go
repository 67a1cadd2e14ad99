package ring

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// How callers come in: accepted, greeted, asked for a proof, and given to the group
// that they are for.

// serve starts to take callers.
func (n *node) serve() {
	n.door = n.openDoor() // before any rank can know this one
	for _, p := range n.entrances {
		n.work.Go(func() { n.accept(p) })
	}
	if n.door != nil {
		n.work.Go(func() { n.accept(n.door) })
	}
}

// accept takes callers until the listener closes.
func (n *node) accept(listener net.Listener) {
	pause := 5 * time.Millisecond
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			n.work.Go(func() { n.answer(conn) })
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		n.missed(moreFiles(err))
		select {
		case <-n.life.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

// answer plays the answerer of one handshake and finds the connection an owner.
func (n *node) answer(conn net.Conn) {
	if !n.greet(conn) {
		conn.Close()
		return
	}
	h, err := n.check(conn)
	if err == nil {
		if err = n.admit(h, conn); err != nil {
			n.log.Debug("ring: caller turned away", "peer", conn.RemoteAddr().String(), "err", err)
		}
	}
	n.mu.Lock()
	n.callers.remove(conn)
	n.mu.Unlock()
	if err == nil {
		return
	}
	writeVerdict(conn, err)
	conn.Close()
}

// admit gives a connection whose caller has proved the token to its owner, with
// a verdict of acceptance. An error is the reason for a refusal. The verdict is
// written under the lock, so that nothing which the caller does next, such as
// saying goodbye, can be seen before the connection is.
func (n *node) admit(h hello, conn net.Conn) error {
	if h.purpose == forJoining {
		return n.admitJoiner(h, conn)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.recognise(h); err != nil {
		n.refused = fmt.Sprintf("rank %d at %v: %v", h.from, conn.RemoteAddr(), err)
		return err
	}
	if h.purpose == forControl {
		return n.admitControl(h.from, conn)
	}
	return n.deliver(h.group, event{from: h.from, conn: conn, purpose: h.purpose})
}

// recognise checks that the caller is of this world and means this rank.
func (n *node) recognise(h hello) error {
	switch {
	case n.closing:
		return fmt.Errorf("rank %d has left", n.rank)
	case h.size != n.size:
		return fmt.Errorf("rank %d says that the world has %d ranks, rank %d that it has %d", h.from, h.size, n.rank, n.size)
	case h.job != n.job:
		return fmt.Errorf("rank %d belongs to another job than rank %d, or was given other addresses", h.from, n.rank)
	case h.to != n.rank:
		return fmt.Errorf("rank %d wants rank %d, but this is rank %d: the order of the addresses differs", h.from, h.to, n.rank)
	case h.from < 0 || h.from >= n.size || h.from == n.rank:
		return fmt.Errorf("rank %d of %d cannot call rank %d", h.from, n.size, n.rank)
	}
	return nil
}

func (n *node) admitControl(from int, conn net.Conn) error {
	if from < n.rank {
		return fmt.Errorf("rank %d is called by rank %d, not the other way round", from, n.rank)
	}
	if k := n.controls[from].Load(); k != nil {
		return fmt.Errorf("rank %d has come already, from %s", from, k.conn.RemoteAddr())
	}
	if err := writeVerdict(conn, nil); err != nil {
		return err
	}
	n.adopt(from, conn)
	return nil
}

// adopt makes conn the control connection of a rank. mu is held.
func (n *node) adopt(rank int, conn net.Conn) {
	k := newControl(n, rank, conn)
	n.controls[rank].Store(k)
	k.post(posting{notice: notice{kind: listens, number: uint64(n.reachedAt(conn)), text: n.claimed[n.rank].encode()}})
	n.work.Go(k.read)
	n.work.Go(k.write)
}

// deliver hands an event to its group, or keeps it until the group is formed
// here. An error leaves a connection with the caller. mu is held.
func (n *node) deliver(id groupID, e event) error {
	if c := n.comms[id]; c != nil {
		return c.take(e)
	}
	switch {
	case n.closed[id]:
		return fmt.Errorf("rank %d has closed that group", n.rank)
	case len(n.early[id]) >= maxEarly:
		return fmt.Errorf("rank %d has not formed that group yet, and %d connections and notices wait for it", n.rank, maxEarly)
	}
	if e.conn != nil {
		if err := writeVerdict(e.conn, nil); err != nil {
			return err
		}
		e.welcomed = true
	}
	n.early[id] = append(n.early[id], e)
	return nil
}
