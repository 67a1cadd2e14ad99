package group

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// The methods below are the collectives over bytes. Buffers are row-contiguous
// and little-endian and lent for the call; after an error they must not be used
// again. Wrong arguments are errors before anything is sent and leave the group
// as it was. Each waits until the ranks it depends on have called it, or until
// ctx or the group's timeout ends it. In a group of one nothing is sent.

// AllReduceBytes combines data, elements of t, over all ranks, in place. Every
// rank ends with the same bits; see the package comment for what op means.
func (g *Group) AllReduceBytes(ctx context.Context, op Op, t dtype.Type, data []byte) error {
	if err := checkReduce("all_reduce", op, t, len(data)); err != nil {
		return err
	}
	if g.size == 1 {
		return nil
	}
	return g.run(ctx, reduction("all_reduce", op, t, len(data)), func(ctx context.Context) error {
		return g.comm.AllReduce(ctx, op, t, data)
	})
}

// AllGatherBytes concatenates every rank's in, in rank order, into out, which is
// Size times as long and does not overlap in.
func (g *Group) AllGatherBytes(ctx context.Context, in, out []byte) error {
	if err := checkLength("all_gather", "output", len(out), "input", len(in), g.size); err != nil {
		return err
	}
	if g.size == 1 {
		copy(out, in)
		return nil
	}
	return g.run(ctx, plain("all_gather", len(in)), func(ctx context.Context) error {
		return g.comm.AllGather(ctx, in, out)
	})
}

// ReduceScatterBytes combines in, elements of t, over all ranks and leaves slice
// number Rank of the result in out; in is Size times as long as out and is not
// changed. The bits are those that AllReduceBytes gives.
func (g *Group) ReduceScatterBytes(ctx context.Context, op Op, t dtype.Type, in, out []byte) error {
	if err := checkReduce("reduce_scatter", op, t, len(out)); err != nil {
		return err
	}
	if err := checkLength("reduce_scatter", "input", len(in), "output", len(out), g.size); err != nil {
		return err
	}
	if g.size == 1 {
		copy(out, in)
		return nil
	}
	return g.run(ctx, reduction("reduce_scatter", op, t, len(in)), func(ctx context.Context) error {
		return g.reduceScatter(ctx, op, t, in, out)
	})
}

// Broadcast copies root's data to every rank, in place. All lengths are equal.
func (g *Group) Broadcast(ctx context.Context, root int, data []byte) error {
	if err := g.checkRoot("broadcast", root); err != nil || g.size == 1 {
		return err
	}
	return g.run(ctx, rooted("broadcast", from, root, len(data)), func(ctx context.Context) error {
		return g.broadcast(ctx, root, data)
	})
}

// AllToAll sends slice i of in to rank i and fills slice i of out from rank i.
// in and out are equally long, divide into Size slices and do not overlap.
func (g *Group) AllToAll(ctx context.Context, in, out []byte) error {
	if err := checkLength("all_to_all", "output", len(out), "input", len(in), 1); err != nil {
		return err
	}
	if g.size > 0 && len(in)%g.size != 0 {
		return fmt.Errorf("all_to_all: %d bytes do not divide among %d ranks", len(in), g.size)
	}
	if g.size == 1 {
		copy(out, in)
		return nil
	}
	return g.run(ctx, plain("all_to_all", len(in)), func(ctx context.Context) error {
		return g.allToAll(ctx, in, out)
	})
}

// Gather concatenates every rank's in, in rank order, into root's out, which is
// Size times as long. out is not looked at on the other ranks.
func (g *Group) Gather(ctx context.Context, root int, in, out []byte) error {
	if err := g.checkRoot("gather", root); err != nil {
		return err
	}
	if g.rank == root {
		if err := checkLength("gather", "output", len(out), "input", len(in), g.size); err != nil {
			return err
		}
		copy(out[root*len(in):], in)
	}
	if g.size == 1 {
		return nil
	}
	return g.run(ctx, rooted("gather", to, root, len(in)), func(ctx context.Context) error {
		return g.gather(ctx, root, in, out)
	})
}

// Scatter fills out with slice number Rank of root's in, which is Size times as
// long. in is not looked at on the other ranks.
func (g *Group) Scatter(ctx context.Context, root int, in, out []byte) error {
	if err := g.checkRoot("scatter", root); err != nil {
		return err
	}
	if g.rank == root {
		if err := checkLength("scatter", "input", len(in), "output", len(out), g.size); err != nil {
			return err
		}
		copy(out, in[root*len(out):])
	}
	if g.size == 1 {
		return nil
	}
	return g.run(ctx, rooted("scatter", from, root, len(out)), func(ctx context.Context) error {
		return g.scatter(ctx, root, in, out)
	})
}

// Barrier returns once every rank has called it.
func (g *Group) Barrier(ctx context.Context) error {
	if g.size == 1 {
		return nil
	}
	return g.run(ctx, call{name: "barrier"}, g.barrier)
}

func reduction(name string, op Op, t dtype.Type, bytes int) call {
	return call{name: name, form: reducing, op: op, t: t, bytes: bytes}
}

func plain(name string, bytes int) call { return call{name: name, form: sized, bytes: bytes} }

func rooted(name string, way wording, root, bytes int) call {
	return call{name: name, form: way, root: root, bytes: bytes}
}

func checkReduce(name string, op Op, t dtype.Type, bytes int) error {
	if err := reduce.Check(reduce.Op(op), t); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if bytes%t.Size() != 0 {
		return fmt.Errorf("%s: %d bytes are not whole elements of %v, which has %d", name, bytes, t, t.Size())
	}
	return nil
}

// checkLength wants long to be times short. A group of size 0 is caught later.
func checkLength(name, longName string, long int, shortName string, short, times int) error {
	if times == 0 || long == times*short {
		return nil
	}
	return fmt.Errorf("%s: %s has %d bytes, want %d (%d times the %s's %d)",
		name, longName, long, times*short, times, shortName, short)
}

func (g *Group) checkRoot(name string, root int) error {
	if g.size == 0 {
		return within(call{name: name}, errOutside)
	}
	if root < 0 || root >= g.size {
		return fmt.Errorf("%s: root %d is not a rank of this group (0 to %d)", name, root, g.size-1)
	}
	return nil
}
