package ring

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// logOf is a place for log records that several goroutines write.
type logOf struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logOf) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logOf) lines(with string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

func (l *logOf) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
}

// crowd opens connections to an address and has each say something.
func crowd(t *testing.T, addr string, count int, words func(i int) []byte) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, count)
	for i := range conns {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.Write(words(i))
		conns[i] = conn
	}
	return conns
}

// unproven is how many callers of a rank have not proved the token.
func unproven(c group.Communicator) int {
	n := c.(*comm).node
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.callers.unproven
}

// TestCrowdOfSilentCallers has many more strangers call than may wait. The first
// ones are hung up on before their time, what is kept for them is bounded, and
// ranks still make connections.
func TestCrowdOfSilentCallers(t *testing.T) {
	for name, words := range map[string]func(i int) []byte{
		"silent":           func(int) []byte { return nil },
		"slow":             func(i int) []byte { return []byte(magic)[:i%len(magic)] },
		"without a proof":  func(int) []byte { return hello{purpose: forControl, size: 2, from: 1}.encode() },
		"endless garbage":  func(int) []byte { return append([]byte(magic), bytes.Repeat([]byte{version}, 100)...) },
		"length of 2^63":   func(int) []byte { return bytes.Repeat([]byte{0xff}, helloBytes) },
		"half of a hello":  func(int) []byte { return hello{purpose: forMessages, size: 2, from: 1}.encode()[:helloBytes/2] },
		"purposes unknown": func(int) []byte { return hello{purpose: purposes, size: 2, from: 1}.encode() },
	} {
		t.Run(name, func(t *testing.T) {
			log := &logOf{}
			comms := makeWorld(t, 2, Config{Token: secret, NoSharedMemory: true, Logger: log.logger(slog.LevelWarn)})
			root := comms[0].(*comm)
			limit := root.node.callers.limit
			goroutines := runtime.NumGoroutine()
			conns := crowd(t, root.node.listener.Addr().String(), limit+50, words)
			sumAll(t, comms)
			conns[0].SetReadDeadline(time.Now().Add(knockTime - time.Second))
			if _, err := io.Copy(io.Discard, conns[0]); os.IsTimeout(err) {
				t.Errorf("the first of %d callers may still stay", len(conns))
			}
			if n := unproven(comms[0]); n > limit {
				t.Errorf("%d callers stay, at most %d", n, limit)
			}
			more := func() int { return runtime.NumGoroutine() - goroutines }
			for end := time.Now().Add(knockTime / 2); more() > limit+20; time.Sleep(time.Millisecond) {
				if time.Now().After(end) { // those that may stay have not been given up yet
					t.Fatalf("%d goroutines for %d callers, at most %d of which may stay", more(), len(conns), limit)
				}
			}
			if lines := log.lines("turned away"); len(lines) != 1 {
				t.Errorf("%d warnings, want one: %q", len(lines), lines)
			}
		})
	}
}

// TestCallersThatProved sees that ranks whose join is under way do not have to make
// room for strangers.
func TestCallersThatProved(t *testing.T) {
	s := newCallers(2)
	ends := make([]net.Conn, s.limit+2)
	for i := range ends {
		a, b := net.Pipe()
		ends[i] = b
		if ousted := s.add(a); (ousted != nil) != (i > s.limit) {
			t.Fatalf("caller %d: ousted %v", i, ousted)
		}
		if i == 0 && !s.prove(a) {
			t.Fatal("no such caller")
		}
	}
	ends[0].SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := ends[0].Read([]byte{0}); !os.IsTimeout(err) {
		t.Errorf("the one that proved the token: %v", err)
	}
	if _, err := ends[1].Read([]byte{0}); err != io.EOF {
		t.Errorf("the first of the others: %v", err)
	}
	s.hangUp()
	for _, end := range ends {
		if _, err := end.Read([]byte{0}); err != io.EOF && !os.IsTimeout(err) {
			t.Errorf("after the end: %v", err)
		}
	}
}

// TestReplayedHandshake plays a stranger that has listened to a rank's handshake
// and says the same again: the answerer's nonce is another, and so the proof is
// none.
func TestReplayedHandshake(t *testing.T) {
	log := &logOf{}
	comms := makeWorld(t, 2, Config{Token: secret, Logger: log.logger(slog.LevelWarn)})
	n := comms[0].(*comm).node
	addr := n.listener.Addr().String()
	h := hello{purpose: forMessages, job: n.job, size: 2, from: 1, to: 0, group: comms[0].(*comm).id}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	heard := &recorder{Conn: conn}
	if err := call(heard, h, secret); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	again, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Write(heard.said.Bytes())
	io.ReadFull(again, make([]byte, challengeBytes))
	wantError(t, readVerdict(again), "refused: ", "different tokens")
	if lines := log.lines("different tokens"); len(lines) != 1 {
		t.Errorf("log %q", lines)
	}
}

// recorder keeps what is written to a connection.
type recorder struct {
	net.Conn
	said bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.said.Write(p)
	return r.Conn.Write(p)
}
