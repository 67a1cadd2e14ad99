package ring

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// small is up to how many bytes the steps count and not the bytes: then all
// originals go to everyone in ⌈log₂ Size⌉ steps.
const small = 4 << 10

// AllReduce combines data over all ranks, in place, with the bits of package
// reduce. Up to 4 KiB every rank gets all originals, in ⌈log₂ Size⌉ steps. Larger
// data is sliced: each rank gets all originals of its slice, combines them and
// hands the result to all, in 2(Size-1) messages a segment and 2(Size-1)/Size of
// the bytes each way. It needs at most 4 MiB beside data, for 64 ranks or fewer.
func (c *comm) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	if err := checkReduce("all_reduce", op, t, len(data)); err != nil {
		return err
	}
	r := request{kind: allReduce, op: op, t: t, bytes: len(data)}
	return c.collective(ctx, r, func(x *exchange) error {
		switch {
		case c.Size() == 1:
			return nil
		case c.shared != nil:
			return c.shared.allReduce(x, op, t, data)
		case len(data) <= small:
			return x.reduceSmall(op, t, data)
		}
		return x.reduceSliced(op, t, data)
	})
}

func checkReduce(name string, op group.Op, t dtype.Type, bytes int) error {
	if err := reduce.Check(reduce.Op(op), t); err != nil {
		return fmt.Errorf("ring: %s: %w", name, err)
	}
	if bytes%t.Size() != 0 {
		return fmt.Errorf("ring: %s: %d bytes are no whole number of %v elements", name, bytes, t)
	}
	return nil
}

// reduceSmall gathers the originals and combines them here.
func (x *exchange) reduceSmall(op group.Op, t dtype.Type, data []byte) error {
	parts := x.comm.parts(len(data))
	copy(parts[x.comm.rank], data)
	if err := x.double(func(i int) []byte { return parts[i] }); err != nil {
		return err
	}
	reduce.Into(reduce.Op(op), t, data, parts)
	return nil
}

// reduceSliced combines data slice by slice, one segment of every slice at a
// time.
func (x *exchange) reduceSliced(op group.Op, t dtype.Type, data []byte) error {
	c, size := x.comm, t.Size()
	s := slicing{elems: len(data) / size, ranks: c.Size(), limit: segmentBytes(c.Size()) / size}
	gather := gathering(c.rank, c.Size())
	for i := range s.segments() {
		of := func(rank int) []byte {
			lo, hi := s.segment(rank, i)
			return data[lo*size : hi*size]
		}
		if err := x.reduceSegment(op, t, of(c.rank), of); err != nil {
			return err
		}
		block := func(_, rank int) []byte { return of(rank) }
		if err := x.stream(gather, block, block); err != nil {
			return err
		}
	}
	return nil
}

// reduceSegment sends each rank this rank's originals of its segment, and
// combines all originals of this rank's own segment into dst. in gives this
// rank's originals for a rank; dst may be those for this rank.
func (x *exchange) reduceSegment(op group.Op, t dtype.Type, dst []byte, in func(rank int) []byte) error {
	c := x.comm
	parts := c.parts(len(dst))
	parts[c.rank] = in(c.rank)
	err := x.stream(scattering(c.rank, c.Size()),
		func(_, rank int) []byte { return in(rank) },
		func(peer, _ int) []byte { return parts[peer] })
	if err != nil {
		return err
	}
	reduce.Into(reduce.Op(op), t, dst, parts)
	return nil
}

// segmentBytes bounds what a segment takes up: about 4 MiB for the originals of
// all ranks, and not so little that the steps would count.
func segmentBytes(ranks int) int { return min(max(4<<20/ranks, 64<<10), 1<<20) }

// parts returns room for n bytes from each rank, reused by later collectives.
func (c *comm) parts(n int) [][]byte {
	const align = 64
	stride := (n + align - 1) / align * align
	if len(c.scratch) < stride*c.Size() {
		c.scratch = buffer.Make(stride * c.Size())
	}
	parts := make([][]byte, c.Size())
	for r := range parts {
		parts[r] = c.scratch[r*stride : r*stride+n : r*stride+n]
	}
	return parts
}

// double follows the doubling schedule over one block from each rank.
func (x *exchange) double(block func(i int) []byte) error {
	of := func(_, i int) []byte { return block(i) }
	return x.follow(doubling(x.comm.rank, x.comm.Size()), of, of)
}

// AllGather concatenates every rank's in, in rank order, into out. Up to 4 KiB
// from each rank it takes ⌈log₂ Size⌉ steps, else Size-1 direct messages.
func (c *comm) AllGather(ctx context.Context, in, out []byte) error {
	if err := c.checkLength("all_gather", "out", len(out), "in", len(in)); err != nil {
		return err
	}
	r := request{kind: allGather, bytes: len(in)}
	return c.collective(ctx, r, func(x *exchange) error { return x.gather(in, out) })
}

func (x *exchange) gather(in, out []byte) error {
	c := x.comm
	if c.shared != nil {
		return c.shared.gather(x, in, out)
	}
	block := func(_, i int) []byte { return slice(out, i, len(in)) }
	copy(block(0, c.rank), in)
	if len(in) <= small {
		return x.follow(doubling(c.rank, c.Size()), block, block)
	}
	return x.stream(gathering(c.rank, c.Size()), block, block)
}

// checkLength wants the longer buffer to be Size times the shorter one.
func (c *comm) checkLength(name, long string, n int, short string, m int) error {
	if n != c.Size()*m {
		return fmt.Errorf("ring: %s: %s has %d bytes, want %d ranks times the %d of %s", name, long, n, c.Size(), m, short)
	}
	return nil
}

func slice(b []byte, i, n int) []byte { return b[i*n : (i+1)*n] }

// ReduceScatter reduces in and leaves slice number Rank of the result in out, in
// Size-1 direct messages a segment; in is not changed.
func (c *comm) ReduceScatter(ctx context.Context, op group.Op, t dtype.Type, in, out []byte) error {
	if err := checkReduce("reduce_scatter", op, t, len(out)); err != nil {
		return err
	}
	if err := c.checkLength("reduce_scatter", "in", len(in), "out", len(out)); err != nil {
		return err
	}
	r := request{kind: reduceScatter, op: op, t: t, bytes: len(in)}
	return c.collective(ctx, r, func(x *exchange) error {
		if c.shared != nil {
			return c.shared.reduceScatter(x, op, t, in, out)
		}
		step := segmentBytes(c.Size()) / t.Size() * t.Size()
		for lo := 0; lo == 0 || lo < len(out); lo += step {
			hi := min(lo+step, len(out))
			of := func(rank int) []byte { return slice(in, rank, len(out))[lo:hi] }
			if err := x.reduceSegment(op, t, out[lo:hi], of); err != nil {
				return err
			}
		}
		return nil
	})
}

// Broadcast copies root's data to every rank, in ⌈log₂ Size⌉ steps in which root
// sends the data each time. No rank returns before all have called it.
func (c *comm) Broadcast(ctx context.Context, root int, data []byte) error {
	if root < 0 || root >= c.Size() {
		return fmt.Errorf("ring: broadcast: root %d is not one of 0 to %d", root, c.Size()-1)
	}
	r := request{kind: broadcast, bytes: len(data), root: root}
	return c.collective(ctx, r, func(x *exchange) error {
		if c.shared != nil {
			return c.shared.broadcast(x, root, data)
		}
		return x.double(func(i int) []byte {
			if i == root {
				return data
			}
			return nil
		})
	})
}

// AllToAll sends slice i of in to rank i and fills slice i of out from it, in
// Size-1 direct messages.
func (c *comm) AllToAll(ctx context.Context, in, out []byte) error {
	if len(in) != len(out) || len(in)%c.Size() != 0 {
		return fmt.Errorf("ring: all_to_all: in has %d bytes and out %d, want equally many that divide among %d ranks", len(in), len(out), c.Size())
	}
	r := request{kind: allToAll, bytes: len(in)}
	return c.collective(ctx, r, func(x *exchange) error {
		n := len(in) / c.Size()
		if c.shared != nil {
			return c.shared.allToAll(x, in, out)
		}
		copy(slice(out, c.rank, n), slice(in, c.rank, n))
		return x.stream(scattering(c.rank, c.Size()),
			func(_, rank int) []byte { return slice(in, rank, n) },
			func(peer, _ int) []byte { return slice(out, peer, n) })
	})
}

// Barrier returns once every rank has called it, after ⌈log₂ Size⌉ steps.
func (c *comm) Barrier(ctx context.Context) error {
	return c.collective(ctx, request{kind: barrier}, func(x *exchange) error {
		if c.shared != nil {
			return c.shared.barrier(x)
		}
		return x.double(func(int) []byte { return nil })
	})
}

// Split divides the group; all ranks exchange their colors and keys. The result
// shares the control connections and opens others for its data on first use.
func (c *comm) Split(ctx context.Context, color, key int) (group.Communicator, error) {
	if color < 0 && color != group.NoColor {
		return nil, fmt.Errorf("ring: split: color %d is negative", color)
	}
	var mine [16]byte
	binary.LittleEndian.PutUint64(mine[:], uint64(color))
	binary.LittleEndian.PutUint64(mine[8:], uint64(key))
	all := make([]byte, len(mine)*c.Size())
	r := request{kind: split, bytes: len(mine)}
	err := c.collective(ctx, r, func(x *exchange) error { return x.gather(mine[:], all) })
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.splits++
	number := c.splits
	c.mu.Unlock()
	if color == group.NoColor {
		return nil, nil
	}
	members := membersOf(all, color)
	ranks := make([]int, len(members))
	mineAt := 0
	for i, r := range members {
		ranks[i] = c.ranks[r]
		if r == c.rank {
			mineAt = i
		}
	}
	child := newComm(c.node, childID(c.id, number, color), ranks, mineAt)
	c.node.enter(child)
	if err := child.meetAfterSplit(ctx); err != nil {
		return nil, c.giveUp(-1, err)
	}
	return child, nil
}
