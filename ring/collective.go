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

// small is up to how many bytes from each rank the steps count and not the bytes:
// then all originals go to everyone in ⌈log₂ Size⌉ steps. Two ranks send each
// other no more bytes that way than by halves, so that they do it for longer.
func small(ranks int) int {
	switch {
	case ranks <= 2:
		return 1 << 20
	case ranks <= 4:
		return 16 << 10
	}
	return 4 << 10
}

// AllReduce combines data over all ranks, in place, with the bits of package
// reduce. Small data (4 KiB, up to four ranks 16 KiB, two 1 MiB) goes to every
// rank, in ⌈log₂ Size⌉ steps. Larger data is sliced: each rank gets all originals of its
// slice, combines them and hands the result to all, segment by segment, so that
// one is combined while the next is on its way; 2(Size-1)/Size of the bytes go
// each way. It needs at most 4 MiB beside data, for 64 ranks or fewer.
func (c *comm) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	if err := checkReduce("all_reduce", op, t, len(data)); err != nil {
		return err
	}
	r := request{kind: allReduce, op: op, t: t, bytes: len(data)}
	return c.collective(ctx, r, func(x *exchange) error {
		if c.Size() == 1 {
			return nil
		}
		switch x.way() {
		case byMemory:
			return c.shared.AllReduce(x, reduce.Op(op), t, data)
		case byNeighbours:
			return x.circulate(op, t, data, true)
		case byHosts:
			return x.reduceByHosts(op, t, data)
		case byTwoLevels:
			return x.reduceInLevels(op, t, data)
		case byDoubling:
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
	parts := x.parts(1, len(data))[0]
	parts[x.circle.at] = data
	if err := x.double(func(i int) []byte { return parts[i] }); err != nil {
		return err
	}
	reduce.IntoPartial(reduce.Op(op), t, data, parts, x.comm.Size())
	return nil
}

// reduceSliced combines data slice by slice. A rank's results arrive where its
// originals were: their owner has combined them, so they have been sent.
func (x *exchange) reduceSliced(op group.Op, t dtype.Type, data []byte) error {
	return x.reduceSlices(op, t, data, x.slices(t, data), true)
}

// slices divides data among the members of the circle.
func (x *exchange) slices(t dtype.Type, data []byte) slicing {
	s := slicing{elems: len(data) / t.Size(), ranks: x.circle.size()}
	s.limit = ceil(s.largest(), segmentsOf(x.circle.size(), s.largest()*t.Size()))
	return s
}

// reduceSlices is reduceSliced; without spread each rank has the result of its own
// slice alone at the end.
func (x *exchange) reduceSlices(op group.Op, t dtype.Type, data []byte, s slicing, spread bool) error {
	size := t.Size()
	of := func(rank, segment int) []byte {
		lo, hi := s.segment(rank, segment)
		return data[lo*size : hi*size]
	}
	r := reduction{op: op, t: t, plan: pipeline(s.segments(), spread), in: of, of: of,
		out: func(segment int) []byte { return of(x.circle.at, segment) }}
	return x.reduce(r, s.limit*size)
}

// reduction is a sliced reduction: in gives this rank's originals of a segment
// for the rank that owns it, out is where the result of an own segment goes (which
// may be where its originals are), and of where those of other ranks go, if they
// are wanted.
type reduction struct {
	op   group.Op
	t    dtype.Type
	plan plan
	in   func(rank, segment int) []byte
	out  func(segment int) []byte
	of   func(rank, segment int) []byte
}

// reduce runs a sliced reduction whose segments have at most limit bytes.
func (x *exchange) reduce(r reduction, limit int) error {
	at := x.circle.at
	// Originals of a segment may come while those of the one before are combined.
	room := x.parts(2, limit)
	parts := make([][]byte, x.circle.size())
	originals := func(segment int) [][]byte {
		for rank := range parts {
			parts[rank] = room[segment%2][rank][:len(r.out(segment))]
		}
		parts[at] = r.in(at, segment)
		return parts
	}
	for _, s := range x.circle.direct() {
		x.flow(&x.outs, s.to, r.plan.blocks(func(p piece) []byte {
			if p.reduced {
				return r.out(p.segment)
			}
			return r.in(s.to, p.segment)
		}), r.plan.sends)
		x.flow(&x.ins, s.from, r.plan.blocks(func(p piece) []byte {
			if p.reduced {
				return r.of(s.from, p.segment)
			}
			return room[p.segment%2][s.from][:len(r.out(p.segment))]
		}), r.plan.receives)
	}
	x.advance = func() {
		for x.level < len(r.plan.originals) && x.haveAll(r.plan.originals[x.level]) {
			reduce.IntoPartial(reduce.Op(r.op), r.t, r.out(x.level), originals(x.level), x.comm.Size())
			x.level++
		}
	}
	return x.run()
}

// haveAll reports whether block number i has come from everyone.
func (x *exchange) haveAll(i int) bool {
	for j := range x.ins {
		if x.ins[j].at <= i {
			return false
		}
	}
	return true
}

// segmentsOf is how many segments a slice of some bytes is divided into: so many
// that twice the originals of a segment from all ranks take up at most 4 MiB, for
// 64 ranks or fewer. Two ranks gain from more, since one is combined while the
// next is on its way; more ranks have other peers to be busy with, and lose by
// more calls. All ranks must find the same.
func segmentsOf(ranks, bytes int) int {
	if ranks == 2 {
		return max(min(ceil(bytes, 64<<10), 4), ceil(bytes, 512<<10), 1)
	}
	return max(ceil(bytes, max(2<<20/ranks, 32<<10)), 1)
}

// parts returns room for n bytes from each member of the circle, several times,
// reused by later collectives.
func (x *exchange) parts(times, n int) [][][]byte {
	const align = 64
	stride := (n + align - 1) / align * align
	next := x.comm.room(times * stride * x.circle.size())
	all := make([][][]byte, times)
	for i := range all {
		all[i] = make([][]byte, x.circle.size())
		for r := range all[i] {
			all[i][r], next = next[:n:n], next[stride:]
		}
	}
	return all
}

// room returns n bytes, reused by later collectives.
func (c *comm) room(n int) []byte {
	if len(c.scratch) < n {
		c.scratch = buffer.Make(n)
	}
	return c.scratch
}

// copyOf returns a copy of b, in memory reused by later collectives.
func (c *comm) copyOf(b []byte) []byte {
	if len(c.copied) < len(b) {
		c.copied = buffer.Make(len(b))
	}
	return c.copied[:copy(c.copied, b)]
}

// double follows the doubling schedule over one block from each rank.
func (x *exchange) double(block func(i int) []byte) error {
	of := func(_, i int) []byte { return block(i) }
	return x.follow(x.circle.doubling(), of, of)
}

// AllGather concatenates every rank's in, in rank order, into out. It
// takes ⌈log₂ Size⌉ steps where AllReduce does, else Size-1 direct messages.
func (c *comm) AllGather(ctx context.Context, in, out []byte) error {
	if err := c.checkLength("all_gather", "out", len(out), "in", len(in)); err != nil {
		return err
	}
	r := request{kind: allGather, bytes: len(in)}
	return c.collective(ctx, r, func(x *exchange) error { return x.gather(in, out) })
}

func (x *exchange) gather(in, out []byte) error {
	c, chosen := x.comm, x.way()
	switch chosen {
	case byMemory:
		return c.shared.Gather(x, in, out)
	case byNeighbours:
		return x.passGather(in, out)
	case byTwoLevels:
		return x.gatherInLevels(in, out)
	}
	block := func(_, i int) []byte { return slice(out, i, len(in)) }
	copy(block(0, c.rank), in)
	if chosen == byDoubling {
		return x.follow(x.circle.doubling(), block, block)
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
		switch x.way() {
		case byMemory:
			return c.shared.ReduceScatter(x, reduce.Op(op), t, in, out)
		case byNeighbours:
			return x.circulateScatter(op, t, in, out)
		case byHosts:
			return x.scatterByHosts(op, t, in, out)
		}
		e := t.Size()
		s := slicing{elems: len(out) / e, ranks: 1}
		s.limit = ceil(s.elems, segmentsOf(c.Size(), len(out)))
		of := func(slice []byte, segment int) []byte {
			lo, hi := s.segment(0, segment)
			return slice[lo*e : hi*e]
		}
		return x.reduce(reduction{op: op, t: t, plan: pipeline(s.segments(), false),
			in:  func(rank, segment int) []byte { return of(slice(in, rank, len(out)), segment) },
			out: func(segment int) []byte { return of(out, segment) },
		}, s.limit*e)
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
		switch x.way() {
		case byMemory:
			return c.shared.Broadcast(x, root, data)
		case byNeighbours:
			return x.passBroadcast(root, data)
		case byTwoLevels:
			return x.broadcastInLevels(root, data)
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
		switch x.way() {
		case byMemory:
			return c.shared.AllToAll(x, in, out)
		case byNeighbours:
			return x.passToAll(in, out)
		}
		n := len(in) / c.Size()
		copy(slice(out, c.rank, n), slice(in, c.rank, n))
		return x.stream(scattering(c.rank, c.Size()),
			func(_, rank int) []byte { return slice(in, rank, n) },
			func(peer, _ int) []byte { return slice(out, peer, n) })
	})
}

// Barrier returns once every rank has called it, after ⌈log₂ Size⌉ steps.
func (c *comm) Barrier(ctx context.Context) error {
	return c.collective(ctx, request{kind: barrier}, func(x *exchange) error {
		switch x.way() {
		case byMemory:
			return c.shared.Barrier(x)
		case byNeighbours:
			return x.passTokens()
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
