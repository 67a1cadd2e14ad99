package ops_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// rank is one rank of a test's world.
type rank struct {
	*testing.T
	g   *group.Group
	r   int
	ctx context.Context
}

// world runs f as every rank of a group of n, all in this process. Operations
// end after ten seconds.
func world(t *testing.T, n int, f func(r rank)) {
	t.Helper()
	var wait sync.WaitGroup
	for i, comm := range grouptest.NewWorld(n) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: 10 * time.Second})
			defer g.Close()
			f(rank{t, g, i, t.Context()})
		})
	}
	wait.Wait()
}

// sizes runs f in worlds of the given sizes.
func sizes(t *testing.T, ns []int, f func(r rank)) {
	for _, n := range ns {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { world(t, n, f) })
	}
}

// same checks values and shape of x.
func same[T dtype.Element](r rank, what string, x *array.Array, want []T, shape ...int) {
	r.Helper()
	got, err := array.Values[T](r.ctx, x)
	if err != nil {
		r.Errorf("%s on rank %d: %v", what, r.r, err)
		return
	}
	if !slices.Equal(got, want) || !slices.Equal(x.Shape(), shape) {
		r.Errorf("%s on rank %d: %v of shape %v, want %v of shape %v", what, r.r, got, x.Shape(), want, shape)
	}
}

// by picks a rank's value.
func by[T any](r rank, values ...T) T { return values[r.r] }
