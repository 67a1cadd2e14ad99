//go:build cgo && mpi

package mpi

import (
	"context"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

const (
	// inFlight is the number of peers served at a time.
	inFlight = 16
	// segmentBytes bounds what is received from one peer before it is reduced.
	segmentBytes = 256 << 10
)

// trade visits all peers in windows of inFlight, in rotated order so that no
// rank is everybody's first: start begins the transfers with one rank to send
// to and one to receive from, and a window ends when its transfers have.
func (c *comm) trade(ctx context.Context, op string, bytes int, start func(b *batch, to, from int) error) error {
	b := c.transfers
	for i := 1; i < c.size; {
		b.reset()
		for last := min(i+inFlight, c.size); i < last; i++ {
			if err := start(b, (c.rank+i)%c.size, (c.rank-i+c.size)%c.size); err != nil {
				return explain(op, nil, err)
			}
		}
		if err := c.await(ctx, b, &wait{op: op, bytes: bytes, peer: -1, collective: true, missing: b.pending}); err != nil {
			return explain(op, b.pending(), err)
		}
	}
	b.reset()
	return nil
}

// slice is what rank owns of n elements.
func slice(n, size, rank int) (lo, hi int) { return n * rank / size, n * (rank + 1) / size }

// reduction is a direct exchange. Every rank owns a slice of the elements. In
// step s it receives every rank's originals of segment s of its slice, while
// the results of segment s-1 go out, and reduces them in rank order.
//
//	two ranks, two segments      rank 0 owns a b, rank 1 owns c d
//	step 0   0 → 1: c0           1 → 0: a1
//	step 1   0 → 1: d0, a        1 → 0: b1, c
//	step 2   0 → 1: b            1 → 0: d
//
// Each rank sends and receives 2(N-1)/N of the data (half of that without
// spread) and keeps N segments.
type reduction struct {
	comm   *comm
	op     reduce.Op
	t      dtype.Type
	data   []byte
	spread bool   // results go to every rank, into data
	mine   []byte // without spread, the result: this rank's slice

	originals []byte   // room for a segment from each rank
	parts     [][]byte // by rank
}

func (r *reduction) run(ctx context.Context, op string) error {
	segments := r.prepare()
	for s := 0; s <= segments; s++ {
		if s == segments && !r.spread {
			return nil
		}
		err := r.comm.trade(ctx, op, 2*r.comm.size*segmentBytes, func(b *batch, to, from int) error {
			return r.step(b, s, to, from)
		})
		if err != nil {
			return err
		}
		r.reduce(s)
	}
	return nil
}

// prepare makes room and returns the number of segments of the longest slice.
func (r *reduction) prepare() int {
	c := r.comm
	elems := len(r.data) / r.t.Size()
	longest := (elems + c.size - 1) / c.size * r.t.Size()
	r.originals = buffer.Make(c.size * min(longest, segmentBytes))
	r.parts = make([][]byte, c.size)
	if !r.spread {
		r.mine = buffer.Make(longest)
	}
	return (longest + segmentBytes - 1) / segmentBytes
}

// segment is where segment s of rank's slice lies in data; it may be empty.
func (r *reduction) segment(s, rank int) (lo, hi int) {
	size := r.t.Size()
	first, end := slice(len(r.data)/size, r.comm.size, rank)
	lo = min(first*size+s*segmentBytes, end*size)
	return lo, min(lo+segmentBytes, end*size)
}

func (r *reduction) of(s, rank int) []byte {
	lo, hi := r.segment(s, rank)
	return r.data[lo:hi:hi]
}

// step starts the transfers of one step with two peers. Empty segments do not
// travel; both sides know of them.
func (r *reduction) step(b *batch, s, to, from int) error {
	c := r.comm
	own := len(r.of(s, c.rank))
	r.parts[from] = slot(r.originals, from, len(r.originals)/c.size)[:own]
	if err := receiveSome(b, c.channel, from, tagOriginal, r.parts[from]); err != nil {
		return err
	}
	if err := sendSome(b, c.channel, to, tagOriginal, r.of(s, to)); err != nil {
		return err
	}
	if s == 0 || !r.spread {
		return nil
	}
	if err := receiveSome(b, c.channel, from, tagResult, r.of(s-1, from)); err != nil {
		return err
	}
	return sendSome(b, c.channel, to, tagResult, r.of(s-1, c.rank))
}

// reduce combines the originals of segment s of this rank's slice.
func (r *reduction) reduce(s int) {
	own := r.of(s, r.comm.rank)
	if len(own) == 0 {
		return
	}
	r.parts[r.comm.rank] = own
	result := own
	if !r.spread {
		result = r.mine[s*segmentBytes:][:len(own)]
	}
	reduce.Into(r.op, r.t, result, r.parts)
}

func sendSome(b *batch, h handle, peer, tag int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return b.send(h, peer, tag, data)
}

func receiveSome(b *batch, h handle, peer, tag int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return b.receive(h, peer, tag, data)
}

// scatter gives every rank its slice of root's data, in place.
func (c *comm) scatter(ctx context.Context, op string, root int, data []byte) error {
	return c.trade(ctx, op, len(data), func(b *batch, to, from int) error {
		if c.rank == root {
			lo, hi := slice(len(data), c.size, to)
			return sendSome(b, c.channel, to, tagOriginal, data[lo:hi])
		}
		if from != root {
			return nil
		}
		lo, hi := slice(len(data), c.size, c.rank)
		return receiveSome(b, c.channel, from, tagOriginal, data[lo:hi])
	})
}

// gatherSlices gives every rank's slice of data to all, in place.
func (c *comm) gatherSlices(ctx context.Context, op string, data []byte) error {
	return c.trade(ctx, op, 2*len(data), func(b *batch, to, from int) error {
		lo, hi := slice(len(data), c.size, from)
		if err := receiveSome(b, c.channel, from, tagResult, data[lo:hi]); err != nil {
			return err
		}
		lo, hi = slice(len(data), c.size, c.rank)
		return sendSome(b, c.channel, to, tagResult, data[lo:hi])
	})
}
