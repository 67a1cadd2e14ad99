package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
	"time"
)

// wiredPair is a world of two whose rank 0 has a wire to rank 1.
func wiredPair(t *testing.T) (from, to *comm) {
	t.Helper()
	comms := makeWorld(t, 2, Config{NoSharedMemory: true})
	from, to = comms[0].(*comm), comms[1].(*comm)
	if err := errors.Join(from.Send(t.Context(), 1, 9, nil), to.Recv(t.Context(), 0, 9, nil)); err != nil {
		t.Fatal(err)
	}
	_, sends := from.peers[1].out.conn.(*wireWriter)
	receives := to.peers[0].in.wire.Load() != nil
	if !sends || !receives {
		t.Fatalf("a wire to send by: %v, to receive by: %v", sends, receives)
	}
	return from, to
}

func TestMessagesOfEveryLengthByWire(t *testing.T) {
	from, to := wiredPair(t)
	messagesOfEveryLength(t, from, to)
}

func TestReceiversOfSeveralTagsByWire(t *testing.T) {
	from, to := wiredPair(t)
	severalTags(t, from, to)
}

func TestMessagesAreKeptByAWire(t *testing.T) {
	from, to := wiredPair(t)
	keptMessages(t, from, to)
}

// TestRoundTripsByWire has the goroutine keep away from messages that are received
// as they come, and take those that nobody comes for all the same.
func TestRoundTripsByWire(t *testing.T) {
	from, to := wiredPair(t)
	everyRank(2, func(r int) {
		self, peer, ball := []*comm{from, to}[r], 1-r, make([]byte, 4)
		for i := range 2000 {
			if i%2 == r {
				if err := self.Send(t.Context(), peer, 1, []byte{byte(i), 1, 2, 3}); err != nil {
					t.Error(err)
				}
				continue
			}
			if err := self.Recv(t.Context(), peer, 1, ball); err != nil || ball[0] != byte(i) {
				t.Errorf("ball %d: %v, %v", i, ball, err)
			}
		}
	})
	long := make([]byte, 20<<20) // more than the system holds, so that it has to be taken
	if err := from.Send(t.Context(), 1, 2, long); err != nil {
		t.Error(err)
	}
}

// wireHalf puts a label and a part of the data on the wire; rest puts what is
// missing.
func wireHalf(from *comm, tag, length int) (rest func()) {
	w := from.peers[1].out.conn.(*wireWriter)
	w.begin(label{uint32(tag), uint64(length)})
	w.wire.writeTwo(w.label[:], make([]byte, length/2))
	return func() { w.wire.write(make([]byte, length-length/2)) }
}

// awaitReading returns when someone reads from the wire to a rank.
func awaitReading(to *comm) {
	for r := to.peers[0].in.wire.Load(); r.turn.TryLock(); time.Sleep(time.Millisecond) {
		r.turn.Unlock()
	}
}

func TestWireReadGivenUpInTheMiddle(t *testing.T) {
	for _, early := range []bool{false, true} {
		t.Run(fmt.Sprintf("receive comes first %v", early), func(t *testing.T) {
			from, to := wiredPair(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error)
			receive := func() { done <- to.Recv(ctx, 0, 1, make([]byte, 100)) }
			if early {
				go receive()
				time.Sleep(10 * time.Millisecond)
			}
			rest := wireHalf(from, 1, 100)
			if !early {
				go receive()
			}
			awaitReading(to)
			time.Sleep(10 * time.Millisecond)
			cancel(errors.New("changed my mind"))
			wantError(t, <-done, "recv from rank 0 with tag 1", "changed my mind")
			rest()
			if err := from.Send(t.Context(), 1, 2, []byte{1, 2, 3}); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 3)
			if err := to.Recv(t.Context(), 0, 2, got); err != nil || !bytes.Equal(got, []byte{1, 2, 3}) {
				t.Errorf("next message: %v, %v", got, err)
			}
		})
	}
}

func TestWireEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(from *comm)
		want string
	}{
		"broken": {func(from *comm) { from.Break(errors.New("tired of it")) }, "tired of it"},
		"cut":    {func(from *comm) { from.peers[1].out.conn.Close() }, "rank 0"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := wiredPair(t)
			done := make(chan error)
			go func() { done <- to.Recv(t.Context(), 0, 1, make([]byte, 100)) }()
			wireHalf(from, 1, 100)
			awaitReading(to)
			c.end(from)
			wantError(t, <-done, c.want)
			wantError(t, to.Send(t.Context(), 0, 1, nil), "rank 0")
		})
	}
}

// scripted is a wire on which bytes come in pieces of some size.
type scripted struct {
	wire
	left  io.Reader
	piece int
}

func (s *scripted) read(b []byte) (int, error) { return s.left.Read(b[:min(len(b), s.piece)]) }

func (s *scripted) readTwo(a, b []byte) (int, error) {
	both := make([]byte, min(len(a)+len(b), s.piece))
	n, err := s.left.Read(both)
	m := copy(a, both[:n])
	copy(b, both[m:n])
	return n, err
}

// TestOpening reads a message that is wanted, and then others that are not, of which
// no byte may be lost, however they come.
func TestOpening(t *testing.T) {
	data := bytes.Repeat([]byte{1, 2, 3}, 50)
	wanted := append(label{1, uint64(len(data))}.encode(), data...)
	others := append(append(label{2, 3}.encode(), 7, 8, 9), label{1, 0}.encode()...)
	for piece := 1; piece < 200; piece++ {
		r := &wireReader{patience: newPatience(false)}
		r.wire = &scripted{left: io.MultiReader(bytes.NewReader(wanted), bytes.NewReader(others)), piece: piece}
		got := make([]byte, len(data))
		n, ok := r.open(1, got)
		if !ok {
			t.Fatalf("pieces of %d: the message was not opened", piece)
		}
		if _, err := io.ReadFull(r, got[n:]); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("pieces of %d: %v, or other bytes", piece, err)
		}
		if _, ok := r.open(1, got); ok {
			t.Fatalf("pieces of %d: a message that was not wanted was opened", piece)
		}
		if rest, err := io.ReadAll(iotest.OneByteReader(r)); err != nil || !bytes.Equal(rest, others) {
			t.Fatalf("pieces of %d: %v, %v is left, want %v", piece, err, rest, others)
		}
	}
}
