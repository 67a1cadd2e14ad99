package ring

import (
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Messages that go over sockets are written and read by whoever sends or receives
// them: a goroutine between would cost changes of threads for every message. Such a
// socket is a wire.

// wire is a stream for one direction.
type wire interface {
	stream
	// readTwo reads into a, then b, as read does.
	readTwo(a, b []byte) (int, error)
	// writeTwo writes a, then b, as write does.
	writeTwo(a, b []byte) (int, error)
	// await returns when there may be something to read, or room to write, or when
	// d has passed.
	await(writing bool, d time.Duration) error
	// watch has the runtime wait for something to read.
	watch() (watch, error)
	// shut ends both directions. Any goroutine may call it, at any time.
	shut()
	// close gives the socket back; nobody reads or writes any more.
	close()
}

// watch waits without a thread, at a price: while it is there every packet wakes
// the runtime.
type watch interface {
	// wait returns when there is something to read or the wait was ended.
	wait()
	// end ends the wait under way, else the next one. Any goroutine may call it.
	end()
	close()
}

// stint is how long one sleep lasts at most; then whoever sleeps sees whether it is
// still to wait.
const stint = 20 * time.Millisecond

// wireWriter is the sender's end: a connection that can be written to by whoever
// holds its turn.
type wireWriter struct {
	net.Conn // closed; it knows the addresses
	wire     wire
	patience *patience
	expired  atomic.Bool
	label    [labelBytes]byte
}

func (w *wireWriter) begin(l label) { copy(w.label[:], l.encode()) }

// write writes what is not written yet of a message, label and data, and returns
// how much is then. Before each sleep it asks over whether to go on; without over it
// does not sleep.
func (w *wireWriter) write(data []byte, written int, over func() error) (int, error) {
	for written < labelBytes+len(data) {
		n, err := w.put(data, written)
		written += n
		switch {
		case err != nil:
			return written, err
		case n > 0:
			w.patience.moved()
			continue
		case w.expired.Load():
			return written, os.ErrDeadlineExceeded
		case w.patience.look():
			continue
		case over == nil:
			return written, nil
		}
		if err = over(); err == nil {
			err = w.wire.await(true, stint)
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (w *wireWriter) put(data []byte, written int) (int, error) {
	if written < labelBytes {
		return w.wire.writeTwo(w.label[written:], data)
	}
	return w.wire.write(data[written-labelBytes:])
}

// SetWriteDeadline with any time ends the write under way and all later ones.
func (w *wireWriter) SetWriteDeadline(time.Time) error {
	w.expired.Store(true)
	return nil
}

// Close ends the connection; the socket is given back with the group.
func (w *wireWriter) Close() error {
	w.wire.shut()
	return nil
}
