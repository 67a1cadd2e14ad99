package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// inSeveral is how many operations a rank other than rank 1 has under way at once.
const inSeveral = 6

// several has many operations under way at once: two reductions in the background, one
// of a split, and a message of long bytes and a short one each way between rank 1 and any other. It
// returns all of their errors, apart by "; also ".
func several(ctx context.Context, comm, half group.Communicator, long int) error {
	g := group.New(comm)
	var pending sync.WaitGroup
	var mu sync.Mutex
	var all []string
	bad := false
	note := func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		bad = bad || err != nil
		all = append(all, fmt.Sprint(what, ": ", err))
	}
	send := func(to, tag, length int) {
		pending.Go(func() { note("send", comm.Send(ctx, to, tag, bytes.Repeat([]byte{byte(tag + comm.Rank())}, length))) })
	}
	recv := func(from, tag, length int) {
		got := make([]byte, length)
		err := comm.Recv(ctx, from, tag, got)
		if err == nil && !bytes.Equal(got, bytes.Repeat([]byte{byte(tag + from)}, length)) {
			err = errors.New("other bytes arrived")
		}
		note("recv", err)
	}
	sums := [][]int64{make([]int64, 1<<17), {1}}
	for _, xs := range sums {
		p := group.AllReduceAsync(ctx, g, group.Sum, xs)
		pending.Go(func() {
			err := p.Wait(ctx)
			if last := xs[len(xs)-1]; err == nil && len(xs) == 1 && last != int64(comm.Size()) {
				err = fmt.Errorf("sum of ones is %d", last)
			}
			note("sum", err)
		})
	}
	pending.Go(func() {
		note("sum of the split", half.AllReduce(ctx, group.Max, dtype.Uint8, []byte{byte(comm.Rank())}))
	})
	if comm.Rank() == 1 {
		for r := range comm.Size() {
			if r != 1 {
				pending.Go(func() { // nothing is kept that is as long, so the long one is asked for first
					recv(r, 1, long)
					recv(r, 2, 10)
				})
				send(r, 3, 10)
			}
		}
	} else {
		send(1, 1, long)
		send(1, 2, 10) // may wait behind the long one, or go at once
		pending.Go(func() { recv(1, 3, 10) })
	}
	pending.Wait()
	if !bad {
		return nil
	}
	return errors.New(strings.Join(all, "; also "))
}

// TestSeveralPendingAtAStoppedRank stops a process before the others have collectives
// and messages under way: all of them end, with its name, or, when it goes on before
// the deadline, with what is right.
func TestSeveralPendingAtAStoppedRank(t *testing.T) {
	t.Parallel()
	const patience = 10 * time.Second
	long := 65 << 20 // more than is kept for a receiver that does not ask
	if testing.Short() {
		long = 16 << 20 // the race detector takes four times the memory, and seconds to fill it; still more than systems take
	}
	what := fmt.Sprint("several ", long)
	for name, stays := range map[string]bool{"it stays stopped": true, "it goes on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, way string) {
				timeout := map[bool]time.Duration{true: patience, false: time.Minute}[stays]
				ranks := startTold(t, 3, way, env.Timeout+"="+timeout.String())
				all(t, ranks, what) // connections for all of it
				ranks[1].stop(t)
				for _, p := range ranks {
					p.tell(t, what)
				}
				if !stays {
					time.Sleep(time.Second)
					ranks[1].Process.Signal(syscall.SIGCONT)
					for r, p := range ranks {
						text, _ := p.did(t)
						if text != "<nil>" {
							t.Errorf("rank %d: %s", r, text)
						}
					}
					return
				}
				for _, r := range []int{0, 2} {
					text, took := ranks[r].did(t)
					ends := strings.Split(text, "; also ")
					if len(ends) != inSeveral || took > patience+6*time.Second {
						t.Errorf("rank %d: %d ends after %v, want %d: %s", r, len(ends), took, inSeveral, text)
					}
					for _, end := range ends {
						// What is short may have been taken by the system.
						if !strings.Contains(end, "rank 1") && end != "send: <nil>" {
							t.Errorf("rank %d: %s; want rank 1 to be named", r, end)
						}
					}
					if strings.Count(text, "<nil>") > 1 {
						t.Errorf("rank %d: %s", r, text)
					}
				}
				ranks[1].Process.Kill()
				for _, r := range []int{0, 2} {
					for _, what := range []string{"close", "left"} {
						ranks[r].tell(t, what)
						failsSoon(t, r, ranks[r], "<nil>")
					}
				}
			})
		})
	}
}

// TestStoppedAmongSplits stops a process while all split, which has several parts: all
// of them name it.
func TestStoppedAmongSplits(t *testing.T) {
	t.Parallel()
	for round := range 2 {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, way string) {
				ranks := startTold(t, 3, way, env.Timeout+"=1s")
				for _, p := range ranks {
					p.tell(t, "until-error split")
				}
				time.Sleep(time.Duration(50+round) * time.Millisecond)
				ranks[1].stop(t)
				for _, r := range []int{0, 2} {
					failsSoon(t, r, ranks[r], "rank 1", "split", "127.0.0.1:")
				}
			})
		})
	}
}
