package ring

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// link is the connection between two ranks of a group for its collectives. It
// needs no queue: what has not been read waits in the kernel.
type link struct {
	conn net.Conn
	r    *bufio.Reader
	head [headBytes]byte
}

// linkBuffer lets the head and the data of a small message come with one read;
// larger data passes it by.
const linkBuffer = 8 << 10

var errDiffers = errors.New("ranks called different collectives")

func newLink(conn net.Conn) *link {
	return &link{conn: conn, r: bufio.NewReaderSize(conn, linkBuffer)}
}

func (l *link) send(h head, blocks [][]byte) error {
	all := append(net.Buffers{h.encode()}, blocks...)
	_, err := all.WriteTo(l.conn)
	return err
}

// receive fills blocks, if the message is the one wanted.
func (l *link) receive(want head, blocks [][]byte) error {
	if _, err := io.ReadFull(l.r, l.head[:]); err != nil {
		return plainEOF(err)
	}
	got, err := decodeHead(&l.head)
	if err != nil {
		return err
	}
	if got != want {
		return errDiffers
	}
	for _, b := range blocks {
		if _, err := io.ReadFull(l.r, b); err != nil {
			return noEOF(err)
		}
	}
	return nil
}

// drain ends this side, reads until the peer has ended its own, and closes.
func (l *link) drain(until time.Time) {
	closeWrite(l.conn)
	l.conn.SetReadDeadline(until)
	io.Copy(io.Discard, l.conn)
	l.conn.Close()
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
	if c.steps.Err() != nil {
		conn.Close()
		return errEnded
	}
	p.link = newLink(conn)
	close(p.linked)
	return nil
}

// awaitLink returns the connection to a peer, which may be the peer's to make.
func (c *comm) awaitLink(ctx context.Context, r int) (*link, error) {
	p := c.peers[r]
	select {
	case <-p.linked:
		return p.link, nil
	default:
	}
	select {
	case <-p.linked:
	case <-p.gone:
	case <-c.steps.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case p.link != nil:
		return p.link, nil
	case p.left:
		return nil, errLeft
	}
	return nil, errEnded
}

// dial connects to a peer unless life ends first.
func (c *comm) dial(ctx, life context.Context, r int, p purpose) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	return c.node.dial(ctx, c.ranks[r], p, c.id)
}
