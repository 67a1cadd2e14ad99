package ring

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// proxy stands before the listener of a rank and passes connections on. Those
// that come after limit is set are cut when so many bytes have passed.
type proxy struct {
	front net.Listener
	back  string
	limit atomic.Int64 // 0 for none
	bytes atomic.Int64 // that have passed, either way
	work  sync.WaitGroup
}

func newProxy(t *testing.T, back net.Listener) *proxy {
	p := &proxy{front: listenLocal(t), back: back.Addr().String()}
	p.work.Go(p.serve)
	t.Cleanup(func() {
		p.front.Close()
		p.work.Wait()
	})
	return p
}

func (p *proxy) serve() {
	for {
		a, err := p.front.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", p.back)
		if err != nil {
			a.Close()
			continue
		}
		left := &atomic.Int64{}
		left.Store(1 << 62)
		if limit := p.limit.Load(); limit > 0 {
			left.Store(limit)
		}
		p.work.Go(func() { p.copy(a, b, left) })
		p.work.Go(func() { p.copy(b, a, left) })
	}
}

func (p *proxy) copy(from, to net.Conn, left *atomic.Int64) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if left.Add(-int64(n)) < 0 {
			from.Close()
			to.Close()
			return
		}
		p.bytes.Add(int64(n))
		to.Write(buf[:n])
		if err != nil {
			closeWrite(to)
			return
		}
	}
}

// TestLinkCutInTheMiddle cuts a connection for data in the middle of a large
// message while the control connections stay.
func TestLinkCutInTheMiddle(t *testing.T) {
	t.Parallel()
	const n = 5
	listeners, addrs, proxies := make([]net.Listener, n), make([]string, n), make([]*proxy, n)
	for r := range n {
		listeners[r] = listenLocal(t)
		proxies[r] = newProxy(t, listeners[r])
		addrs[r] = proxies[r].front.Addr().String()
	}
	comms := join2(t, listeners, addrs, Config{NoSharedMemory: true})
	proxies[1].limit.Store(100_000)
	errs := make([]error, n)
	everyRank(n, func(r int) {
		errs[r] = comms[r].AllReduce(t.Context(), group.Sum, dtype.Float32, make([]byte, 4<<20))
	})
	for r, err := range errs {
		var peer *group.PeerError
		if !errors.As(err, &peer) && !errors.As(err, new(*group.BrokenError)) {
			t.Errorf("rank %d: %v, want a peer that is named", r, err)
		}
		wantError(t, err, "rank ")
		wantError(t, comms[r].Send(t.Context(), (r+1)%n, 1, nil), "rank ")
	}
}

// TestControlCut loses the control connection of one pair: both are alive, and all
// ranks hear of it.
func TestControlCut(t *testing.T) {
	comms := makeWorld(t, 4, Config{})
	comms[2].(*comm).node.controls[1].Load().conn.Close()
	for r, c := range comms {
		err := c.Recv(t.Context(), (r+1)%4, 1, []byte{0})
		wantError(t, err, "rank ", "cannot be reached")
		if r == 0 || r == 3 {
			var peer *group.PeerError
			if !errors.As(err, &peer) || peer.Rank != 1 && peer.Rank != 2 || peer.Addr == "" {
				t.Errorf("rank %d: %v, want a peer error with the address of rank 1 or 2", r, err)
			}
		}
	}
}

// TestDeathReachesSplits sees that a death breaks the groups that hold the dead
// rank, and no other.
func TestDeathReachesSplits(t *testing.T) {
	comms := makeWorld(t, 4, Config{})
	halves := make([]group.Communicator, 4)
	everyRank(4, func(r int) {
		var err error
		if halves[r], err = comms[r].(group.Splitter).Split(t.Context(), r%2, -r); err != nil {
			t.Error(err)
		}
	})
	dead := comms[3].(*comm).node
	dead.mu.Lock()
	dead.closing = true // and so tells nobody
	dead.mu.Unlock()
	for r := range 3 {
		dead.controls[r].Load().conn.Close()
	}
	err := halves[1].Recv(t.Context(), 0, 1, []byte{0}) // rank 3 is rank 0 of the odd ones
	var peer *group.PeerError
	if !errors.As(err, &peer) || peer.Rank != 0 {
		t.Errorf("%v, want a peer error of rank 0", err)
	}
	wantError(t, err, "rank 3 of the world")
	wantError(t, comms[0].Recv(t.Context(), 1, 1, []byte{0}), "rank 3")
	sumAll(t, []group.Communicator{halves[2], halves[0]})
}

// TestAbsentRanksAreNamed has ranks 1 and 3 of 4 never call.
func TestAbsentRanksAreNamed(t *testing.T) {
	t.Parallel()
	comms := makeWorld(t, 4, Config{Timeout: 200 * time.Millisecond})
	errs := make([]error, 4)
	everyRank(2, func(i int) {
		errs[2*i] = comms[2*i].AllReduce(t.Context(), group.Sum, dtype.Int32, make([]byte, 8))
	})
	for _, r := range []int{0, 2} {
		wantError(t, errs[r], "ranks 1,3 have not come", "all_reduce #1 sum int32[2]", "200ms passed")
	}
	for _, r := range []int{1, 3} {
		wantError(t, comms[r].AllReduce(t.Context(), group.Sum, dtype.Int32, make([]byte, 8)), "broken by rank", "ranks 1,3 have not come")
	}
}

// TestOneTextMissing has a rank that disagrees come long after the others.
func TestOneTextMissing(t *testing.T) {
	t.Parallel()
	comms := makeWorld(t, 3, Config{})
	errs := make([]error, 3)
	everyRank(2, func(r int) {
		errs[r] = comms[r].AllReduce(t.Context(), group.Op(r), dtype.Float32, make([]byte, 8)) // sum and mean
	})
	var m *group.MismatchError
	for r := range 2 {
		if !errors.As(errs[r], &m) || m.Calls[2] != "" || !strings.Contains(m.Calls[0], "sum") || !strings.Contains(m.Calls[1], "mean") {
			t.Errorf("rank %d: %v", r, errs[r])
		}
	}
	err := comms[2].(group.Barrierer).Barrier(t.Context())
	if !errors.As(err, &m) || !strings.Contains(m.Calls[0], "sum") || !strings.Contains(m.Calls[2], "barrier") {
		t.Errorf("late rank: %v", err)
	}
	wantError(t, comms[2].(group.Barrierer).Barrier(t.Context()), "broken", "ranks disagree")
}

// TestManyKindsOfMismatch has rank 1 do something else than the others.
func TestManyKindsOfMismatch(t *testing.T) {
	ctx := t.Context()
	sum := func(c *comm, bytes int) error {
		return c.AllReduce(ctx, group.Sum, dtype.Float32, make([]byte, bytes))
	}
	for name, do := range map[string][2]func(c *comm) error{
		"small and large":     {func(c *comm) error { return sum(c, 8) }, func(c *comm) error { return sum(c, 1<<20) }},
		"large and larger":    {func(c *comm) error { return sum(c, 1<<20) }, func(c *comm) error { return sum(c, 1<<20+4) }},
		"reduce and gather":   {func(c *comm) error { return sum(c, 8) }, func(c *comm) error { return c.AllGather(ctx, make([]byte, 8), make([]byte, 8*c.Size())) }},
		"types of equal size": {func(c *comm) error { return sum(c, 8) }, func(c *comm) error { return c.AllReduce(ctx, group.Sum, dtype.Int32, make([]byte, 8)) }},
		"roots":               {func(c *comm) error { return c.Broadcast(ctx, 0, []byte{1}) }, func(c *comm) error { return c.Broadcast(ctx, 1, []byte{1}) }},
		"split and barrier":   {func(c *comm) error { _, err := c.Split(ctx, 0, 0); return err }, func(c *comm) error { return c.Barrier(ctx) }},
		"what the user says":  {func(c *comm) error { c.Next([]byte("a"), "add"); return c.Barrier(ctx) }, func(c *comm) error { c.Next([]byte("b"), "mul"); return c.Barrier(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			comms := makeWorld(t, 3, Config{})
			everyRank(3, func(r int) {
				c := comms[r].(*comm)
				err := do[boolean(r == 1)](c)
				var m *group.MismatchError
				if !errors.As(err, &m) {
					t.Errorf("rank %d: %v, want a mismatch", r, err)
					return
				}
				if len(m.Calls) != 3 || m.Calls[0] != m.Calls[2] || m.Calls[0] == m.Calls[1] || m.Calls[0] == "" || m.Calls[1] == "" {
					t.Errorf("rank %d: calls %q", r, m.Calls)
				}
			})
		})
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMessagesThatNobodyAsksFor(t *testing.T) {
	comms := makeWorld(t, 2, Config{Unexpected: 1000})
	ctx := t.Context()
	for tag := 1; tag <= 3; tag++ {
		if err := comms[0].Send(ctx, 1, tag, bytes.Repeat([]byte{byte(tag)}, 600)); err != nil {
			t.Fatal(err)
		}
	}
	err := comms[1].Recv(ctx, 0, 3, make([]byte, 600))
	if !errors.Is(err, group.ErrFull) {
		t.Fatalf("receive that cannot proceed: %v", err)
	}
	wantError(t, err, "rank 0", "tag 3", "tags [1]", "600 bytes with tag 2")
	for tag := 1; tag <= 3; tag++ {
		got := make([]byte, 600)
		if err := comms[1].Recv(ctx, 0, tag, got); err != nil || got[599] != byte(tag) {
			t.Errorf("tag %d: %v, %d", tag, err, got[599])
		}
	}
	sumAll(t, comms)
}

// TestReceiverKeepsWithinItsBounds sends much more than the receiver may keep.
func TestReceiverKeepsWithinItsBounds(t *testing.T) {
	const messages, size, bound = 64, 100_000, 300_000
	comms := makeWorld(t, 2, Config{Unexpected: bound})
	everyRank(2, func(r int) {
		for i := range messages {
			data := bytes.Repeat([]byte{byte(i)}, size)
			if r == 0 {
				if err := comms[0].Send(t.Context(), 1, i%2, data); err != nil {
					t.Error(err)
				}
				continue
			}
			got := make([]byte, size)
			if err := comms[1].Recv(t.Context(), 0, i%2, got); err != nil || !bytes.Equal(got, data) {
				t.Errorf("message %d: %v", i, err)
			}
			in := &comms[1].(*comm).peers[0].in
			in.mu.Lock()
			if in.bytes > bound {
				t.Errorf("%d bytes are kept, at most %d", in.bytes, bound)
			}
			in.mu.Unlock()
		}
	})
}

func TestMessageLargerThanTheBound(t *testing.T) {
	comms := makeWorld(t, 2, Config{Unexpected: 1000})
	data := bytes.Repeat([]byte{7}, 9<<20)
	everyRank(2, func(r int) {
		if r == 0 {
			if err := comms[0].Send(t.Context(), 1, 1, data); err != nil {
				t.Error(err)
			}
			return
		}
		if err := comms[1].Recv(t.Context(), 0, 1, make([]byte, 5)); !errors.As(err, new(*group.LengthError)) {
			t.Errorf("shorter buffer: %v", err)
		}
	})
	everyRank(2, func(r int) {
		got := make([]byte, len(data))
		err := error(nil)
		if r == 0 {
			err = comms[0].Send(t.Context(), 1, 1, data)
		} else if err = comms[1].Recv(t.Context(), 0, 1, got); err == nil && !bytes.Equal(got, data) {
			err = errors.New("other bytes arrived")
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestReceiveGivenUpInTheMiddle cancels a receive while its message arrives: the
// message is lost and the next one is not.
func TestReceiveGivenUpInTheMiddle(t *testing.T) {
	c := makeWorld(t, 2, Config{})[1].(*comm)
	own, other := connect(t)
	if err := c.take(event{from: 0, conn: own, purpose: forMessages, welcomed: true}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	other.Write(label{1, 100}.encode())
	other.Write(make([]byte, 60))
	done := make(chan error)
	go func() { done <- c.Recv(ctx, 0, 1, make([]byte, 100)) }()
	in := &c.peers[0].in
	for filling := false; !filling; time.Sleep(time.Millisecond) {
		in.mu.Lock()
		filling = in.filling != nil || in.asked[1] != nil
		in.mu.Unlock()
		if r := in.wire.Load(); r != nil && !filling {
			if filling = !r.turn.TryLock(); !filling {
				r.turn.Unlock()
			}
		}
	}
	cancel(errors.New("changed my mind"))
	wantError(t, <-done, "rank 0", "changed my mind")
	other.Write(make([]byte, 40))
	other.Write(append(label{2, 3}.encode(), 1, 2, 3))
	got := make([]byte, 3)
	if err := c.Recv(t.Context(), 0, 2, got); err != nil || !bytes.Equal(got, []byte{1, 2, 3}) {
		t.Errorf("next message: %v, %v", got, err)
	}
}

func TestSendCutInTheMiddleBreaks(t *testing.T) {
	comms := makeWorld(t, 3, Config{Unexpected: 1000, Timeout: 20 * time.Second})
	if err := comms[0].Send(t.Context(), 1, 2, nil); err != nil { // from here on there is a connection
		t.Fatal(err)
	}
	long := make([]byte, 64<<20) // which takes a while in itself
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := comms[0].Send(ctx, 1, 1, long)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
	wantError(t, err, "send to rank 1 with tag 1", "takes no more")
	for r, c := range comms {
		wantError(t, c.Recv(t.Context(), (r+1)%3, 1, []byte{0}), "rank ")
	}
}

// TestGarbageInTheDataBreaks plays a peer that sends no frames.
func TestGarbageInTheDataBreaks(t *testing.T) {
	t.Parallel()
	c := makeWorld(t, 2, Config{})[1].(*comm)
	own, other := connect(t)
	if err := c.take(event{from: 0, conn: own, purpose: forMessages, welcomed: true}); err != nil {
		t.Fatal(err)
	}
	io.WriteString(other, "this is no label of a message")
	wantError(t, c.Recv(t.Context(), 0, 1, []byte{0}), "rank 0", errNoLabel.Error())
}

func TestSplitAndWorldCloseApart(t *testing.T) {
	comms := newWorld(t, 3, Config{})
	parts := make([]group.Communicator, 3)
	everyRank(3, func(r int) {
		for range 2 {
			var err error
			if parts[r], err = comms[r].(group.Splitter).Split(t.Context(), 0, 0); err != nil {
				t.Error(err)
			}
		}
	})
	sumAll(t, parts)
	everyRank(3, func(r int) { parts[r].Close() })
	if err := parts[0].Send(t.Context(), 1, 1, nil); !errors.Is(err, group.ErrClosed) {
		t.Errorf("send on a closed split: %v", err)
	}
	sumAll(t, comms)
	again := make([]group.Communicator, 3)
	everyRank(3, func(r int) { again[r], _ = comms[r].(group.Splitter).Split(t.Context(), 0, 0) })
	sumAll(t, again)
	everyRank(3, func(r int) { comms[r].Close() })
	if err := again[0].Send(t.Context(), 1, 1, nil); !errors.Is(err, group.ErrClosed) {
		t.Errorf("send on a split of a closed world: %v", err)
	}
}

// TestNothingIsLeftBehind counts goroutines and open files.
func TestNothingIsLeftBehind(t *testing.T) {
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range 3 {
		comms := newWorld(t, 4, Config{})
		sumAll(t, comms)
		everyRank(4, func(r int) {
			half, err := comms[r].(group.Splitter).Split(t.Context(), r/2, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if err := half.Send(t.Context(), 1-half.Rank(), 5, []byte("never received")); err != nil {
				t.Error(err)
			}
		})
		everyRank(4, func(r int) { comms[r].Close() })
		broken := newWorld(t, 3, Config{})
		broken[1].(group.Breaker).Break(errors.New("on purpose"))
		everyRank(3, func(r int) { broken[r].Close() })
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines || openFiles(t) > files; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines and %d files, before %d and %d", runtime.NumGoroutine(), openFiles(t), goroutines, files)
		}
	}
}

// openFiles counts this process's open files; where the system does not list
// them it is always the same.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
