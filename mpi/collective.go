//go:build cgo && mpi

package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// body is how a collective travels: in memory where the members share it, else in
// messages. Those begin with an exchange of everyone's inline data; then messages,
// unless it is nil, does the rest.
type body struct {
	memory   func(s *onehost.Sharing, x onehost.Call) error
	inline   []byte
	messages func(op string, parts [][]byte) error
}

// collective runs one, in which all ranks compare the call before data moves. Any
// failure breaks the communicator, as the others cannot go on without this rank.
func (c *comm) collective(ctx context.Context, k call, b body) error {
	if err := c.enter(); err != nil {
		return fmt.Errorf("mpi: %v: %w", &k, err)
	}
	defer c.leave()
	if !c.turn.Try() && !c.turn.Take(ctx.Done(), nil) { // to be told of an end costs more than most calls
		return fmt.Errorf("mpi: %v: another collective of the group is under way: %w", &k, context.Cause(ctx))
	}
	defer c.turn.Pass()
	err := c.run(ctx, &k, b)
	if err != nil {
		c.fail(err)
	}
	return err
}

func (c *comm) run(ctx context.Context, k *call, b body) error {
	c.number++
	hash, op := c.describe(k)
	if err := c.ready(ctx); err != nil {
		return explain(op(), nil, err)
	}
	if c.shared != nil {
		return c.runInMemory(&inMemory{comm: c, ctx: ctx, number: c.number, hash: hash, op: op}, b.memory)
	}
	return c.runInMessages(ctx, op(), binary.LittleEndian.Uint64(hash[:]), b)
}

func (c *comm) runInMessages(ctx context.Context, op string, hash uint64, b body) error {
	parts, same, err := c.exchange(ctx, op, hash, b.inline)
	switch {
	case err != nil:
		return err
	case !same:
		return c.disagreement(ctx, op)
	case b.messages == nil:
		return nil
	}
	return b.messages(op, parts)
}

// ready takes in notices, so that they do not pile up at a rank that never waits,
// and a collective that others have given up does not begin.
func (c *comm) ready(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.readNotices(); err != nil {
		return err
	}
	if err := c.health(); err != nil {
		return err
	}
	return ended(ctx)
}

// fail breaks the communicator. A disagreement is known to all ranks already.
func (c *comm) fail(err error) {
	c.transfers.abandon()
	c.transfers = newBatch(1)
	var broken *group.BrokenError
	if errors.As(err, &broken) || errors.Is(err, group.ErrClosed) {
		return
	}
	c.breakBy(-1, err, !errors.Is(err, group.ErrMismatch))
}

// Barrier returns once every rank has called it.
func (c *comm) Barrier(ctx context.Context) error {
	return c.collective(ctx, call{name: nameBarrier}, body{memory: (*onehost.Sharing).Barrier})
}

// AllReduce combines data over all ranks in place: small data beside the cards,
// larger data in slices.
func (c *comm) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	k := call{name: nameAllReduce, op: op, t: t, bytes: len(data)}
	if err := checkElements(&k, 1); err != nil {
		return err
	}
	b := body{memory: func(s *onehost.Sharing, x onehost.Call) error { return s.AllReduce(x, reduce.Op(op), t, data) }}
	if len(data) <= inlineBytes {
		b.inline, b.messages = data, func(_ string, parts [][]byte) error {
			reduce.Into(reduce.Op(op), t, data, parts)
			return nil
		}
		return c.collective(ctx, k, b)
	}
	if kind, ok := libraryKind(op, t); ok && c.job.library {
		k.name = nameLibrarySum
		b.messages = func(name string, _ [][]byte) error { return c.librarySum(ctx, name, kind, t.Size(), data) }
		return c.collective(ctx, k, b)
	}
	b.messages = func(name string, _ [][]byte) error {
		r := reduction{comm: c, op: reduce.Op(op), t: t, data: data, spread: true}
		return r.run(ctx, name)
	}
	return c.collective(ctx, k, b)
}

// ReduceScatter reduces in and leaves this rank's slice of the result in out.
func (c *comm) ReduceScatter(ctx context.Context, op group.Op, t dtype.Type, in, out []byte) error {
	k := call{name: nameReduceScatter, op: op, t: t, bytes: len(in)}
	if err := checkElements(&k, c.size); err != nil {
		return err
	}
	if err := checkTimes(&k, "in", len(in), "out", len(out), c.size); err != nil {
		return err
	}
	return c.collective(ctx, k, body{
		memory: func(s *onehost.Sharing, x onehost.Call) error { return s.ReduceScatter(x, reduce.Op(op), t, in, out) },
		messages: func(name string, _ [][]byte) error {
			r := reduction{comm: c, op: reduce.Op(op), t: t, data: in}
			if err := r.run(ctx, name); err != nil {
				return err
			}
			copy(out, r.mine)
			return nil
		},
	})
}

// AllGather collects every rank's in in out, in rank order.
func (c *comm) AllGather(ctx context.Context, in, out []byte) error {
	k := call{name: nameAllGather, bytes: len(in)}
	if err := checkTimes(&k, "out", len(out), "in", len(in), c.size); err != nil {
		return err
	}
	b := body{memory: func(s *onehost.Sharing, x onehost.Call) error { return s.Gather(x, in, out) }}
	if len(in) <= inlineBytes {
		b.inline, b.messages = in, func(_ string, parts [][]byte) error {
			for rank, part := range parts {
				copy(out[rank*len(in):], part)
			}
			return nil
		}
		return c.collective(ctx, k, b)
	}
	b.messages = func(op string, _ [][]byte) error {
		copy(slot(out, c.rank, len(in)), in)
		return c.trade(ctx, op, 2*len(out), func(b *batch, to, from int) error {
			if err := b.receive(c.channel, from, tagResult, slot(out, from, len(in))); err != nil {
				return err
			}
			return b.send(c.channel, to, tagResult, in)
		})
	}
	return c.collective(ctx, k, b)
}

// AllToAll sends slice i of in to rank i and fills slice i of out from it.
func (c *comm) AllToAll(ctx context.Context, in, out []byte) error {
	k := call{name: nameAllToAll, bytes: len(in)}
	if len(in) != len(out) || len(in)%c.size != 0 {
		return fmt.Errorf("mpi: %v: out has %d bytes; want as many as in, and a multiple of %d", &k, len(out), c.size)
	}
	return c.collective(ctx, k, body{
		memory: func(s *onehost.Sharing, x onehost.Call) error { return s.AllToAll(x, in, out) },
		messages: func(op string, _ [][]byte) error {
			n := len(in) / c.size
			copy(slot(out, c.rank, n), slot(in, c.rank, n))
			return c.trade(ctx, op, 2*len(out), func(b *batch, to, from int) error {
				if err := b.receive(c.channel, from, tagResult, slot(out, from, n)); err != nil {
					return err
				}
				return b.send(c.channel, to, tagResult, slot(in, to, n))
			})
		},
	})
}

// Broadcast copies root's data to every rank. Small data goes beside the cards;
// larger data is scattered by root and gathered by all, which is 2(N-1)/N of it
// per rank.
func (c *comm) Broadcast(ctx context.Context, root int, data []byte) error {
	k := call{name: nameBroadcast, root: root, bytes: len(data)}
	if root < 0 || root >= c.size {
		return fmt.Errorf("mpi: %v: the group has ranks 0 to %d", &k, c.size-1)
	}
	b := body{
		memory: func(s *onehost.Sharing, x onehost.Call) error { return s.Broadcast(x, root, data) },
		messages: func(op string, parts [][]byte) error {
			if len(data) <= inlineBytes {
				copy(data, parts[root])
				return nil
			}
			if err := c.scatter(ctx, op, root, data); err != nil {
				return err
			}
			return c.gatherSlices(ctx, op, data)
		},
	}
	if len(data) <= inlineBytes && c.rank == root {
		b.inline = data
	}
	return c.collective(ctx, k, b)
}

func slot(b []byte, i, n int) []byte { return b[i*n : (i+1)*n : (i+1)*n] }
