package ring

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	signals "os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func init() { roles["told"] = doAsTold }

// doAsTold does what each line of standard input says and prints how it went. A
// signal to end cancels what is under way.
func doAsTold(world group.Communicator) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	ending := make(chan os.Signal, 1)
	signals.Notify(ending, syscall.SIGTERM)
	go func() { cancel(fmt.Errorf("signal: %v", <-ending)) }()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		began := time.Now()
		err := doOne(ctx, world, strings.Fields(lines.Text()))
		fmt.Printf("did: %v\n", err)
		fmt.Printf("took: %d\n", time.Since(began).Milliseconds())
	}
	return nil
}

// doOne does one thing: an operation, its length or root, and a deadline for it if
// there is a third word; after "until-error" it does so again and again.
func doOne(ctx context.Context, world group.Communicator, words []string) error {
	if words[0] == "until-error" {
		err := error(nil)
		for err == nil {
			err = doOne(ctx, world, words[1:])
		}
		return err
	}
	number := 0
	if len(words) > 1 {
		number, _ = strconv.Atoi(words[1])
	}
	if len(words) > 2 {
		d, err := time.ParseDuration(words[2])
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		ctx = limited
	}
	c := world.(*comm)
	switch words[0] {
	case "sum":
		return sumRanks(ctx, world, number)
	case "max":
		return c.AllReduce(ctx, group.Max, dtype.Int32, make([]byte, 4*number))
	case "sum-floats":
		return c.AllReduce(ctx, group.Sum, dtype.Float32, make([]byte, 4*number))
	case "gather":
		return c.AllGather(ctx, make([]byte, number), make([]byte, number*c.Size()))
	case "scatter":
		return c.ReduceScatter(ctx, group.Sum, dtype.Int32, make([]byte, 4*number*c.Size()), make([]byte, 4*number))
	case "all-to-all":
		return c.AllToAll(ctx, make([]byte, number*c.Size()), make([]byte, number*c.Size()))
	case "broadcast":
		return c.Broadcast(ctx, number, make([]byte, 64))
	case "barrier":
		return c.Barrier(ctx)
	case "split":
		half, err := c.Split(ctx, 0, 0)
		if half != nil {
			half.Close()
		}
		return err
	case "several":
		if beside == nil {
			var err error
			if beside, err = c.Split(ctx, 0, 0); err != nil {
				return err
			}
		}
		return several(ctx, world, beside, number)
	case "send":
		return c.Send(ctx, number, 7, make([]byte, 64))
	case "recv":
		return c.Recv(ctx, number, 7, make([]byte, 64))
	case "close":
		return c.Close()
	case "left":
		return atStart.exceeded()
	case "exit":
		os.Exit(0)
	}
	return fmt.Errorf("told to %q", words)
}

// beside is a split of the world that lasts.
var beside group.Communicator

// holdings is what a process has that a world could leave behind.
type holdings struct{ goroutines, files, segments, heap int }

// atStart is what this process had before it formed its world.
var atStart holdings

func holds() (h holdings) {
	h.goroutines = runtime.NumGoroutine()
	if entries, err := os.ReadDir("/dev/fd"); err == nil {
		h.files = len(entries)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		h.segments = bytes.Count(maps, []byte("memfd:lockstep"))
	}
	runtime.GC()
	runtime.GC() // what a pool kept goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap = int(m.HeapAlloc)
	return h
}

// heapLeft is what a process may keep of a world that it has closed; much less than
// that world's buffers.
const heapLeft = 512 << 10

// exceeded is an error when a world that was closed has left something. The two
// goroutines that wait for signals are not its own.
func (h holdings) exceeded() error {
	var now holdings
	for range 500 {
		now = holds()
		if now.goroutines <= h.goroutines+2 && now.files <= h.files && now.segments <= h.segments && now.heap <= h.heap+heapLeft {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("goroutines, files, segments, bytes of heap: %v, before the world %v", now, h)
}

// sumRanks adds up as many int32 as it is told, each the rank, its place and the number
// of the job, and checks the sums.
func sumRanks(ctx context.Context, comm group.Communicator, length int) error {
	data, n := make([]byte, 4*length), comm.Size()
	job, _ := strconv.Atoi(os.Getenv(jobVariable))
	for i := range length {
		binary.NativeEndian.PutUint32(data[4*i:], uint32(comm.Rank()+i+job))
	}
	if err := comm.AllReduce(ctx, group.Sum, dtype.Int32, data); err != nil {
		return err
	}
	for i := range length {
		if got, want := binary.NativeEndian.Uint32(data[4*i:]), uint32(n*(i+job)+n*(n-1)/2); got != want {
			return fmt.Errorf("element %d is %d, want %d", i, got, want)
		}
	}
	return nil
}

// startTold starts ranks that do as they are told, in a way of moving data.
func startTold(t *testing.T, n int, variables ...string) []*process {
	t.Helper()
	ranks := startRanks(t, n, "told", variables...)
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	return ranks
}

// tell has a process begin something.
func (p *process) tell(t *testing.T, what string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.stdin, what); err != nil {
		t.Fatal(err)
	}
}

// did is how it went: "<nil>", or an error's text; and how long it took.
func (p *process) did(t *testing.T) (text string, took time.Duration) {
	t.Helper()
	text = p.expect(t, "did: ")
	ms, err := strconv.Atoi(p.expect(t, "took: "))
	if err != nil {
		t.Fatal(err)
	}
	return text, time.Duration(ms) * time.Millisecond
}

// all tells each process the same and expects it to go well.
func all(t *testing.T, ranks []*process, what string) {
	t.Helper()
	for _, p := range ranks {
		p.tell(t, what)
	}
	for r, p := range ranks {
		if text, _ := p.did(t); text != "<nil>" {
			t.Errorf("rank %d: %s: %s", r, what, text)
		}
	}
}

// wantText checks that a text says all of the words.
func wantText(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q, want %q in it", what, text, w)
		}
	}
}
