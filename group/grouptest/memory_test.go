package grouptest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

func TestMemory(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		return grouptest.NewWorld(n)
	})
}

// bare hides what a world in memory can do beyond the seven methods.
type bare struct{ group.Communicator }

func TestMemoryWithoutOptionalInterfaces(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		if n != 3 {
			return nil
		}
		world := grouptest.NewWorld(n)
		for i := range world {
			world[i] = bare{world[i]}
		}
		return world
	})
}

func TestLongDeadlineNamesAbsentRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := grouptest.NewWorld(4)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		errs := make([]error, 4)
		var ranks sync.WaitGroup
		for _, r := range []int{0, 2} {
			ranks.Go(func() { errs[r] = world[r].AllReduce(ctx, group.Sum, dtype.Int8, []byte{1}) })
		}
		ranks.Wait()
		for _, r := range []int{0, 2} {
			if err := errs[r]; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "ranks 1, 3") {
				t.Errorf("rank %d: error %v, want the deadline and ranks 1, 3", r, err)
			}
		}
	})
}

func TestReceiveThatIsGivenUpTakesNothing(t *testing.T) {
	world := grouptest.NewWorld(2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := world[1].Recv(ended, 0, 1, make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if err := world[0].Send(t.Context(), 1, 1, []byte{9}); err != nil {
		t.Fatal(err)
	}
	got := []byte{0}
	if err := world[1].Recv(t.Context(), 0, 1, got); err != nil || got[0] != 9 {
		t.Errorf("got %v, %v, want 9", got, err)
	}
}

func TestWorldWithoutRanksPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a world of 0 ranks did not panic")
		}
	}()
	grouptest.NewWorld(0)
}

func TestReductionsHaveTheNumbersOfGroup(t *testing.T) {
	for op := group.Sum; op <= group.Min; op++ {
		if got := reduce.Op(op).String(); got != op.String() {
			t.Errorf("number %d is %s in reduce and %s in group", op, got, op)
		}
	}
}
