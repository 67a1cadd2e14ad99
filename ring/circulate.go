package ring

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// The collectives of the neighbour ring. No rank ends one before something that
// every rank has put in has come to it: data, or a byte that says nothing else.

// pass sends pieces round the ring: own gives those of this rank, and where the
// others' go.
func (x *exchange) pass(reach func(origin int) []int, of func(parcel) []byte) error {
	at, size := x.circle.at, x.circle.size()
	r := relaying(at, size, reach)
	x.flow(&x.outs, above(at, 1, size), parcels(r.out, of), r.needs)
	x.flow(&x.ins, below(at, 1, size), parcels(r.in, of), nil)
	x.advance = func() { x.level = x.ins[0].at }
	return x.run()
}

func parcels(all []parcel, of func(parcel) []byte) [][]byte {
	blocks := make([][]byte, len(all))
	for i, p := range all {
		blocks[i] = of(p)
	}
	return blocks
}

// passTokens returns when a byte of every rank has come.
func (x *exchange) passTokens() error {
	tokens := make([]byte, x.circle.size())
	return x.pass(x.wholeRound(1), func(p parcel) []byte { return tokens[p.origin : p.origin+1] })
}

// wholeRound has so many pieces of every rank go to all.
func (x *exchange) wholeRound(pieces int) func(int) []int {
	hops := allTheWay(x.circle.size(), pieces)
	return func(int) []int { return hops }
}

func (x *exchange) passGather(in, out []byte) error {
	n := len(in)
	if n == 0 {
		return x.passTokens()
	}
	copy(slice(out, x.circle.at, n), in)
	segments := ringSegments(n)
	s := slicing{elems: n, ranks: 1, limit: ceil(n, segments)}
	return x.pass(x.wholeRound(segments), func(p parcel) []byte {
		lo, hi := s.segment(0, p.number)
		return slice(out, p.origin, n)[lo:hi]
	})
}

// passBroadcast sends the root's data, and a byte of every other rank.
func (x *exchange) passBroadcast(root int, data []byte) error {
	if len(data) == 0 {
		return x.passTokens()
	}
	size, segments := x.circle.size(), ringSegments(len(data))
	s := slicing{elems: len(data), ranks: 1, limit: ceil(len(data), segments)}
	tokens := make([]byte, size)
	token, all := allTheWay(size, 1), allTheWay(size, segments)
	reach := func(origin int) []int {
		if origin == root {
			return all
		}
		return token
	}
	return x.pass(reach, func(p parcel) []byte {
		if p.origin != root {
			return tokens[p.origin : p.origin+1]
		}
		lo, hi := s.segment(0, p.number)
		return data[lo:hi]
	})
}

// passToAll sends what is for others along with what others have for others.
// Piece i of a rank goes i+1 ranks far.
func (x *exchange) passToAll(in, out []byte) error {
	at, size := x.circle.at, x.circle.size()
	n := len(in) / size
	if n == 0 {
		return x.passTokens()
	}
	copy(slice(out, at, n), slice(in, at, n))
	hops := make([]int, size-1)
	for i := range hops {
		hops[i] = i + 1
	}
	passing := x.comm.room(n * (size - 1) * (size - 2) / 2)
	held := map[parcel][]byte{}
	return x.pass(func(int) []int { return hops }, func(p parcel) []byte {
		to := above(p.origin, p.number+1, size)
		switch {
		case p.origin == at:
			return slice(in, to, n)
		case to == at:
			return slice(out, p.origin, n)
		case held[p] == nil:
			held[p], passing = passing[:n:n], passing[n:]
		}
		return held[p]
	})
}

// ringSegments is how many segments a block is divided into, so that a rank passes
// on one while the next comes. All ranks must find the same.
func ringSegments(bytes int) int {
	return max(min(ceil(bytes, 64<<10), 4), ceil(bytes, 256<<10), 1)
}

// circulate adds partial sums round the ring, in place. Without spread only this
// rank's slice is right at the end.
func (x *exchange) circulate(op group.Op, t dtype.Type, data []byte, spread bool) error {
	if len(data) == 0 {
		return x.passTokens()
	}
	at, ranks, size := x.circle.at, x.circle.size(), t.Size()
	s := slicing{elems: len(data) / size, ranks: ranks}
	s.limit = ceil(s.largest(), ringSegments(s.largest()*size))
	plan := circling(at, ranks, s.segments(), spread)
	of := func(p stretch) []byte {
		lo, hi := s.segment(p.slice, p.segment)
		return data[lo*size : hi*size]
	}
	room := x.comm.room(2 * s.limit * size)
	outs, ins := make([][]byte, len(plan.out)), make([][]byte, len(plan.in))
	for i := range outs {
		outs[i], ins[i] = of(plan.out[i]), of(plan.in[i])
		if i < plan.sums {
			ins[i] = slice(room, i%2, s.limit*size)[:len(ins[i])]
		}
	}
	x.flow(&x.outs, above(at, 1, ranks), outs, plan.sends)
	x.flow(&x.ins, below(at, 1, ranks), ins, plan.receives)
	x.advance = func() {
		for ; x.level < x.ins[0].at; x.level++ {
			if x.level < plan.sums {
				addOriginals(op, t, ins[x.level], of(plan.in[x.level]), ranks, plan.in[x.level].slice == at)
			}
		}
	}
	return x.run()
}

// addOriginals adds this rank's values to a partial sum and leaves the result in
// their place; the last of all divides where the mean is asked for.
func addOriginals(op group.Op, t dtype.Type, partial, own []byte, ranks int, last bool) {
	if op == group.Mean && !last {
		op = group.Sum
	}
	reduce.IntoPartial(reduce.Op(op), t, own, [][]byte{partial, own}, ranks)
}

// circulateScatter works on a copy, as partial sums take the place of originals.
func (x *exchange) circulateScatter(op group.Op, t dtype.Type, in, out []byte) error {
	work := x.comm.copyOf(in)
	err := x.circulate(op, t, work, false)
	copy(out, slice(work, x.circle.at, len(out)))
	return err
}
