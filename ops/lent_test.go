//go:build !world

package ops_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// Storage that a collective was never lent, since its group was over before, is not lost
// to those who try again.
func TestACollectiveThatIsRefusedLeavesStorageAlone(t *testing.T) {
	world(t, 2, func(r rank) {
		x := array.Arange(0, 1<<20, 1, dtype.Float32)
		if err := array.Eval(r.ctx, x); err != nil {
			r.Fatal(err)
		}
		r.meet()
		if r.r == 0 {
			r.g.Close()
		}
		r.meet()
		array.Eval(r.ctx, ops.AllSum(array.Scalar(1.0), r.g)) // rank 1 finds out here
		r.meet()
		if r.r == 0 {
			array.ClearCache()
		}
		r.meet()
		before := array.Memory().Active
		r.meet()
		for what, y := range inOrder(map[string]*array.Array{
			"all_sum": ops.AllSum(x, r.g), "all_gather": ops.AllGather(x, r.g), "sum_scatter": ops.SumScatter(x, r.g),
			"broadcast": ops.Broadcast(x, 0, r.g), "all_to_all": ops.AllToAll(x, r.g), "send": ops.Send(x, 1-r.r, r.g),
		}) {
			var broken *group.BrokenError
			if err := array.Eval(r.ctx, y); !errors.Is(err, group.ErrClosed) && !errors.As(err, &broken) {
				r.Errorf("%s on rank %d: %v", what, r.r, err)
			}
		}
		r.meet()
		if after := array.Memory().Active; after < before {
			r.Errorf("%d bytes in use after, %d before: storage of an operand is lost", after, before)
		}
		r.meet()
		if v, err := array.Values[float32](r.ctx, x); err != nil || v[7] != 7 {
			r.Errorf("the operand: %v", err)
		}
	})
}

// Whether buffers are free again is a matter of the call itself, not of what broke the group.
func TestUntouchedIsOfTheCallItself(t *testing.T) {
	closed := group.New(nobody{})
	closed.Close()
	refused := closed.Barrier(context.Background())
	for what, c := range map[string]struct {
		err  error
		want bool
	}{
		"a group that is closed":              {refused, true},
		"another message":                     {fmt.Errorf("recv: %w", &group.MessageError{}), true},
		"a lost peer":                         {&group.PeerError{Err: errors.New("gone")}, false},
		"broken meanwhile":                    {fmt.Errorf("all_sum: %w", &group.BrokenError{Reason: errors.New("gone")}), false},
		"broken meanwhile by another refusal": {fmt.Errorf("all_sum: %w", &group.BrokenError{Reason: refused}), false},
		"nothing":                             {nil, false},
	} {
		if got := group.Untouched(c.err); got != c.want {
			t.Errorf("%s, %v: %v", what, c.err, got)
		}
	}
}

// nobody is a communicator of two ranks, of which nothing is called but Close.
type nobody struct{ group.Communicator }

func (nobody) Rank() int    { return 0 }
func (nobody) Size() int    { return 2 }
func (nobody) Close() error { return nil }
