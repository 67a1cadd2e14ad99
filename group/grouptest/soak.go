package grouptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// Soak is called by every rank of a world whose ranks are processes. It runs that many
// collectives and messages of all kinds and lengths, on the world and on splits that
// it makes and closes, and returns what is wrong: a result, or memory, goroutines or
// open files of this process that are not back at the end where they were after the
// first tenth. On systems that do not tell them, files and resident memory do not count.
func Soak(ctx context.Context, comm group.Communicator, collectives int) error {
	g := group.New(comm)
	warm := collectives / 10
	if err := mixAll(ctx, g, 0, warm); err != nil {
		return err
	}
	before, err := settled(ctx, g, nil)
	if err != nil {
		return err
	}
	if err := mixAll(ctx, g, warm, collectives); err != nil {
		return err
	}
	after, err := settled(ctx, g, &before)
	if err != nil {
		return err
	}
	return after.grownFrom(before)
}

// splitEvery is how many collectives there are between two splits.
const splitEvery = 20

func mixAll(ctx context.Context, g *group.Group, from, to int) error {
	for i := from; i < to; i++ {
		err := mix(ctx, g, i)
		if err == nil && i%splitEvery == 0 {
			err = mixOnSplit(ctx, g, i)
		}
		if err != nil {
			return fmt.Errorf("collective %d: %w", i, err)
		}
	}
	return nil
}

// mixOnSplit makes a split of which some ranks are not, uses and closes it.
func mixOnSplit(ctx context.Context, g *group.Group, i int) error {
	color := g.Rank() % (1 + i/splitEvery%3)
	if i/splitEvery%4 == 3 && g.Rank() == 0 {
		color = group.NoColor
	}
	sub, err := g.Split(ctx, color, -g.Rank())
	if err != nil {
		return err
	}
	for k := range 3 {
		if sub.Size() > 0 {
			err = first(err, mix(ctx, sub, i+k))
		}
	}
	return first(err, sub.Close())
}

// mix is one collective, or message to the right, whose kind and length i decides.
func mix(ctx context.Context, g *group.Group, i int) error {
	elems := []int{1, 0, 60, 3000, 700, 40_000, 5}[i%7]
	n, r := g.Size(), g.Rank()
	filled := func(count int, x int32) []int32 {
		xs := make([]int32, count)
		for k := range xs {
			xs[k] = x
		}
		return xs
	}
	sum := int32(n * (n - 1) / 2)
	switch i % 9 {
	case 0:
		return g.Barrier(ctx)
	case 1, 2:
		xs := filled(elems, int32(r))
		err := group.AllReduce(ctx, g, group.Sum, xs)
		return first(err, sameElements("sum", xs, filled(elems, sum)))
	case 3:
		got, err := group.AllGather(ctx, g, filled(elems, int32(r)))
		for k := range got {
			if got[k] != int32(k/elems) {
				return fmt.Errorf("gathered %d from rank %d", got[k], k/elems)
			}
		}
		return err
	case 4:
		got, err := group.ReduceScatter(ctx, g, group.Max, filled(elems*n, int32(r)))
		return first(err, sameElements("slice of the maximum", got, filled(elems, int32(n-1))))
	case 5:
		xs := filled(elems, int32(r))
		err := group.Broadcast(ctx, g, i%n, xs)
		return first(err, sameElements("broadcast", xs, filled(elems, int32(i%n))))
	case 6:
		got, err := group.AllToAll(ctx, g, filled(elems*n, int32(r)))
		for k := range got {
			if got[k] != int32(k/elems) {
				return fmt.Errorf("rank %d sent %d", k/elems, got[k])
			}
		}
		return err
	case 7:
		one, two := filled(elems, 1), filled(1, int32(r))
		p := group.AllReduceAsync(ctx, g, group.Sum, one)
		q := group.AllReduceAsync(ctx, g, group.Sum, two)
		return first(q.Wait(ctx), p.Wait(ctx), sameElements("sum", one, filled(elems, int32(n))), sameElements("sum", two, filled(1, sum)))
	}
	if n == 1 {
		return nil
	}
	sent := make(chan error, 1)
	go func() { sent <- group.Send(ctx, g, (r+1)%n, i%50, filled(elems, int32(r))) }()
	got, err := group.Recv[int32](ctx, g, (r+n-1)%n, i%50)
	return first(err, <-sent, sameElements("message", got, filled(elems, int32((r+n-1)%n))))
}

// holdings are what a process has.
type holdings struct{ heap, resident, goroutines, files int }

// settled waits, within reason, until this process has no more than before, and
// returns what it has; all ranks are idle meanwhile. A split of all ranks first lets
// backends free what has been closed.
func settled(ctx context.Context, g *group.Group, before *holdings) (now holdings, err error) {
	sub, err := g.Split(ctx, 0, 0)
	if err != nil {
		return holdings{}, err
	}
	if err := first(sub.Close(), g.Barrier(ctx)); err != nil {
		return holdings{}, err
	}
	for end := time.Now().Add(graceTime / 2); ; time.Sleep(20 * time.Millisecond) {
		runtime.GC()
		debug.FreeOSMemory()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		now = holdings{int(mem.HeapAlloc), resident(), runtime.NumGoroutine(), openFiles()}
		if before != nil && now.grownFrom(*before) == nil || time.Now().After(end) {
			return now, g.Barrier(ctx)
		}
		if before == nil && time.Now().Add(graceTime/2-time.Second).After(end) {
			return now, g.Barrier(ctx) // a second is enough to come to rest
		}
	}
}

const (
	heapSlack     = 2 << 20
	residentSlack = 24 << 20
)

// grownFrom says what there is more of.
func (h holdings) grownFrom(before holdings) error {
	var grown []error
	for _, c := range []struct {
		what              string
		now, before, more int
	}{
		{"bytes on the heap", h.heap, before.heap, heapSlack},
		{"resident bytes", h.resident, before.resident, residentSlack},
		{"goroutines", h.goroutines, before.goroutines, 0},
		{"open files", h.files, before.files, 0},
	} {
		if c.now > c.before+c.more {
			grown = append(grown, fmt.Errorf("%d %s, %d after warming up", c.now, c.what, c.before))
		}
	}
	return errors.Join(grown...)
}

// openFiles counts those of this process; 0 where the system does not say.
func openFiles() int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(files)
}
