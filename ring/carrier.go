package ring

import (
	"net"
	"time"
)

// carrier is how the links of a group move bytes, and how the collective under
// way waits for any of them. One goroutine at a time uses it, but for wake.
type carrier interface {
	// stream takes conn over, also when that fails.
	stream(conn net.Conn) (stream, error)
	// sleep returns when one of in may have something to read or one of out room
	// to write, when it was woken, or when d has passed; now and then for nothing.
	sleep(in, out []stream, d time.Duration) error
	// wake ends the sleep under way, else the next one.
	wake()
	// close gives back what the carrier holds beside its streams.
	close()
}

// stream is one connection. Its calls move what they can and never wait, but for
// drain.
type stream interface {
	// read returns 0 and no error when nothing has come, and io.EOF at the end.
	read(b []byte) (int, error)
	// write returns 0 and no error when there is no room. Nothing is written to
	// learn whether what was written before has failed.
	write(b []byte) (int, error)
	// flushed reports whether the system has taken all that was written.
	flushed() bool
	// closeWrite ends this direction, after what was written. Any goroutine may
	// call it, at any time.
	closeWrite()
	// drain ends this side, reads until the peer has ended its own, and closes.
	drain(until time.Time)
}

// drain ends this side of a connection and reads until the peer has ended its
// own: a socket that is closed with data unread in it resets the connection, and
// the peer may lose what was sent to it.
func drain(conn net.Conn, until time.Time) {
	closeWrite(conn)
	conn.SetReadDeadline(until)
	b := make([]byte, 16<<10)
	for {
		if _, err := conn.Read(b); err != nil {
			conn.Close()
			return
		}
	}
}
