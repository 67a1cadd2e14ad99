package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// pipedPair is a world of two whose rank 0 has a pipe to rank 1.
func pipedPair(t *testing.T, cfg Config) (from, to *comm) {
	t.Helper()
	comms := makeWorld(t, 2, cfg)
	from, to = comms[0].(*comm), comms[1].(*comm)
	if err := errors.Join(from.Send(t.Context(), 1, 9, nil), to.Recv(t.Context(), 0, 9, nil)); err != nil {
		t.Fatal(err)
	}
	if piped := to.peers[0].in.pipe.Load() != nil; piped != shm.Supported {
		t.Fatalf("there is a pipe: %v, want %v", piped, shm.Supported)
	}
	return from, to
}

// TestMessagesOfEveryLength crosses the limits of a pipe, in both orders of
// sending and receiving, and with the tags of two messages exchanged.
func TestMessagesOfEveryLength(t *testing.T) {
	from, to := pipedPair(t, Config{})
	messagesOfEveryLength(t, from, to)
}

func messagesOfEveryLength(t *testing.T, from, to *comm) {
	for _, n := range []int{0, 1, 4000, pipeBytes / 2, pipeBytes - 300, pipeBytes - 200, pipeBytes, 3*pipeBytes + 5} {
		for name, tags := range map[string][2]int{"in order": {1, 2}, "the second first": {2, 1}} {
			t.Run(fmt.Sprintf("%d bytes %s", n, name), func(t *testing.T) {
				message := func(tag int) []byte { return bytes.Repeat([]byte{byte(tag), 7, byte(n)}, n/3+1)[:n] }
				var sending sync.WaitGroup
				sending.Go(func() {
					for tag := 1; tag <= 2; tag++ {
						if err := from.Send(t.Context(), 1, tag, message(tag)); err != nil {
							t.Error(err)
						}
					}
				})
				for _, tag := range tags {
					got := make([]byte, n)
					if err := to.Recv(t.Context(), 0, tag, got); err != nil || !bytes.Equal(got, message(tag)) {
						t.Errorf("tag %d: %v, or other bytes", tag, err)
					}
				}
				sending.Wait()
			})
		}
	}
}

// halfMessage puts the label of a message of 100 bytes and 60 of them into the
// pipe; rest puts the others.
func halfMessage(t *testing.T, from *comm) (rest func()) {
	w := from.peers[1].out.conn.(*pipeWriter)
	w.Write(label{1, 100}.encode())
	w.Write(make([]byte, 60))
	return func() { w.Write(make([]byte, 40)) }
}

// TestPipeReadGivenUpInTheMiddle cancels a receive while its message arrives: the
// message is lost and the next one is not.
func TestPipeReadGivenUpInTheMiddle(t *testing.T) {
	if !shm.Supported {
		return
	}
	from, to := pipedPair(t, Config{})
	rest := halfMessage(t, from)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { done <- to.Recv(ctx, 0, 1, make([]byte, 100)) }()
	for to.peers[0].in.pipe.Load().stream.Available() > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel(errors.New("changed my mind"))
	wantError(t, <-done, "recv from rank 0 with tag 1", "changed my mind")
	rest()
	if err := from.Send(t.Context(), 1, 1, []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if err := to.Recv(t.Context(), 0, 1, got); err != nil || !bytes.Equal(got, []byte{1, 2, 3}) {
		t.Errorf("next message: %v, %v", got, err)
	}
}

// TestPipeEndsInTheMiddle breaks the group, or ends the pipe alone, while a message
// arrives.
func TestPipeEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	if !shm.Supported {
		return
	}
	for name, c := range map[string]struct {
		end  func(from *comm)
		want string
	}{
		"broken": {func(from *comm) { from.Break(errors.New("tired of it")) }, "tired of it"},
		"cut":    {func(from *comm) { from.peers[1].out.conn.Close() }, "rank 0"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := pipedPair(t, Config{})
			halfMessage(t, from)
			done := make(chan error)
			go func() { done <- to.Recv(t.Context(), 0, 1, make([]byte, 100)) }()
			for to.peers[0].in.pipe.Load().stream.Available() > 0 {
				time.Sleep(time.Millisecond)
			}
			c.end(from)
			wantError(t, <-done, c.want)
			wantError(t, to.Send(t.Context(), 0, 1, nil), "rank 0")
		})
	}
}

// TestReceiversOfSeveralTags have one message come for each of them, last to first.
func TestReceiversOfSeveralTags(t *testing.T) {
	from, to := pipedPair(t, Config{})
	severalTags(t, from, to)
}

func severalTags(t *testing.T, from, to *comm) {
	const tags = 6
	for round := range 50 {
		var receiving sync.WaitGroup
		for tag := range tags {
			receiving.Go(func() {
				got := make([]byte, 2)
				if err := to.Recv(t.Context(), 0, tag, got); err != nil || got[0] != byte(tag) || got[1] != byte(round) {
					t.Errorf("tag %d in round %d: %v, %v", tag, round, got, err)
				}
			})
		}
		for tag := tags - 1; tag >= 0; tag-- {
			if err := from.Send(t.Context(), 1, tag, []byte{byte(tag), byte(round)}); err != nil {
				t.Error(err)
			}
		}
		receiving.Wait()
	}
}

// TestMessagesAreKeptInThePipe until the receiver asks: also those of a sender that
// has left.
func TestMessagesAreKeptInThePipe(t *testing.T) {
	from, to := pipedPair(t, Config{})
	keptMessages(t, from, to)
}

func keptMessages(t *testing.T, from, to *comm) {
	for i := range 3 {
		if err := from.Send(t.Context(), 1, i, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	from.Close()
	for _, i := range []int{2, 0, 1} {
		got := []byte{99}
		if err := to.Recv(t.Context(), 0, i, got); err != nil || got[0] != byte(i) {
			t.Errorf("message %d: %v, %v", i, got, err)
		}
	}
	wantError(t, to.Recv(t.Context(), 0, 0, []byte{0}), "rank 0", "has left")
}

// TestOfferThatIsRefused has a receiver that cannot map the memory, and a sender
// that has none: messages go over the socket.
func TestOfferThatIsRefused(t *testing.T) {
	c := makeWorld(t, 2, Config{})[0].(*comm)
	here, there := unixPair(t)
	go func() {
		if file, err := shm.Receive(there); err == nil {
			file.Close()
		}
		there.Write([]byte{no})
	}()
	conn, err := c.offerPipe(t.Context(), here)
	if conn != net.Conn(here) || err != nil {
		t.Errorf("offered in vain: %v, %v; want the socket itself", conn, err)
	}
	here, there = unixPair(t)
	there.Write([]byte{no})
	if p, err := c.acceptPipe(here); p != nil || err != nil {
		t.Errorf("nothing offered: %v, %v; want no pipe", p, err)
	}
	there.Close()
	if _, err := c.acceptPipe(here); err == nil {
		t.Error("the end of the socket was taken for an offer")
	}
}

func unixPair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	address := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if a, err = net.DialUnix("unix", nil, address); err != nil {
		t.Fatal(err)
	}
	if b, err = listener.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// TestPipesAreGoneAfterClose counts mappings.
func TestPipesAreGoneAfterClose(t *testing.T) {
	mapped := func() int {
		maps, _ := os.ReadFile("/proc/self/maps")
		return strings.Count(string(maps), "memfd:lockstep")
	}
	before := mapped()
	comms := newWorld(t, 3, Config{})
	for r, c := range comms {
		if err := c.Send(t.Context(), (r+1)%3, 1, make([]byte, 10)); err != nil {
			t.Error(err)
		}
	}
	if err := comms[1].Recv(t.Context(), 0, 1, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if got := mapped() - before; shm.Supported && got != 3+2*3 {
		t.Errorf("%d mappings of 3 ranks and the ends of 3 pipes", got)
	}
	pending := make(chan error, 1)
	go func() { pending <- comms[2].Recv(context.Background(), 1, 2, make([]byte, 10)) }()
	comms[0].(group.Breaker).Break(errors.New("on purpose"))
	everyRank(3, func(r int) { comms[r].Close() })
	if <-pending == nil {
		t.Error("a receive that nothing came for gave no error")
	}
	if got := mapped(); got != before {
		t.Errorf("%d mappings, %d before", got, before)
	}
}
