package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/conform"
)

// start begins one reduction of a single element for each value.
func start(g *group.Group, values ...int64) (buckets [][]int64, pending []*group.Pending) {
	for _, v := range values {
		bucket := []int64{v}
		buckets = append(buckets, bucket)
		pending = append(pending, group.AllReduceAsync(background(), g, group.Sum, bucket))
	}
	return buckets, pending
}

func TestReductionsInTheBackground(t *testing.T) {
	conform.Row(t, "B11")
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := int64(len(gs))
		must(t, gs, func(g *group.Group) error {
			buckets, pending := start(g, 0, 1, 2, 3, 4, 5, 6, 7)
			front := []int64{100}
			if err := group.AllReduce(background(), g, group.Sum, front); err != nil || front[0] != 100*n {
				return fmt.Errorf("in the foreground: %v, %v", front, err)
			}
			for i := range slices.Backward(pending) {
				err := pending[i].Wait(background())
				if again := pending[i].Wait(background()); err != nil || again != nil || buckets[i][0] != int64(i)*n {
					return fmt.Errorf("bucket %d: %v, %v and %v", i, buckets[i], err, again)
				}
			}
			return nil
		})
	})
}

// The foreground call comes while the reduction still waits for its turn at the slow rank; were it to overtake it,
// the ranks would disagree.
func TestACallWaitsForTheBackground(t *testing.T) {
	for range 20 {
		gs := world(t, 2, nil)
		must(t, gs, func(g *group.Group) error {
			ones := []int32{1}
			p := group.AllReduceAsync(background(), g, group.Sum, ones)
			return errors.Join(g.Barrier(background()), p.Wait(background()))
		})
	}
}

func TestBackgroundOfBytesIsInPlace(t *testing.T) {
	gs := world(t, 3, nil)
	must(t, gs, func(g *group.Group) error {
		xs := []float32{float32(g.Rank()), 1}
		p := g.AllReduceAsync(background(), group.Mean, dtype.Float32, buffer.Bytes(xs))
		<-p.Done()
		if err := p.Wait(background()); err != nil || !slices.Equal(xs, []float32{1, 1}) {
			return fmt.Errorf("%v, %v", xs, err)
		}
		return nil
	})
}

func TestWrongReductionsInTheBackgroundEndAtOnce(t *testing.T) {
	gs := world(t, 2, nil)
	wantError(t, gs[0].AllReduceAsync(background(), group.Mean, dtype.Int8, nil).Wait(background()), "all_reduce", "mean")
	wantError(t, gs[0].AllReduceAsync(background(), group.Sum, dtype.Int32, make([]byte, 3)).Wait(background()), "3 bytes")
	wantError(t, group.AllReduceAsync(background(), sitOut(t), group.Sum, []int8{1}).Wait(background()), "sat the split out")
	alone := []int8{5}
	if err := group.AllReduceAsync(background(), group.Single(), group.Sum, alone).Wait(background()); err != nil || alone[0] != 5 {
		t.Errorf("a group of one: %v, %v", alone, err)
	}
}

// sitOut is the group of a rank that a split left out.
func sitOut(t *testing.T) *group.Group {
	g, err := group.Single().Split(t.Context(), group.NoColor, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAWaitThatIsGivenUpEndsNothing(t *testing.T) {
	gs := world(t, 2, nil)
	xs := []int32{7}
	p := group.AllReduceAsync(background(), gs[0], group.Sum, xs)
	ended, cancel := context.WithCancelCause(background())
	cancel(errors.New("enough"))
	wantError(t, p.Wait(ended), "enough")
	if err := group.AllReduce(background(), gs[1], group.Sum, []int32{1}); err != nil {
		t.Error(err)
	}
	if err := p.Wait(background()); err != nil || xs[0] != 8 {
		t.Errorf("%v, %v; want 8", xs, err)
	}
}

func TestACancelledReductionBreaksTheGroupAndThoseBehindIt(t *testing.T) {
	gs := world(t, 2, nil)
	ctx, cancel := context.WithCancelCause(background())
	xs := []int32{7}
	first := group.AllReduceAsync(ctx, gs[0], group.Sum, xs)
	_, behind := start(gs[0], 1, 2)
	cancel(errors.New("enough"))
	wantError(t, first.Wait(background()), "enough", "all_reduce")
	for _, p := range behind {
		wantError(t, p.Wait(background()), "enough")
	}
	wantError(t, gs[1].Barrier(background()), "enough")
	if xs[0] != 7 {
		t.Errorf("elements changed to %v by a reduction that failed", xs)
	}
}

func TestCloseEndsTheBackground(t *testing.T) {
	gs := world(t, 2, nil)
	_, pending := start(gs[0], 1, 2, 3)
	if err := gs[0].Close(); err != nil {
		t.Error(err)
	}
	for i, p := range pending {
		select {
		case <-p.Done():
		default:
			t.Errorf("reduction %d is under way after Close", i)
		}
		if err := p.Wait(background()); !errors.Is(err, group.ErrClosed) {
			t.Errorf("reduction %d ended with %v, want ErrClosed", i, err)
		}
	}
}

func TestTheTimeoutOfTheBackgroundCountsFromItsTurn(t *testing.T) {
	comms := grouptest.NewWorld(2)
	g := group.NewWith(comms[0], group.Config{Timeout: 20 * time.Millisecond, Logger: quiet})
	defer g.Close()
	defer comms[1].Close()
	_, pending := start(g, 1, 2, 3)
	wantError(t, pending[0].Wait(background()), "timeout after 20ms", "rank 1")
	err := pending[2].Wait(background())
	var broken *group.BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("the last ended with %v, want a BrokenError with the reason of the first", err)
	}
}
