package ring

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// wireReader is the receiver's end: a connection that can be read from by whoever
// holds its turn. Normally that is a Recv; a goroutine reads what no Recv waits
// for.
type wireReader struct {
	net.Conn // closed; it knows the addresses
	wire     wire
	lookout  lookout
	used     atomic.Bool  // a Recv has read
	expired  atomic.Bool  // the goroutine's read shall end
	skip     atomic.Int64 // what is left of a message that nobody wants any more

	turn     sync.Mutex
	closed   bool // the socket is gone
	patience *patience
	head     [labelBytes]byte
	held     []byte // has come and is not used yet
	buffer   []byte
}

const (
	// wireBuffer is how much is read at once of what nobody waits for.
	wireBuffer = 64 << 10
	// mostOpened bounds the data that is read together with a label: what comes may
	// belong elsewhere.
	mostOpened = 256 << 10
)

// open reads the label of the next message, and what there is of its data, if that
// comes within a moment and is the one wanted. All else that comes is held.
func (r *wireReader) open(tag int, data []byte) (n int, ok bool) {
	want := label{uint32(tag), uint64(len(data))}
	for len(r.held) < labelBytes {
		n, opened, err := r.openOnce(want, data)
		switch {
		case opened:
			r.patience.moved()
			return n, true
		case n > 0:
			r.patience.moved()
		case err != nil || !r.patience.look():
			return 0, false // an error is the goroutine's to come across
		}
	}
	l, err := decodeLabel((*[labelBytes]byte)(r.held))
	if err != nil || l != want {
		return 0, false
	}
	r.held = r.held[labelBytes:]
	return r.take(data), true
}

// openOnce reads once. With nothing held what follows a label goes to data at once;
// opened: that is where it belongs.
func (r *wireReader) openOnce(want label, data []byte) (n int, opened bool, err error) {
	if len(r.held) > 0 {
		n, err = r.fill()
		return n, false, err
	}
	n, err = r.wire.readTwo(r.head[:], data[:min(len(data), mostOpened)])
	if n < labelBytes {
		r.held = append(r.held, r.head[:n]...)
		return n, false, err
	}
	if l, err := decodeLabel(&r.head); err == nil && l == want {
		return n - labelBytes, true, nil
	}
	r.held = append(append(r.held, r.head[:]...), data[:n-labelBytes]...)
	return n, false, nil
}

// fill reads once behind what is held, which is little.
func (r *wireReader) fill() (int, error) {
	if r.buffer == nil {
		r.buffer = make([]byte, wireBuffer)
	}
	held := copy(r.buffer, r.held)
	n, err := r.wire.read(r.buffer[held:])
	r.held = r.buffer[:held+n]
	return n, err
}

// take moves what is held to b.
func (r *wireReader) take(b []byte) int {
	n := copy(b, r.held)
	r.held = r.held[n:]
	return n
}

// readAll reads what is missing of data, of which n bytes are there, and returns how
// many are then. Over is as for readSome.
func (r *wireReader) readAll(data []byte, n int, over func() error) (int, error) {
	for n < len(data) {
		came, err := r.readSome(data[n:], over)
		n += came
		if err != nil || came == 0 {
			return n, err
		}
	}
	return n, nil
}

// readSome reads into b as soon as there is something. Before each sleep it asks
// over whether to go on; without over it does not sleep, and may read nothing.
func (r *wireReader) readSome(b []byte, over func() error) (int, error) {
	for {
		n, err := r.readOnce(b)
		switch {
		case n > 0:
			r.patience.moved()
			return n, nil
		case err != nil:
			return 0, err
		case r.patience.look():
			continue
		case over == nil:
			return 0, nil
		}
		if err = over(); err == nil {
			err = r.wire.await(false, stint)
		}
		if err != nil {
			return 0, err
		}
	}
}

// readOnce reads a lot straight into b, and little by way of what is held.
func (r *wireReader) readOnce(b []byte) (int, error) {
	if len(r.held) == 0 {
		if len(b) >= wireBuffer {
			return r.wire.read(b)
		}
		if _, err := r.fill(); err != nil {
			return 0, err
		}
	}
	return r.take(b), nil
}

// Read is for the goroutine.
func (r *wireReader) Read(b []byte) (int, error) {
	if err := r.over(); err != nil || len(b) == 0 {
		return 0, err
	}
	return r.readSome(b, r.over)
}

func (r *wireReader) over() error {
	if r.expired.Load() {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// SetReadDeadline with any time ends the goroutine's read in the middle of a
// message, and lets it read again without one.
func (r *wireReader) SetReadDeadline(t time.Time) error {
	r.expired.Store(!t.IsZero())
	return nil
}

// rouse has the goroutine look again; nil has none.
func (r *wireReader) rouse() {
	if r != nil {
		r.lookout.rouse()
	}
}

// Close ends the connection; the goroutine gives the socket back.
func (r *wireReader) Close() error {
	r.wire.shut()
	r.lookout.rouse()
	return nil
}

// free gives the socket back.
func (r *wireReader) free() {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.closed = true
	r.lookout.leave()
	r.wire.close()
}

// holds reports whether something has come that is not used yet.
func (r *wireReader) holds() bool {
	r.turn.Lock()
	defer r.turn.Unlock()
	return len(r.held) > 0
}
