package ring

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// control is the connection to one rank that lasts as long as the world. A
// goroutine reads it and another writes what others post, so that nobody who
// acts on a notice has to wait for a peer.
type control struct {
	node   *node
	rank   int
	conn   net.Conn
	outbox chan posting

	finish  chan struct{} // closed to have the writer send what is left and end
	ending  sync.Once
	written chan struct{} // closed when the writer has ended
	ended   chan struct{} // closed when the reader has ended
}

// maxOutbox is far more than one rank ever has to tell another at a time.
const maxOutbox = 256

func newControl(n *node, rank int, conn net.Conn) *control {
	return &control{
		node: n, rank: rank, conn: conn, outbox: make(chan posting, maxOutbox),
		finish: make(chan struct{}), written: make(chan struct{}), ended: make(chan struct{}),
	}
}

// posting is a notice on its way; sent, if not nil, gets a value once it has been
// written.
type posting struct {
	notice
	sent chan<- struct{}
}

// post queues a notice and reports whether there is still someone to write it.
func (k *control) post(p posting) bool {
	select {
	case <-k.finish:
		return false
	default:
	}
	select {
	case k.outbox <- p:
		return true
	default:
		k.conn.Close() // a peer that reads nothing is as good as gone
		return false
	}
}

func (k *control) write() {
	defer close(k.written)
	for {
		select {
		case p := <-k.outbox:
			if !k.writeOne(p) {
				return // the reader sees the same end, and reports it
			}
		case <-k.finish:
			k.writeRest()
			return
		}
	}
}

func (k *control) writeOne(p posting) bool {
	_, err := k.conn.Write(p.encode())
	if err == nil && p.sent != nil {
		p.sent <- struct{}{}
	}
	return err == nil
}

// writeRest sends what was posted before the end and closes this direction.
func (k *control) writeRest() {
	for {
		select {
		case p := <-k.outbox:
			if !k.writeOne(p) {
				return
			}
		default:
			closeWrite(k.conn)
			return
		}
	}
}

// read acts on notices until the connection ends, then ends its side too.
func (k *control) read() {
	defer close(k.ended)
	r := bufio.NewReader(k.conn)
	for {
		m, err := readNotice(r)
		if err != nil {
			k.node.hungUp(k.rank, plainEOF(err))
			break
		}
		k.node.heard(k.rank, m)
	}
	k.stop()
	k.conn.SetWriteDeadline(time.Now().Add(time.Second))
	<-k.written
	k.conn.Close()
}

func (k *control) stop() { k.ending.Do(func() { close(k.finish) }) }

// hangUp sends what was posted, then waits until the peer has hung up as well,
// but no longer than until.
func (k *control) hangUp(until time.Time) {
	k.conn.SetDeadline(until)
	k.stop()
	<-k.ended
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

var errHungUp = errors.New("connection closed by peer")

// plainEOF says in words what the end of a connection means.
func plainEOF(err error) error {
	if err == io.EOF {
		return errHungUp
	}
	return err
}
