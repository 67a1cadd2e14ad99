package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// sharesMemory counts the members of a group that use shared memory.
func sharesMemory(comms []group.Communicator) int {
	count := 0
	for _, c := range comms {
		if c.(*comm).shared != nil {
			count++
		}
	}
	return count
}

func splitAll(t *testing.T, comms []group.Communicator, color func(r int) int) []group.Communicator {
	t.Helper()
	parts := make([]group.Communicator, len(comms))
	everyRank(len(comms), func(r int) {
		var err error
		if parts[r], err = comms[r].(group.Splitter).Split(t.Context(), color(r), 0); err != nil {
			t.Error(err)
		}
	})
	return parts
}

func TestRanksOfOneHostShareMemory(t *testing.T) {
	if !shm.Supported {
		t.Log("this system has no shared memory: sockets are used")
	}
	want := map[bool]int{true: 4, false: 0}[shm.Supported]
	comms := makeWorld(t, 4, Config{})
	if got := sharesMemory(comms); got != want {
		t.Errorf("%d of 4 ranks share memory, want %d", got, want)
	}
	halves := splitAll(t, comms, func(r int) int { return r % 2 })
	if got := sharesMemory(halves); got != want {
		t.Errorf("%d of 4 ranks share memory in their halves, want %d", got, want)
	}
	sumAll(t, comms)
	sumAll(t, []group.Communicator{halves[0], halves[2]})
	if got := sharesMemory(makeWorld(t, 2, Config{NoSharedMemory: true})); got != 0 {
		t.Errorf("%d ranks share memory against their configuration", got)
	}
}

// mixedWorld is one in which some ranks do not share memory.
func mixedWorld(t *testing.T, n int, apart func(r int) bool) []group.Communicator {
	listeners, addrs := make([]net.Listener, n), make([]string, n)
	for r := range n {
		listeners[r] = listenLocal(t)
		addrs[r] = listeners[r].Addr().String()
	}
	comms, errs := make([]group.Communicator, n), make([]error, n)
	everyRank(n, func(r int) {
		comms[r], errs[r] = FromListener(t.Context(), r, n, listeners[r], addrs, Config{NoSharedMemory: apart(r)})
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { everyRank(n, func(r int) { comms[r].Close() }) })
	return comms
}

// TestOneRankStaysAway has each rank of three, in turn, not share memory: then
// none does, but a split without it may.
func TestOneRankStaysAway(t *testing.T) {
	for away := range 3 {
		t.Run(fmt.Sprint("rank ", away), func(t *testing.T) {
			comms := mixedWorld(t, 3, func(r int) bool { return r == away })
			if got := sharesMemory(comms); got != 0 {
				t.Errorf("%d ranks share memory", got)
			}
			sumAll(t, comms)
			parts := splitAll(t, comms, func(r int) int { return boolean(r == away) })
			if got := sharesMemory(parts); shm.Supported && got != 2 {
				t.Errorf("%d ranks share memory in their splits, want 2", got)
			}
			sumAll(t, []group.Communicator{parts[(away+1)%3], parts[(away+2)%3]}[:2])
		})
	}
}

// TestMessagesBetweenRanksOfOneHost take Unix sockets, unless they are told not to.
func TestMessagesBetweenRanksOfOneHost(t *testing.T) {
	for name, c := range map[string]struct {
		apart func(r int) bool
		want  string
	}{
		"all share":       {func(int) bool { return false }, map[bool]string{true: "unix", false: "tcp"}[shm.Supported]},
		"one stays away":  {func(r int) bool { return r == 1 }, "tcp"},
		"all stay away":   {func(int) bool { return true }, "tcp"},
		"another is away": {func(r int) bool { return r == 2 }, map[bool]string{true: "unix", false: "tcp"}[shm.Supported]},
	} {
		t.Run(name, func(t *testing.T) {
			comms := mixedWorld(t, 3, c.apart)
			if err := comms[0].Send(t.Context(), 1, 4, []byte("by which way?")); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 13)
			if err := comms[1].Recv(t.Context(), 0, 4, got); err != nil || string(got) != "by which way?" {
				t.Errorf("%q, %v", got, err)
			}
			if network := comms[0].(*comm).peers[1].out.conn.RemoteAddr().Network(); network != c.want {
				t.Errorf("it went over %s, want %s", network, c.want)
			}
		})
	}
}

// TestDoorIsTaken has something else listen under the name of rank 1's door, and
// of rank 0's: the ranks use sockets.
func TestDoorIsTaken(t *testing.T) {
	for taken := range 2 {
		t.Run(fmt.Sprint("of rank ", taken), func(t *testing.T) {
			listeners, addrs := []net.Listener{listenLocal(t), listenLocal(t)}, make([]string, 2)
			for r, l := range listeners {
				addrs[r] = l.Addr().String()
			}
			n := &node{job: jobOf([][]string{{addrs[0]}, {addrs[1]}})}
			squatter, err := net.Listen("unix", n.doorName(taken))
			if err != nil {
				t.Fatal(err)
			}
			var hanging sync.WaitGroup
			hanging.Go(func() {
				for conn, err := squatter.Accept(); err == nil; conn, err = squatter.Accept() {
					conn.Close()
				}
			})
			defer hanging.Wait()
			defer squatter.Close()
			comms := join2(t, listeners, addrs, Config{})
			if got := sharesMemory(comms); got != 0 {
				t.Errorf("%d ranks share memory", got)
			}
			sumAll(t, comms)
		})
	}
}

// TestMemoryThatCannotBeMapped plays rank 0, which hands out a plain file.
func TestMemoryThatCannotBeMapped(t *testing.T) {
	if !shm.Supported {
		return
	}
	file, err := os.CreateTemp(t.TempDir(), "plain")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	here, there := unixPair(t)
	if err := shm.Send(here, file); err != nil {
		t.Fatal(err)
	}
	c := makeWorld(t, 2, Config{})[1].(*comm)
	if s, err := c.takePart(c.everyone, there); s != nil || err != nil {
		t.Errorf("a plain file was taken for shared memory: %v", err)
	}
	if answer, err := readByte(here); answer != no || err != nil {
		t.Errorf("answer %d, %v; want no", answer, err)
	}
}

// TestGuestWhoComesTooLate brings rank 0 another connection for its memory after
// all has been decided, and one to a rank that hands out none.
func TestGuestWhoComesTooLate(t *testing.T) {
	if !shm.Supported {
		return
	}
	comms := makeWorld(t, 2, Config{})
	n := comms[1].(*comm).node
	_, err := n.knockDoor(t.Context(), 0, n.root.id)
	wantError(t, err, "refused")
	_, err = n.knockDoor(t.Context(), 1, n.root.id)
	wantError(t, err, "refused")
	sumAll(t, comms)
}

// TestEverySizeOfMessage crosses all limits between algorithms and pieces.
func TestEverySizeOfMessage(t *testing.T) {
	for _, n := range []int{2, 3} {
		comms := makeWorld(t, n, Config{})
		for _, bytes := range onehost.Sizes(n) {
			t.Run(fmt.Sprintf("%d ranks, %d bytes", n, bytes), func(t *testing.T) { crossLimits(t, comms, bytes) })
		}
	}
}

// crossLimits runs the collectives on int64 numbers that tell rank and place.
func crossLimits(t *testing.T, comms []group.Communicator, bytes int) {
	n, count := len(comms), bytes/8
	number := func(rank, i int) int64 { return int64(rank+1)*1_000_003 + int64(i)*7 }
	everyRank(n, func(r int) {
		c := comms[r].(*comm)
		own := make([]int64, count)
		for i := range own {
			own[i] = number(r, i)
		}
		sum, gathered := encode64(own), make([]byte, n*bytes)
		err := errors.Join(
			c.AllReduce(t.Context(), group.Sum, dtype.Int64, sum),
			c.AllGather(t.Context(), encode64(own), gathered))
		swapped, scattered := make([]byte, n*bytes), make([]byte, bytes)
		err = errors.Join(err,
			c.AllToAll(t.Context(), gathered, swapped),
			c.ReduceScatter(t.Context(), group.Max, dtype.Int64, gathered, scattered))
		cast := encode64(own)
		err = errors.Join(err, c.Broadcast(t.Context(), n-1, cast), c.Barrier(t.Context()))
		if err != nil {
			t.Error(err)
			return
		}
		for i := range count {
			total := int64(0)
			for p := range n {
				total += number(p, i)
				if got := decode64(gathered[p*bytes:], i); got != number(p, i) {
					t.Fatalf("rank %d: gathered %d from rank %d at %d, want %d", r, got, p, i, number(p, i))
				}
				if got := decode64(swapped[p*bytes:], i); got != number(r, i) {
					t.Fatalf("rank %d: got %d from rank %d at %d, want %d", r, got, p, i, number(r, i))
				}
			}
			if got := decode64(sum, i); got != total {
				t.Fatalf("rank %d: sum %d at %d, want %d", r, got, i, total)
			}
			if a, b := decode64(scattered, i), decode64(cast, i); a != number(r, i) || b != number(n-1, i) {
				t.Fatalf("rank %d: scattered %d and cast %d at %d, want %d and %d", r, a, b, i, number(r, i), number(n-1, i))
			}
		}
	})
}

func encode64(xs []int64) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func decode64(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }

// TestPendingCallsInSharedMemory ends a wait for ranks 1 and 3 of 4 in several
// ways. The deadline of an operation is far away.
func TestPendingCallsInSharedMemory(t *testing.T) {
	reason := errors.New("the dog ate the fence")
	for name, c := range map[string]struct {
		end  func(comms []group.Communicator, cancel context.CancelCauseFunc)
		want []string
	}{
		"cancelled":                     {func(_ []group.Communicator, cancel context.CancelCauseFunc) { cancel(reason) }, []string{"the dog ate the fence"}},
		"broken by one that waits":      {func(comms []group.Communicator, _ context.CancelCauseFunc) { comms[2].(*comm).Break(reason) }, []string{"the dog ate the fence"}},
		"broken by one that is missing": {func(comms []group.Communicator, _ context.CancelCauseFunc) { comms[3].(*comm).Break(reason) }, []string{"rank 3", "the dog ate the fence"}},
		"one leaves":                    {func(comms []group.Communicator, _ context.CancelCauseFunc) { comms[1].Close() }, []string{"rank 1", "has left"}},
		"one is cut off": {func(comms []group.Communicator, _ context.CancelCauseFunc) {
			comms[3].(*comm).node.controls[0].Load().conn.Close()
		}, []string{"rank"}},
	} {
		t.Run(name, func(t *testing.T) {
			comms := makeWorld(t, 4, Config{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			errs := make([]error, 4)
			var waiting sync.WaitGroup
			for _, r := range []int{0, 2} {
				waiting.Go(func() {
					errs[r] = comms[r].AllReduce(ctx, group.Sum, dtype.Float32, make([]byte, 1<<20))
				})
			}
			for _, r := range []int{0, 2} {
				for begun := uint64(0); begun == 0; time.Sleep(time.Millisecond) {
					begun, _ = comms[r].(*comm).progress()
				}
			}
			c.end(comms, cancel)
			waiting.Wait()
			wantError(t, errs[0], c.want...)
			wantError(t, comms[0].(*comm).Barrier(t.Context()), "rank")
		})
	}
}

// TestMemoryIsGoneAfterClose looks for mappings, also after breaks.
func TestMemoryIsGoneAfterClose(t *testing.T) {
	mapped := func() int {
		maps, _ := os.ReadFile("/proc/self/maps")
		return strings.Count(string(maps), "memfd:lockstep")
	}
	before := mapped()
	comms := newWorld(t, 3, Config{Logger: slog.New(slog.DiscardHandler)})
	splitAll(t, comms, func(r int) int { return r / 2 })
	if got := mapped() - before; shm.Supported && got != 5 {
		t.Errorf("%d mappings of 3 ranks and 2 in a split, want 5", got)
	}
	comms[1].(group.Breaker).Break(errors.New("on purpose"))
	everyRank(3, func(r int) { comms[r].Close() })
	if got := mapped(); got != before {
		t.Errorf("%d mappings, %d before", got, before)
	}
}
