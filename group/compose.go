package group

import (
	"bytes"
	"context"
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
)

// Tags of the collectives that are made of messages.
const (
	tagBroadcast = TagReserved + iota
	tagGather
	tagScatter
	tagAllToAll
	tagFederated
)

func (g *Group) reduceScatter(ctx context.Context, op Op, t dtype.Type, in, out []byte) error {
	if c, ok := g.comm.(ReduceScatterer); ok {
		return c.ReduceScatter(ctx, op, t, in, out)
	}
	all := bytes.Clone(in)
	if err := g.comm.AllReduce(ctx, op, t, all); err != nil {
		return err
	}
	copy(out, all[g.rank*len(out):])
	return nil
}

func (g *Group) barrier(ctx context.Context) error {
	if c, ok := g.comm.(Barrierer); ok {
		return c.Barrier(ctx)
	}
	return g.comm.AllGather(ctx, make([]byte, 1), make([]byte, g.size))
}

func (g *Group) broadcast(ctx context.Context, root int, data []byte) error {
	if c, ok := g.comm.(Broadcaster); ok {
		return c.Broadcast(ctx, root, data)
	}
	if err := g.meet(ctx); err != nil {
		return err
	}
	return g.tree(ctx, root, data)
}

// tree passes data down a binomial tree: counted from root, a rank receives from
// the rank without its lowest bit and sends to those with one lower bit more.
// ⌈log₂ Size⌉ steps; root sends as many times the data.
func (g *Group) tree(ctx context.Context, root int, data []byte) error {
	at := func(place int) int { return (place + root) % g.size }
	place, bit := (g.rank-root+g.size)%g.size, 1
	for bit < g.size && place&bit == 0 {
		bit <<= 1
	}
	if place > 0 {
		if err := g.comm.Recv(ctx, at(place-bit), tagBroadcast, data); err != nil {
			return err
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if place+bit >= g.size {
			continue
		}
		if err := g.comm.Send(ctx, at(place+bit), tagBroadcast, data); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) gather(ctx context.Context, root int, in, out []byte) error {
	if err := g.meet(ctx); err != nil {
		return err
	}
	if g.rank != root {
		return g.comm.Send(ctx, root, tagGather, in)
	}
	return g.others(func(r int) error {
		return g.comm.Recv(ctx, r, tagGather, slice(out, r, len(in)))
	})
}

func (g *Group) scatter(ctx context.Context, root int, in, out []byte) error {
	if err := g.meet(ctx); err != nil {
		return err
	}
	if g.rank != root {
		return g.comm.Recv(ctx, root, tagScatter, out)
	}
	return g.others(func(r int) error {
		return g.comm.Send(ctx, r, tagScatter, slice(in, r, len(out)))
	})
}

// others calls do for every other rank, in rank order.
func (g *Group) others(do func(r int) error) error {
	for r := range g.size {
		if r == g.rank {
			continue
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) allToAll(ctx context.Context, in, out []byte) error {
	if c, ok := g.comm.(AllToAller); ok {
		return c.AllToAll(ctx, in, out)
	}
	if err := g.meet(ctx); err != nil {
		return err
	}
	return g.exchange(ctx, in, out)
}

// exchange sends and receives side by side, in Size-1 steps: in step k to the
// rank k above and from the rank k below, so that no rank is everyone's target.
func (g *Group) exchange(ctx context.Context, in, out []byte) error {
	n := len(in) / g.size
	copy(slice(out, g.rank, n), slice(in, g.rank, n))
	for k := 1; k < g.size; k++ {
		to, from := (g.rank+k)%g.size, (g.rank-k+g.size)%g.size
		err := both(ctx,
			func(ctx context.Context) error { return g.comm.Send(ctx, to, tagAllToAll, slice(in, to, n)) },
			func(ctx context.Context) error { return g.comm.Recv(ctx, from, tagAllToAll, slice(out, from, n)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// both runs two halves side by side and returns the first error; it ends the
// other half.
func both(ctx context.Context, one, two func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var half error
	var wg sync.WaitGroup
	wg.Go(func() {
		if half = one(ctx); half != nil {
			cancel(half)
		}
	})
	err := two(ctx)
	if err != nil {
		cancel(err)
	}
	wg.Wait()
	if err == nil && half == nil {
		return nil
	}
	return context.Cause(ctx)
}

func slice(b []byte, i, n int) []byte { return b[i*n : (i+1)*n] }
