package ring

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// Messages between ranks of one host go through a pipe: a stream in memory that
// the sender makes when it first sends, beside the Unix socket over which it hands
// that memory out. The socket then carries nothing but bells, single bytes by
// which a side that waits is woken, and its end is the pipe's.

// pipeBytes is what a pipe holds; a message that is longer passes through it.
const pipeBytes = 512 << 10

// pipeWriter is the sender's end: a connection that can be written to. Deadlines
// end a Write that waits for room.
type pipeWriter struct {
	net.Conn
	segment *shm.Segment
	stream  shm.Stream
	spinner shm.Spinner
}

// offerPipe makes a pipe of a new connection if that is a Unix socket, and the
// receiver can map the memory; otherwise messages go over conn itself. It closes
// conn when it fails.
func (c *comm) offerPipe(ctx context.Context, conn net.Conn) (net.Conn, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return conn, nil
	}
	release := interruptible(ctx, conn)
	w, err := c.handOverPipe(socket)
	if !release() && err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		conn.Close()
		return nil, err
	case w == nil:
		return conn, nil
	}
	return w, nil
}

func (c *comm) handOverPipe(socket *net.UnixConn) (*pipeWriter, error) {
	file, segment, err := createAndMap(pipeBytes)
	if err != nil {
		c.node.log.Debug("ring: messages go over a socket", "err", err)
		_, err = socket.Write([]byte{no})
		return nil, err
	}
	defer file.Close()
	err = shm.Send(socket, file)
	answer := no
	if err == nil {
		answer, err = readByte(socket)
	}
	if err != nil || answer == no {
		segment.Unmap()
		return nil, err
	}
	return &pipeWriter{socket, segment, shm.StreamIn(segment), c.node.spinner()}, nil
}

func createAndMap(n int) (*os.File, *shm.Segment, error) {
	file, err := shm.Create(n)
	if err != nil {
		return nil, nil, err
	}
	segment, err := shm.Map(file, n)
	if err != nil {
		file.Close()
	}
	return file, segment, err
}

// spinner is for waits for a rank of this host.
func (n *node) spinner() shm.Spinner {
	return shm.Spinner{Company: shm.Company(n.company.Load()), Cores: int(n.cores.Load())}
}

// Write waits until the pipe has taken all of p.
func (w *pipeWriter) Write(p []byte) (n int, err error) {
	for {
		n += w.put(p[n:])
		if n == len(p) {
			return n, nil
		}
		if w.spinner.Spin(w.missing(1)) {
			continue
		}
		if err := w.awaitRoom(); err != nil {
			return n, err
		}
	}
}

// missing is 1, for the reader, until there is room for n bytes.
func (w *pipeWriter) missing(n int) func() int {
	return func() int {
		if !w.stream.HasRoom(n) {
			return 1
		}
		return 0
	}
}

// put writes what there is room for.
func (w *pipeWriter) put(p []byte) int {
	n := w.stream.Write(p)
	w.ring()
	return n
}

// ring wakes the reader if that waits.
func (w *pipeWriter) ring() {
	if w.stream.TakeReaderWaits() {
		w.Conn.Write(bell)
	}
}

var bell = []byte{1}

// awaitRoom sleeps until the reader rings. It rings itself, as it may be that
// nobody has asked for what fills the pipe.
func (w *pipeWriter) awaitRoom() error {
	w.stream.WriterWaits()
	if w.stream.Room() > 0 {
		return nil
	}
	if _, err := w.Conn.Write(bell); err != nil {
		return err
	}
	var bells [16]byte
	_, err := w.Conn.Read(bells[:])
	return plainEOF(err)
}

// pipeReader is the receiver's end: a connection that can be read from by whoever
// holds its turn. Normally that is a Recv; a goroutine reads what no Recv waits
// for.
type pipeReader struct {
	net.Conn
	segment *shm.Segment
	stream  shm.Stream
	spinner shm.Spinner
	bells   chan struct{} // for the goroutine
	tolls   chan struct{} // the same bells, for a Recv
	over    chan struct{} // closed when the socket has ended, because of err
	err     error
	expired atomic.Bool // the goroutine's read shall end

	skip atomic.Int64 // what is left of a message that nobody wants any more

	turn   sync.Mutex
	closed bool // the memory is gone
}

// acceptPipe returns nil when messages come over conn itself.
func (c *comm) acceptPipe(conn net.Conn) (*pipeReader, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, nil
	}
	file, err := shm.Receive(socket)
	switch {
	case errors.Is(err, shm.ErrNoFile):
		return nil, nil
	case err != nil:
		return nil, plainEOF(err)
	}
	defer file.Close()
	segment, err := shm.Map(file, pipeBytes)
	if err != nil {
		c.node.log.Debug("ring: messages come over a socket", "err", err)
		_, err = socket.Write([]byte{no})
		return nil, err
	}
	if _, err := socket.Write([]byte{yes}); err != nil {
		segment.Unmap()
		return nil, err
	}
	return &pipeReader{
		Conn: conn, segment: segment, stream: shm.StreamIn(segment), spinner: c.node.spinner(),
		bells: make(chan struct{}, 1), tolls: make(chan struct{}, 1), over: make(chan struct{}),
	}, nil
}

// listen hears bells until the socket ends.
func (p *pipeReader) listen() {
	var heard [16]byte
	for {
		if _, err := p.Conn.Read(heard[:]); err != nil {
			p.err = plainEOF(err)
			close(p.over)
			return
		}
		p.rouse()
		signal(p.tolls)
	}
}

// rouse has the goroutine look again; nil has none.
func (p *pipeReader) rouse() {
	if p != nil {
		signal(p.bells)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take reads what there is.
func (p *pipeReader) take(b []byte) int {
	n := p.stream.Read(b)
	p.ring()
	return n
}

// ring wakes the writer if that waits.
func (p *pipeReader) ring() {
	if p.stream.TakeWriterWaits() {
		p.Conn.Write(bell)
	}
}

// missing is 1, for the writer, until n bytes are there.
func (p *pipeReader) missing(n int) func() int {
	return func() int {
		if p.stream.Available() < n {
			return 1
		}
		return 0
	}
}

// Read is for the goroutine, which holds the turn.
func (p *pipeReader) Read(b []byte) (int, error) {
	for {
		if p.expired.Load() {
			return 0, os.ErrDeadlineExceeded
		}
		if n := p.take(b); n > 0 || len(b) == 0 {
			return n, nil
		}
		if p.spinner.Spin(p.missing(1)) {
			continue
		}
		if err := p.sleep(p.bells, nil); err != nil {
			return 0, err
		}
	}
}

// sleep waits for a bell, unless something has come by now. It returns the pipe's
// end, or errCut when stop is closed.
func (p *pipeReader) sleep(bells, stop <-chan struct{}) error {
	p.stream.ReaderWaits()
	if p.stream.Available() > 0 {
		return nil
	}
	select {
	case <-bells:
		return nil
	case <-stop:
		return errCut
	case <-p.over:
	}
	if p.stream.Available() > 0 {
		return nil
	}
	return p.err
}

// SetReadDeadline with any time ends the goroutine's read in the middle of a
// message, and lets it read again without one; the socket's
// own deadline stays, as it is read all the time.
func (p *pipeReader) SetReadDeadline(t time.Time) error {
	p.expired.Store(!t.IsZero())
	p.rouse()
	return nil
}

// closePipes unmaps the memory of all pipes, and closes the wires that this rank
// writes to; nobody waits in them any more.
func (c *comm) closePipes() {
	for _, p := range c.peers {
		if p == nil {
			continue
		}
		p.out.turn.Take(nil, nil) // for good
		switch w := p.out.conn.(type) {
		case *pipeWriter:
			w.segment.Unmap()
		case *wireWriter:
			w.wire.close()
		}
		if r := p.in.pipe.Load(); r != nil {
			r.turn.Lock()
			r.closed = true
			r.segment.Unmap()
			r.turn.Unlock()
		}
	}
}
