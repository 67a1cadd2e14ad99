package ring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// callers are the connections whose callers have not been given an owner yet.
// Those that have not proved the token are few: when there are too many, the one
// that has come first goes, as an honest handshake takes little more than a round
// trip. The node's lock guards all of it.
type callers struct {
	limit    int
	count    uint64
	arrivals map[net.Conn]uint64 // in which order they came; 0 once they have proved the token
	unproven int
}

// newCallers leaves room for all ranks of a world to come at once, several times.
func newCallers(size int) callers {
	const strangers, each = 64, 4
	return callers{limit: strangers + each*size, arrivals: map[net.Conn]uint64{}}
}

// add notes a caller and hangs up on another one if that makes too many. It
// reports that one, or nil.
func (s *callers) add(conn net.Conn) (ousted net.Conn) {
	if s.unproven >= s.limit {
		ousted = s.first()
		s.remove(ousted)
		ousted.Close()
	}
	s.count++
	s.arrivals[conn] = s.count
	s.unproven++
	return ousted
}

func (s *callers) first() (conn net.Conn) {
	earliest := s.count + 1
	for c, at := range s.arrivals {
		if at != 0 && at < earliest {
			conn, earliest = c, at
		}
	}
	return conn
}

// prove notes that a caller holds the token; it reports false for one that is not
// there any more.
func (s *callers) prove(conn net.Conn) bool {
	at, ok := s.arrivals[conn]
	if ok && at != 0 {
		s.unproven--
		s.arrivals[conn] = 0
	}
	return ok
}

func (s *callers) remove(conn net.Conn) {
	s.prove(conn)
	delete(s.arrivals, conn)
}

func (s *callers) hangUp() {
	for conn := range s.arrivals {
		conn.Close()
	}
}

// greet notes a caller, so that shutdown can hang up.
func (n *node) greet(conn net.Conn) bool {
	if !n.cfg.trusts(conn.RemoteAddr()) {
		n.suspect(conn, errNoToken)
		return false
	}
	tune(conn)
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		return false
	}
	ousted := n.callers.add(conn)
	n.mu.Unlock()
	if ousted != nil {
		n.suspect(ousted, errTooMany)
	}
	return true
}

// missed logs that a caller could not be taken, which is tried again: one warning in
// a while.
func (n *node) missed(err error) {
	n.mu.Lock()
	quiet := n.refused == err.Error() && time.Since(n.warned) < warnTime
	if !quiet {
		n.refused, n.warned = err.Error(), time.Now()
	}
	n.mu.Unlock()
	if !quiet {
		n.log.Warn("ring: accept", "err", err)
	}
}

// check plays the handshake and logs a failure.
func (n *node) check(conn net.Conn) (hello, error) {
	h, err := listen(conn, n.cfg.Token)
	n.mu.Lock()
	there := n.callers.prove(conn)
	n.mu.Unlock()
	switch {
	case !there: // the log says so already
		return h, errTooMany
	case err != nil:
		n.suspect(conn, err)
	}
	return h, err
}

var (
	errTooMany = errors.New("too many callers have proved nothing yet")
	errNoToken = errors.New("is not on loopback, and there is no token")
)

// warnTime is the shortest time between two warnings of strangers, who may be
// many.
const warnTime = 10 * time.Second

// suspect logs that a caller was turned away which may be none of the job's ranks:
// one line, and one warning in a while. What is known of a rank explains more than
// what a stranger did.
func (n *node) suspect(conn net.Conn, err error) {
	level := slog.LevelDebug
	n.mu.Lock()
	if !n.closing && time.Since(n.warned) >= warnTime {
		level, n.warned = slog.LevelWarn, time.Now()
	}
	if n.refused == "" {
		n.refused = fmt.Sprintf("%v: %v", conn.RemoteAddr(), err)
	}
	n.mu.Unlock()
	n.log.Log(context.Background(), level, "ring: caller turned away", "peer", conn.RemoteAddr().String(), "err", err)
}
