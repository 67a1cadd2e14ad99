package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// averaged runs one round on g with one value and returns the result.
func averaged(g *group.Group, value float64, deadline time.Duration) (float64, int, error) {
	xs := []float64{value}
	n, err := group.FederatedAverage(background(), g, xs, deadline)
	return xs[0], n, err
}

// bubble runs a test with a clock of its own, which passes only while everyone waits.
func bubble(t *testing.T, n int, test func(t *testing.T, gs []*group.Group)) {
	synctest.Test(t, func(t *testing.T) { test(t, world(t, n, nil)) })
}

func TestTheLeaderWaitsForTheDeadlineAndNoLonger(t *testing.T) {
	bubble(t, 3, func(t *testing.T, gs []*group.Group) {
		start := time.Now()
		must(t, gs, func(g *group.Group) error {
			if g.Rank() == 2 {
				time.Sleep(time.Hour)
			}
			got, n, err := averaged(g, float64(g.Rank()+1), time.Second)
			took := time.Since(start)
			switch {
			case err != nil || got != 1.5:
				return fmt.Errorf("rank %d got %v, %v; want 1.5", g.Rank(), got, err)
			case g.IsLeader() != (n == 2) || !g.IsLeader() && n != 0:
				return fmt.Errorf("rank %d counts %d participants", g.Rank(), n)
			case g.Rank() < 2 && took != time.Second, g.Rank() == 2 && took != time.Hour:
				return fmt.Errorf("rank %d had it after %v", g.Rank(), took)
			}
			return nil
		})
	})
}

// With all there nobody waits for the deadline.
func TestARoundWithAllEndsEarly(t *testing.T) {
	bubble(t, 4, func(t *testing.T, gs []*group.Group) {
		start := time.Now()
		must(t, gs, func(g *group.Group) error { _, _, err := averaged(g, 1, time.Hour); return err })
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

func TestALeaderThatDoesNotAnswerIsNamed(t *testing.T) {
	bubble(t, 2, func(t *testing.T, gs []*group.Group) {
		start := time.Now()
		got, _, err := averaged(gs[1], 7, 10*time.Second)
		wantError(t, err, "federated_average #1 mean float64[1]", "rank 0", "no average within 21s")
		if took := time.Since(start); took != 21*time.Second || got != 7 {
			t.Errorf("after %v, value %v; want 21s and 7", took, got)
		}
		// The round counts all the same, and the group is whole.
		must(t, gs, func(g *group.Group) error {
			if g.IsLeader() {
				averaged(g, 1, time.Second)
			}
			got, _, err := averaged(g, float64(10*g.Rank()), time.Second)
			if err != nil || got != 5 {
				return fmt.Errorf("second round: %v, %v; want 5", got, err)
			}
			return g.Barrier(background())
		})
	})
}

// A rank that sleeps through many rounds takes the average that it waited for, or a later one, and is in step again.
func TestARankThatMissedManyRounds(t *testing.T) {
	bubble(t, 2, func(t *testing.T, gs []*group.Group) {
		const missed = 5
		must(t, gs, func(g *group.Group) error {
			if g.IsLeader() {
				for round := range missed {
					if got, n, err := averaged(g, float64(round), time.Second); got != float64(round) || n != 1 || err != nil {
						return fmt.Errorf("round %d alone: %v of %d, %v", round+1, got, n, err)
					}
				}
			} else {
				time.Sleep(time.Hour)
				last := -1.0
				for last < missed-1 {
					got, _, err := averaged(g, 1000, time.Second)
					if err != nil || got <= last || got >= missed {
						return fmt.Errorf("catching up: %v after %v, %v", got, last, err)
					}
					last = got
				}
			}
			if got, _, err := averaged(g, float64(2*g.Rank()), time.Hour); err != nil || got != 1 {
				return fmt.Errorf("in step again: %v, %v; want 1", got, err)
			}
			return nil
		})
	})
}

func TestACancelledRoundBreaksNothing(t *testing.T) {
	gs := world(t, 2, nil)
	must(t, gs, func(g *group.Group) error {
		ctx, cancel := context.WithCancelCause(background())
		time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
		if g.IsLeader() {
			xs := []float32{1}
			_, err := group.FederatedAverage(ctx, g, xs, time.Hour)
			wantError(t, err, "federated_average #1", "enough")
			if xs[0] != 1 {
				t.Errorf("value changed to %v", xs)
			}
		}
		return g.Barrier(background())
	})
	must(t, gs, func(g *group.Group) error {
		if !g.IsLeader() {
			averaged(g, 0, 0) // the round that the leader gave up
		}
		got, _, err := averaged(g, float64(4*g.Rank()), time.Hour)
		if err != nil || got != 2 {
			return fmt.Errorf("next round: %v, %v; want 2", got, err)
		}
		return nil
	})
}

func TestCloseEndsARound(t *testing.T) {
	for _, rank := range []int{0, 1} {
		gs := world(t, 2, nil)
		began := make(chan error)
		go func() {
			_, _, err := averaged(gs[rank], 1, time.Hour)
			began <- err
		}()
		time.Sleep(10 * time.Millisecond)
		if err := gs[rank].Close(); err != nil {
			t.Error(err)
		}
		if err := <-began; !errors.Is(err, group.ErrClosed) {
			t.Errorf("rank %d: the round ended with %v, want ErrClosed", rank, err)
		}
		if _, _, err := averaged(gs[rank], 1, time.Hour); !errors.Is(err, group.ErrClosed) {
			t.Errorf("rank %d: a round after Close gave %v, want ErrClosed", rank, err)
		}
	}
}

// tardy takes its time to send, until it is told to.
type tardy struct {
	group.Communicator
	sends *atomic.Int32
	until chan struct{}
}

func (c tardy) Send(ctx context.Context, dst, tag int, data []byte) error {
	select {
	case <-c.until:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.sends.Add(1)
	return c.Communicator.Send(ctx, dst, tag, data)
}

func TestCloseOfTheLeaderLetsAveragesLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sends atomic.Int32
		until := make(chan struct{})
		gs := world(t, 3, func(c group.Communicator) group.Communicator { return tardy{c, &sends, until} })
		if _, n, err := averaged(gs[0], 1, 0); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		time.AfterFunc(time.Second, func() { close(until) })
		gs[0].Close()
		if got := sends.Load(); got != 2 {
			t.Errorf("%d averages left before the leader had closed, want 2", got)
		}
	})
}

func TestCloseDoesNotWaitForRanksThatTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, func(c group.Communicator) group.Communicator { return tardy{c, new(atomic.Int32), make(chan struct{})} })
		averaged(gs[0], 1, 0)
		start := time.Now()
		gs[0].Close()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Close took %v, want 2s", took)
		}
	})
}

func TestAveragesInGroupsOfOneAndNone(t *testing.T) {
	xs := []float32{3}
	if n, err := group.FederatedAverage(background(), nil, xs, 0); n != 1 || err != nil || !slices.Equal(xs, []float32{3}) {
		t.Errorf("alone: %v of %d, %v", xs, n, err)
	}
	_, err := group.FederatedAverage(background(), sitOut(t), xs, time.Hour)
	wantError(t, err, "federated_average", "sat the split out")
}

// A bare communicator has no lifeline: a broken group has no averages then.
func TestWithoutALifelineABrokenGroupHasNoAverages(t *testing.T) {
	g := group.NewWith(bare{grouptest.NewWorld(2)[0]}, group.Config{Logger: quiet})
	defer g.Close()
	g.Abandon(1, "its work", errors.New("a mistake"))
	_, _, err := averaged(g, 1, time.Hour)
	wantError(t, err, "federated_average", "a mistake")
}
