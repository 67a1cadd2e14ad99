package ring

import (
	"net"
	"sync"
	"time"
)

// pumps is the carrier for systems whose sockets package net alone knows: two
// goroutines for each stream move bytes between the connection and buffers.
type pumps struct{ bell chan struct{} }

func newPumps() *pumps { return &pumps{make(chan struct{}, 1)} }

func (p *pumps) stream(conn net.Conn) (stream, error) { return newPump(conn, p.wake), nil }

// sleep needs no list of streams: every one of them rings.
func (p *pumps) sleep(_, _ []stream, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.bell:
	case <-timer.C:
	}
	return nil
}

func (p *pumps) wake() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

func (p *pumps) close() {}

// pumpBuffer bounds what a pump holds in each direction, but for one read.
const pumpBuffer = 256 << 10

// pump is a stream over any net.Conn.
type pump struct {
	conn net.Conn
	ring func() // called after every change
	work sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond
	in, out []byte
	writing bool  // the writer has bytes that are not in out any more
	ended   bool  // nothing more will be written
	closing bool  // what arrives is dropped
	readErr error // of the connection
	sendErr error
}

func newPump(conn net.Conn, ring func()) *pump {
	p := &pump{conn: conn, ring: ring}
	p.changed.L = &p.mu
	p.work.Go(p.readAll)
	p.work.Go(p.writeAll)
	return p
}

func (p *pump) readAll() {
	b := make([]byte, 64<<10)
	for {
		p.awaitRoom()
		n, err := p.conn.Read(b)
		p.mu.Lock()
		if !p.closing {
			p.in = append(p.in, b[:n]...)
		}
		p.readErr = err
		p.mu.Unlock()
		p.ring()
		if err != nil {
			return
		}
	}
}

func (p *pump) awaitRoom() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.in) >= pumpBuffer && !p.closing {
		p.changed.Wait()
	}
}

func (p *pump) writeAll() {
	var b []byte
	for {
		b = p.takeOut(b[:0])
		if len(b) == 0 {
			closeWrite(p.conn)
			return
		}
		_, err := p.conn.Write(b)
		p.mu.Lock()
		p.writing, p.sendErr = false, err
		p.mu.Unlock()
		p.ring()
		if err != nil {
			return
		}
	}
}

// takeOut waits for bytes to write and moves them to b; none are the end.
func (p *pump) takeOut(b []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.out) == 0 && !p.ended {
		p.changed.Wait()
	}
	b = append(b, p.out...)
	p.out = p.out[:0]
	p.writing = len(b) > 0
	return b
}

func (p *pump) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.in) == 0 {
		return 0, p.readErr
	}
	n := copy(b, p.in)
	p.in = p.in[:copy(p.in, p.in[n:])]
	p.changed.Broadcast()
	return n, nil
}

func (p *pump) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sendErr != nil || len(b) == 0 {
		return 0, p.sendErr
	}
	if p.ended {
		return 0, net.ErrClosed
	}
	n := min(len(b), pumpBuffer-len(p.out))
	p.out = append(p.out, b[:n]...)
	p.changed.Broadcast()
	return n, nil
}

func (p *pump) flushed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.out) == 0 && !p.writing
}

func (p *pump) closeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}

func (p *pump) drain(until time.Time) {
	p.mu.Lock()
	p.ended, p.closing = true, true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.conn.SetDeadline(until)
	p.work.Wait()
	p.conn.Close()
}
