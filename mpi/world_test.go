//go:build cgo && mpi

package mpi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// makeWorld splits a world of n ranks off.
func makeWorld(t *testing.T, n int) []group.Communicator {
	if n > world.size {
		return nil
	}
	color := 0
	if world.rank >= n {
		color = group.NoColor
	}
	c, err := world.Split(t.Context(), color, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return []group.Communicator{}
	}
	return []group.Communicator{c}
}

// worldCases are what one rank does on a split of the whole world. The world
// itself stays in step.
var worldCases = []struct {
	name  string
	least int
	run   func(t *testing.T, c *comm)
}{
	{"sums of every length have the bits of reduce", 1, sumsAsReduce},
	{"ranks of one host share memory, all or none", 2, sharesMemory},
	{"shared memory is unmapped", 1, unmaps},
	{"every way of shared memory", 1, everyWay},
	{"sums by the library", 1, librarySums},
	{"slices of a reduction", 1, scattersAsReduce},
	{"all to all", 1, transposes},
	{"broadcasts of every length", 1, broadcasts},
	{"counts above MPI's limit", 2, pieces},
	{"a slow receiver", 2, slowReceiver},
	{"the garbage collector runs during sums", 1, sumsWhileCollecting},
	{"goroutines on groups of their own", 1, goroutines},
	{"children between collectives", 1, children},
	{"a nil dereference is recovered", 1, dereference},
	{"a cancelled collective breaks the group", 2, cancelled},
	{"a deadline names those that have not come", 2, lateRank},
	{"a long wait is logged", 2, stalls},
	{"a long wait for a message is logged", 2, stalledReceive},
	{"a termination is noticed", 1, terminated},
	{"collectives of several goroutines take turns", 1, takeTurns},
	{"an ended context is refused", 1, endedContext},
	{"a call in its turn does not watch its context", 1, unwatched},
	{"a cancelled receive leaves the group usable", 2, cancelledReceive},
	{"a long message of the wrong length", 2, wrongLength},
	{"different collectives", 2, mismatch},
	{"fingerprints", 2, fingerprints},
	{"break reaches waiting peers", 2, breaks},
	{"a closed split", 2, closedSplit},
	{"closed splits are freed", 1, freed},
	{"nothing grows", 1, soak},
	{"arguments", 2, arguments},
	{"errors of the library", 1, libraryErrors},
	{"colors and keys beyond MPI's ints", 1, largeColors},
	{"a second start", 1, secondStart},
}

func runWorld(t *testing.T) {
	if !t.Run("grouptest", func(t *testing.T) { grouptest.Run(t, makeWorld) }) {
		t.Fatal("stopped: the ranks may be out of step")
	}
	for _, c := range worldCases {
		if world.size < c.least {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			split := makeWorld(t, world.size)[0].(*comm)
			c.run(t, split)
			together(t)
			if err := split.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		if err := world.Barrier(t.Context()); err != nil {
			t.Fatalf("stopped: %v", err)
		}
	}
}

// unwatched uses a context of which nobody may ask to be told of its end: for those of
// a group that makes timers, which cost more than a small collective.
func unwatched(t *testing.T, c *comm) {
	if err := c.AllReduce(unwatchable{t.Context(), t}, group.Sum, dtype.Int32, make([]byte, 4)); err != nil {
		t.Error(err)
	}
}

type unwatchable struct {
	context.Context
	t *testing.T
}

func (u unwatchable) Done() <-chan struct{} {
	u.t.Error("the end of the context was watched for")
	return u.Context.Done()
}

// together waits for all ranks, on the world.
func together(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := world.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
}

// pattern is n bytes that differ by rank.
func pattern(rank, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + rank*31)
	}
	return b
}

// halves are n float16 numbers that round when they are added.
func halves(rank, n int) []byte {
	b := make([]byte, 0, 2*n)
	for i := range n {
		x := dtype.F16From(math.Ldexp(float64(i%2047+1+rank), i%7-3))
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	return b
}

func allHalves(size, n int) [][]byte {
	parts := make([][]byte, size)
	for rank := range parts {
		parts[rank] = halves(rank, n)
	}
	return parts
}

func sumsAsReduce(t *testing.T, c *comm) {
	for _, n := range []int{0, 1, 2047, 2048, 2049, 100_003, 700_001} {
		data := halves(c.rank, n)
		want := make([]byte, len(data))
		reduce.Into(reduce.Sum, dtype.Float16, want, allHalves(c.size, n))
		if err := c.AllReduce(t.Context(), group.Sum, dtype.Float16, data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("sum of %d float16 differs from package reduce", n)
		}
	}
}

func scattersAsReduce(t *testing.T, c *comm) {
	for _, n := range []int{0, 1, 5000, 300_001} {
		in := halves(c.rank, n*c.size)
		all, out := make([]byte, len(in)), make([]byte, 2*n)
		reduce.Into(reduce.Mean, dtype.Float16, all, allHalves(c.size, n*c.size))
		if err := c.ReduceScatter(t.Context(), group.Mean, dtype.Float16, in, out); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out, slot(all, c.rank, 2*n)) {
			t.Errorf("slice of a mean of %d float16 differs from package reduce", n)
		}
	}
}

func transposes(t *testing.T, c *comm) {
	for _, n := range []int{0, 1, 100_000} {
		var in, want []byte
		for peer := range c.size {
			in = append(in, pattern(c.rank*c.size+peer, n)...)
			want = append(want, pattern(peer*c.size+c.rank, n)...)
		}
		out := make([]byte, len(in))
		if err := c.AllToAll(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out, want) {
			t.Errorf("slices of %d bytes came wrong", n)
		}
	}
}

func broadcasts(t *testing.T, c *comm) {
	root := c.size - 1
	for _, n := range []int{0, 1, 4096, 4097, 500_001} {
		data := pattern(c.rank, n)
		if err := c.Broadcast(t.Context(), root, data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, pattern(root, n)) {
			t.Errorf("%d bytes came wrong", n)
		}
	}
}

func slowReceiver(t *testing.T, c *comm) {
	conform.Row(t, "B19")
	if err := grouptest.SlowReceiver(t.Context(), c); err != nil {
		t.Error(err)
	}
}

func soak(t *testing.T, c *comm) {
	if err := grouptest.Soak(t.Context(), c, grouptest.SoakLength); err != nil {
		t.Error(err)
	}
}

func pieces(t *testing.T, c *comm) {
	conform.Row(t, "R29")
	defer func(n int) { pieceBytes = n }(pieceBytes)
	pieceBytes = 1000
	for _, n := range []int{0, 999, 1000, 1001, 2000, 2500, 5000, 123_456} {
		out := make([]byte, n*c.size)
		if err := c.AllGather(t.Context(), pattern(c.rank, n), out); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, n)
		pass(t, c, pattern(c.rank, n), got)
		left := (c.rank + c.size - 1) % c.size
		if !bytes.Equal(got, pattern(left, n)) || !bytes.Equal(slot(out, left, n), got) {
			t.Errorf("%d bytes in pieces of %d came wrong", n, pieceBytes)
		}
	}
	sumsAsReduce(t, c)
}

// pass sends to the right and receives from the left, in parallel.
func pass(t *testing.T, c *comm, out, in []byte) {
	t.Helper()
	sent := make(chan error)
	go func() { sent <- c.Send(t.Context(), (c.rank+1)%c.size, 5, out) }()
	if err := c.Recv(t.Context(), (c.rank+c.size-1)%c.size, 5, in); err != nil {
		t.Error(err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func sumsWhileCollecting(t *testing.T, c *comm) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				runtime.GC()
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for _, n := range []int{300_000, 25_000_000, 1000} {
		data := bytes.Repeat([]byte{1, 0, 0, 0}, n)
		if err := c.AllReduce(t.Context(), group.Sum, dtype.Int32, data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, bytes.Repeat([]byte{byte(c.size), 0, 0, 0}, n)) {
			t.Fatal("wrong sum")
		}
	}
}

// goroutines runs collectives on four splits and messages on a fifth at once.
func goroutines(t *testing.T, c *comm) {
	var all sync.WaitGroup
	for range 4 {
		split, err := c.Split(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer split.Close()
		all.Go(func() {
			for i := range 50 {
				data := bytes.Repeat([]byte{1}, 1+i*200)
				err := split.AllReduce(t.Context(), group.Sum, dtype.Uint8, data)
				if err != nil || data[0] != byte(c.size) {
					t.Errorf("sum: %v, %v", data[0], err)
					return
				}
			}
		})
	}
	for tag := range 4 * min(c.size-1, 1) {
		all.Go(func() {
			right, left := (c.rank+1)%c.size, (c.rank+c.size-1)%c.size
			for i := range 50 {
				got := make([]byte, 100+i)
				err := errors.Join(c.Send(t.Context(), right, tag, pattern(tag+i, 100+i)), c.Recv(t.Context(), left, tag, got))
				if err != nil || !bytes.Equal(got, pattern(tag+i, 100+i)) {
					t.Errorf("message %d with tag %d came wrong (%v)", i, tag, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func children(t *testing.T, c *comm) {
	for range 50 {
		if err := exec.Command("true").Run(); err != nil {
			t.Error(err)
		}
		sumsOfOnes(t, c, 4)
	}
}

func sumsOfOnes(t *testing.T, c *comm, n int) {
	t.Helper()
	data := bytes.Repeat([]byte{1}, n)
	if err := c.AllReduce(t.Context(), group.Sum, dtype.Uint8, data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, bytes.Repeat([]byte{byte(c.size)}, n)) {
		t.Errorf("sum of %d ones over %d ranks: %v", n, c.size, data[:min(n, 8)])
	}
}

func dereference(t *testing.T, c *comm) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var nothing *comm
	t.Log(nothing.rank)
}

var errChanged = errors.New("changed my mind")

func cancelled(t *testing.T, c *comm) {
	if c.rank == 0 {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(errChanged) })
		err := c.AllReduce(ctx, group.Sum, dtype.Uint8, make([]byte, 100_000))
		if !errors.Is(err, errChanged) {
			t.Errorf("a cancelled sum gave %v; want the cause of its context", err)
		}
	}
	together(t)
	var broken *group.BrokenError
	err := c.Barrier(t.Context())
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), errChanged.Error()) {
		t.Errorf("a later barrier gave %v; want *group.BrokenError with the reason", err)
	} else if c.rank > 0 && broken.By != 0 {
		t.Errorf("the group was broken by %d; want rank 0", broken.By)
	}
	if err := c.Send(t.Context(), (c.rank+1)%c.size, 0, nil); !errors.As(err, &broken) {
		t.Errorf("a later send gave %v; want *group.BrokenError", err)
	}
}

func lateRank(t *testing.T, c *comm) {
	late := c.size - 1
	if c.rank != late {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		err := c.Barrier(ctx)
		var peer *group.PeerError
		var broken *group.BrokenError
		switch {
		case errors.As(err, &broken): // another rank's deadline came first
			if !strings.Contains(err.Error(), fmt.Sprintf("rank %d has not come", late)) && !strings.Contains(err.Error(), fmt.Sprintf("rank %d: has not come", late)) {
				t.Errorf("the notice does not name rank %d: %v", late, err)
			}
		case !errors.As(err, &peer) || peer.Rank != late || !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("a barrier without rank %d gave %v", late, err)
		case strings.Contains(err.Error(), "nor"):
			t.Errorf("more than rank %d is named: %v", late, err)
		}
	}
	together(t)
}

func stalls(t *testing.T, c *comm) {
	late := c.size - 1
	if c.rank != late {
		var log bytes.Buffer
		defer func(logger *slog.Logger, stall time.Duration) { c.job.logger, c.job.stall = logger, stall }(c.job.logger, c.job.stall)
		c.job.logger, c.job.stall = slog.New(slog.NewTextHandler(&log, nil)), 200*time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		if err := c.Barrier(ctx); err == nil {
			t.Error("a barrier without one rank ended well")
		}
		if got := log.String(); strings.Count(got, "stalled") != 1 || !strings.Contains(got, fmt.Sprintf("peers=[%d]", late)) {
			t.Errorf("the log says %q; want one warning that names rank %d", got, late)
		}
	}
	together(t)
}

func endedContext(t *testing.T, c *comm) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errChanged)
	err := c.Barrier(ctx)
	var broken *group.BrokenError
	if !errors.Is(err, errChanged) && !(errors.As(err, &broken) && strings.Contains(err.Error(), errChanged.Error())) {
		t.Errorf("a barrier in an ended context gave %v; want its cause, or a peer's", err)
	}
}

func cancelledReceive(t *testing.T, c *comm) {
	got := make([]byte, 3)
	if c.rank == 1 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := c.Recv(ctx, 0, 1, got)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("a receive without a message gave %v", err)
		}
	}
	together(t)
	sumsOfOnes(t, c, 10)
	if c.rank == 0 {
		if err := c.Send(t.Context(), 1, 1, []byte("abc")); err != nil {
			t.Error(err)
		}
	}
	if c.rank == 1 {
		if err := c.Recv(t.Context(), 0, 1, got); err != nil || string(got) != "abc" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func wrongLength(t *testing.T, c *comm) {
	lengths := []int{5, 3_000_000, 0, 5000}
	switch c.rank {
	case 0:
		for _, n := range append(lengths, 4) {
			if err := c.Send(t.Context(), 1, 1, pattern(n, n)); err != nil {
				t.Error(err)
			}
		}
	case 1:
		got := make([]byte, 4)
		for _, n := range lengths {
			err := c.Recv(t.Context(), 0, 1, got)
			var length *group.LengthError
			if !errors.As(err, &length) || *length != (group.LengthError{Src: 0, Tag: 1, Got: n, Want: 4}) {
				t.Errorf("a message of %d bytes gave %v", n, err)
			}
		}
		if err := c.Recv(t.Context(), 0, 1, got); err != nil || !bytes.Equal(got, pattern(4, 4)) {
			t.Errorf("the message behind them: %v, %v", got, err)
		}
	}
	sumsOfOnes(t, c, 10)
}

func mismatch(t *testing.T, c *comm) {
	var err error
	if c.rank == 0 {
		err = c.AllReduce(t.Context(), group.Max, dtype.Float32, make([]byte, 8000))
	} else {
		err = c.AllGather(t.Context(), make([]byte, 8), make([]byte, 8*c.size))
	}
	var m *group.MismatchError
	if !errors.As(err, &m) {
		t.Fatalf("different collectives gave %v", err)
	}
	for rank, text := range m.Calls {
		want := "all_gather of 8 bytes"
		if rank == 0 {
			want = "all_reduce max float32 of 8000 bytes"
		}
		if text != want {
			t.Errorf("rank %d called %q; want %q", rank, text, want)
		}
	}
	if err := c.Barrier(t.Context()); !errors.Is(err, group.ErrMismatch) {
		t.Errorf("a barrier after a mismatch gave %v", err)
	}
}

func fingerprints(t *testing.T, c *comm) {
	c.Next([]byte("same"), "sum #1")
	sumsOfOnes(t, c, 10)
	sumsOfOnes(t, c, 10)
	c.Next([]byte{byte(c.rank)}, fmt.Sprintf("sum #%d", c.rank))
	err := c.AllReduce(t.Context(), group.Sum, dtype.Uint8, make([]byte, 10))
	if !errors.Is(err, group.ErrMismatch) || !strings.Contains(err.Error(), "rank 1 called sum #1") {
		t.Errorf("different fingerprints gave %v", err)
	}
}

func breaks(t *testing.T, c *comm) {
	if c.rank == 0 {
		c.Break(errChanged)
	}
	err := c.Barrier(t.Context())
	var broken *group.BrokenError
	if !errors.As(err, &broken) || broken.By != 0 || !strings.Contains(err.Error(), errChanged.Error()) {
		t.Errorf("a barrier on a broken group gave %v", err)
	}
}

func closedSplit(t *testing.T, c *comm) {
	if c.rank == 0 {
		if err := c.Send(t.Context(), 1, 9, []byte("last")); err != nil {
			t.Error(err)
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if err := c.Barrier(t.Context()); !errors.Is(err, group.ErrClosed) {
			t.Errorf("a barrier on a closed group gave %v", err)
		}
		return
	}
	if got := make([]byte, 4); c.rank == 1 {
		if err := c.Recv(t.Context(), 0, 9, got); err != nil || string(got) != "last" {
			t.Errorf("the message before the goodbye: %q, %v", got, err)
		}
	}
	err := c.Barrier(t.Context())
	if err == nil || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("a barrier without rank 0, which has closed, gave %v", err)
	}
}

func freed(t *testing.T, c *comm) {
	before := len(c.job.comms)
	for range 20 {
		child, err := c.Split(t.Context(), c.rank%2, -c.rank)
		if err != nil {
			t.Fatal(err)
		}
		sumsOfOnes(t, child.(*comm), 3)
		child.Close()
	}
	together(t)
	// The last goodbyes may be on their way.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if err := c.job.reap(); err != nil {
			t.Fatal(err)
		}
		after := len(c.job.comms)
		if after <= before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d communicators before, %d after 20 closed splits", before, after)
		}
	}
}

func arguments(t *testing.T, c *comm) {
	ctx := t.Context()
	cases := []struct {
		name, want string
		err        error
	}{
		{"rank too large", fmt.Sprintf("ranks 0 to %d", c.size-1), c.Send(ctx, c.size, 0, nil)},
		{"negative rank", "rank -1", c.Recv(ctx, -1, 0, nil)},
		{"itself", "itself", c.Send(ctx, c.rank, 0, nil)},
		{"negative tag", "tags lie from 0", c.Recv(ctx, (c.rank+1)%c.size, -1, nil)},
		{"mean of integers", "mean of int8", c.AllReduce(ctx, group.Mean, dtype.Int8, nil)},
		{"half an element", "multiple of 4 bytes", c.AllReduce(ctx, group.Sum, dtype.Float32, make([]byte, 6))},
		{"short out", "out has 3 bytes", c.AllGather(ctx, make([]byte, 4), make([]byte, 3))},
		{"root too large", fmt.Sprintf("ranks 0 to %d", c.size-1), c.Broadcast(ctx, c.size, nil)},
	}
	for _, tc := range cases {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) || !strings.HasPrefix(tc.err.Error(), "mpi: ") {
			t.Errorf("%s: %v; want %q in it", tc.name, tc.err, tc.want)
		}
	}
	sumsOfOnes(t, c, 10)
}

func libraryErrors(t *testing.T, c *comm) {
	b := newBatch(1)
	defer b.free()
	err := b.send(c.messages, c.size+99, 0, nil)
	if err == nil || !strings.Contains(err.Error(), "MPI_Isend") || !strings.Contains(err.Error(), "MPI_ERR_RANK") {
		t.Errorf("a send to no rank gave %v", err)
	}
}

func largeColors(t *testing.T, c *comm) {
	child, err := c.Split(t.Context(), math.MaxInt-c.rank%2, math.MaxInt-c.rank)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	members := (c.size + 1 - c.rank%2) / 2
	if child.Size() != members || child.Rank() != members-1-c.rank/2 {
		t.Errorf("rank %d of %d became rank %d of %d", c.rank, c.size, child.Rank(), child.Size())
	}
	grandchild, err := child.(group.Splitter).Split(t.Context(), child.Rank(), group.NoColor)
	if err != nil || grandchild.Size() != 1 {
		t.Fatalf("a split of a split: %v, %v", grandchild, err)
	}
	sumsOfOnes(t, grandchild.(*comm), 5)
	grandchild.Close()
	sumsOfOnes(t, child.(*comm), 5)
}

func secondStart(t *testing.T, c *comm) {
	b := &backend{started: true}
	if again, err := b.Init(t.Context(), group.Config{}); again != nil || err == nil {
		t.Errorf("a second Init gave %v, %v", again, err)
	}
}
