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

// link returns the connection to a peer, which is made on first use. The higher
// rank dials and the lower waits for it, so that two never dial each other, and a
// rank that waits does so only for higher ones: there is no circle.
func (c *comm) link(ctx context.Context, r int) (*link, error) {
	p := c.peers[r]
	c.mu.Lock()
	l := p.link
	c.mu.Unlock()
	switch {
	case l != nil:
		return l, nil
	case r < c.rank:
		return c.dialLink(ctx, r)
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
	if p.link == nil {
		return nil, errLeft
	}
	return p.link, nil
}

func (c *comm) dialLink(ctx context.Context, r int) (*link, error) {
	conn, err := c.dial(ctx, c.steps, r, forCollectives)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps.Err() != nil {
		conn.Close()
		return nil, errEnded
	}
	p := c.peers[r]
	p.link = newLink(conn)
	close(p.linked)
	return p.link, nil
}

// dial connects to a peer unless life ends first.
func (c *comm) dial(ctx, life context.Context, r int, p purpose) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	return c.node.dial(ctx, c.ranks[r], p, c.id)
}
