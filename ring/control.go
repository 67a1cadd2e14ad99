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
	outbox chan notice

	finish  chan struct{} // closed to have the writer send what is left and end
	ending  sync.Once
	written chan struct{} // closed when the writer has ended
	ended   chan struct{} // closed when the reader has ended
}

// maxOutbox is far more than one rank ever has to tell another at a time.
const maxOutbox = 256

func newControl(n *node, rank int, conn net.Conn) *control {
	return &control{
		node: n, rank: rank, conn: conn, outbox: make(chan notice, maxOutbox),
		finish: make(chan struct{}), written: make(chan struct{}), ended: make(chan struct{}),
	}
}

// post queues a notice; after the end it is dropped.
func (k *control) post(m notice) {
	select {
	case <-k.finish:
	case k.outbox <- m:
	default:
		k.conn.Close() // a peer that reads nothing is as good as gone
	}
}

func (k *control) write() {
	defer close(k.written)
	for {
		select {
		case m := <-k.outbox:
			if _, err := k.conn.Write(m.encode()); err != nil {
				return // the reader sees the same end, and reports it
			}
		case <-k.finish:
			k.writeRest()
			return
		}
	}
}

// writeRest sends what was posted before the end and closes this direction.
func (k *control) writeRest() {
	for {
		select {
		case m := <-k.outbox:
			if _, err := k.conn.Write(m.encode()); err != nil {
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
