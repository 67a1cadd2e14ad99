package ring

import (
	"context"
	"net"
)

// link is the connection between two ranks of a group for its collectives. It
// needs no queue: what has not been read waits in the kernel. The buffers let the
// head and the data of a small message travel together; larger data passes them
// by.
type link struct {
	stream    stream
	in        []byte // has come and is not used yet; part of inBuffer
	out       []byte // is not written yet; part of outBuffer
	inBuffer  [linkBuffer]byte
	outBuffer [linkBuffer]byte
}

const linkBuffer = 8 << 10

// take moves what has come to b.
func (l *link) take(b []byte) int {
	n := copy(b, l.in)
	l.in = l.in[n:]
	return n
}

// read reads once: large data straight into b, small data by way of the buffer,
// which is empty.
func (l *link) read(b []byte) (int, error) {
	if len(b) >= linkBuffer {
		return l.stream.read(b[:min(len(b), turnBytes)])
	}
	if _, err := l.fill(); err != nil {
		return 0, err
	}
	return l.take(b), nil
}

// fill reads once into the buffer, in which there is room.
func (l *link) fill() (int, error) {
	held := copy(l.inBuffer[:], l.in)
	n, err := l.stream.read(l.inBuffer[held:])
	l.in = l.inBuffer[:held+n]
	return n, err
}

// dials reports whether this rank dials the other one for their link: the one who
// is fewer steps below the other going up and around, the lower one when it is
// the same either way. So exactly one of two does, and to send to the rank above
// a rank never waits for it to come.
func (c *comm) dials(r int) bool {
	up := below(r, c.rank, c.Size())
	return 2*up < c.Size() || 2*up == c.Size() && c.rank < r
}

// dialLink makes the connection to a peer if it is this rank's to make and not
// there yet. Only the collective under way calls it.
func (c *comm) dialLink(ctx context.Context, r int) error {
	p := c.peers[r]
	c.mu.Lock()
	there := p.link != nil
	c.mu.Unlock()
	if there || !c.dials(r) {
		return nil
	}
	conn, err := c.dial(ctx, c.steps, r, forCollectives)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.readyLocked(); err != nil {
		conn.Close()
		return err
	}
	return c.linkLocked(p, conn)
}

func (c *comm) ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readyLocked()
}

// readyLocked makes the carrier unless it is there, or the group has ended.
func (c *comm) readyLocked() (err error) {
	switch {
	case c.steps.Err() != nil || c.closed:
		return errEnded
	case c.carrier == nil && c.node.cfg.portable:
		c.carrier = newPumps()
	case c.carrier == nil:
		c.carrier, err = newCarrier()
	}
	return err
}

// linkTo returns the connection to a peer, nil while that is the peer's to make.
func (c *comm) linkTo(r int) (*link, error) {
	p := c.peers[r]
	select {
	case <-p.linked:
		return p.link, nil
	default:
	}
	select {
	case <-p.gone:
		return nil, errLeft
	default:
		return nil, nil
	}
}

// linkLocked makes conn, which it takes over, the link to a peer.
func (c *comm) linkLocked(p *peer, conn net.Conn) error {
	s, err := c.carrier.stream(conn)
	if err != nil {
		return err
	}
	p.link = &link{stream: s}
	close(p.linked)
	c.carrier.wake()
	return nil
}

// dial connects to a peer unless life ends first.
func (c *comm) dial(ctx, life context.Context, r int, p purpose) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	conn, err := c.node.dial(ctx, c.ranks[r], p, c.id)
	if err == nil {
		unpaced(conn)
	}
	return conn, err
}
