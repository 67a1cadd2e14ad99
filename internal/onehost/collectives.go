package onehost

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// A rank writes only to its own inboxes and
// outboxes; what it wrote is read after a fence, and written again only after
// another one that comes after the reading. So two of each suffice:
//
//	turn   1           2           3
//	write  box 1       box 0       box 1
//	read     ──fence── box 1 ──fence── box 0   all have read box 1 before they
//	                                           arrive at the second fence
//
// Bytes are copied twice, into an inbox and out of it. In a reduction of n ranks
// each rank copies (n-1)/n of its data in, reads as much of the others' while it
// adds its slice, copies the slice out to all, and copies the others' slices in.

// wholeBytes is up to how many bytes in all ranks' inboxes a rank rather reads
// all of them than wait a second time.
const wholeBytes = 64 << 10

// swap moves up to step bytes at a time: put fills this rank's inbox, take reads
// those of all.
func (s *Sharing) swap(call Call, bytes, step int, put func(lo, hi int, own []byte), take func(lo, hi int, inbox [][]byte)) error {
	for lo := 0; lo == 0 || lo < bytes; lo += step {
		hi := min(lo+step, bytes)
		s.turn++
		inbox := s.inbox[s.turn%2]
		put(lo, hi, inbox[s.place])
		s.arrive(call)
		if err := s.wait(call); err != nil {
			return err
		}
		take(lo, hi, inbox)
	}
	return nil
}

// Barrier returns once every rank has called it.
func (s *Sharing) Barrier(call Call) error {
	s.arrive(call)
	return s.wait(call)
}

// Broadcast copies root's data to every rank; none returns before all have come.
func (s *Sharing) Broadcast(call Call, root int, data []byte) error {
	return s.swap(call, len(data), s.layout.inbox, func(lo, hi int, own []byte) {
		if s.place == root {
			copy(own, data[lo:hi])
		}
	}, func(lo, hi int, inbox [][]byte) {
		if s.place != root {
			copy(data[lo:hi], inbox[root])
		}
	})
}

// Gather concatenates every rank's in, in rank order, into out.
func (s *Sharing) Gather(call Call, in, out []byte) error {
	return s.swap(call, len(in), s.layout.inbox,
		func(lo, hi int, own []byte) { copy(own, in[lo:hi]) },
		func(lo, hi int, inbox [][]byte) {
			for r := range inbox {
				copy(slice(out, r, len(in))[lo:hi], inbox[r])
			}
		})
}

// BroadcastBlocks copies the blocks of root to everyone, all of them as one.
func (s *Sharing) BroadcastBlocks(call Call, root int, blocks [][]byte) error {
	total := 0
	for _, b := range blocks {
		total += len(b)
	}
	return s.swap(call, total, s.layout.inbox, func(lo, hi int, own []byte) {
		if s.place == root {
			eachPart(blocks, lo, hi, func(part []byte, at int) { copy(own[at:], part) })
		}
	}, func(lo, hi int, inbox [][]byte) {
		if s.place != root {
			eachPart(blocks, lo, hi, func(part []byte, at int) { copy(part, inbox[root][at:]) })
		}
	})
}

// eachPart calls do with what lies between lo and hi of blocks in a row, and where
// it lies after lo.
func eachPart(blocks [][]byte, lo, hi int, do func(part []byte, at int)) {
	start := 0
	for _, b := range blocks {
		from, to := max(lo-start, 0), min(hi-start, len(b))
		if from < to {
			do(b[from:to], start+from-lo)
		}
		start += len(b)
	}
}

// GatherUneven brings the blocks of all ranks, which may differ in length by what
// all of them know, to everyone.
func (s *Sharing) GatherUneven(call Call, block func(rank int) []byte) error {
	longest := 0
	for r := range s.desks {
		longest = max(longest, len(block(r)))
	}
	part := func(r, lo, hi int) []byte {
		b := block(r)
		return b[min(lo, len(b)):min(hi, len(b))]
	}
	return s.swap(call, longest, s.layout.inbox,
		func(lo, hi int, own []byte) { copy(own, part(s.place, lo, hi)) },
		func(lo, hi int, inbox [][]byte) {
			for r := range inbox {
				copy(part(r, lo, hi), inbox[r])
			}
		})
}

// AllToAll sends slice i of in to rank i and fills slice i of out from it.
func (s *Sharing) AllToAll(call Call, in, out []byte) error {
	n, piece := len(in)/len(s.desks), s.layout.piece
	return s.swap(call, n, piece, func(lo, hi int, own []byte) {
		for r := range s.desks {
			copy(own[r*piece:], slice(in, r, n)[lo:hi])
		}
	}, func(lo, hi int, inbox [][]byte) {
		for r := range inbox {
			copy(slice(out, r, n)[lo:hi], inbox[r][s.place*piece:])
		}
	})
}

// ReduceScatter leaves this rank's slice of the reduction of in in out.
func (s *Sharing) ReduceScatter(call Call, op reduce.Op, t dtype.Type, in, out []byte) error {
	n, rank, piece := len(out), s.place, s.layout.piece
	return s.swap(call, n, piece, func(lo, hi int, own []byte) {
		for r := range s.desks {
			if r != rank {
				copy(own[r*piece:], slice(in, r, n)[lo:hi])
			}
		}
	}, func(lo, hi int, inbox [][]byte) {
		s.reduce(op, t, out[lo:hi], slice(in, rank, n)[lo:hi], inbox, rank*piece)
	})
}

// reduce combines what lies at an offset of the others' inboxes and, in its
// place, this rank's own.
func (s *Sharing) reduce(op reduce.Op, t dtype.Type, dst, own []byte, inbox [][]byte, offset int) {
	for r := range inbox {
		s.parts[r] = inbox[r][offset:][:len(dst)]
	}
	s.parts[s.place] = own
	reduce.Into(op, t, dst, s.parts)
	clear(s.parts) // the caller's memory is not kept
}

// AllReduce combines data over all ranks, in place.
func (s *Sharing) AllReduce(call Call, op reduce.Op, t dtype.Type, data []byte) error {
	if len(data)*len(s.desks) > wholeBytes {
		return s.reduceSliced(call, op, t, data)
	}
	return s.swap(call, len(data), wholeBytes,
		func(lo, hi int, own []byte) { copy(own, data) },
		func(lo, hi int, inbox [][]byte) { s.reduce(op, t, data, data, inbox, 0) })
}

// chunk is as much of the data as the boxes of one turn hold; each rank reduces
// its slice of it.
type chunk struct {
	s        *Sharing
	data     []byte
	elements division
	size     int // of an element
	turn     uint64
}

// division divides elements among ranks, as evenly as can be.
type division struct{ elems, ranks int }

// start is where a rank's part begins; the first ones take the remainder.
func (d division) start(rank int) int {
	return rank*(d.elems/d.ranks) + min(rank, d.elems%d.ranks)
}

func slice(b []byte, i, n int) []byte { return b[i*n : (i+1)*n] }

func (k *chunk) slice(rank int) []byte {
	return k.data[k.elements.start(rank)*k.size : k.elements.start(rank+1)*k.size]
}

// show puts this rank's originals of the others' slices into its inbox.
func (k *chunk) show() {
	own := k.s.inbox[k.turn%2][k.s.place]
	for r := range k.s.desks {
		if r != k.s.place {
			copy(own[r*k.s.layout.piece:], k.slice(r))
		}
	}
}

// reduce combines all originals of this rank's slice and puts the result into its
// outbox.
func (k *chunk) reduce(op reduce.Op, t dtype.Type) {
	s, own := k.s, k.slice(k.s.place)
	s.reduce(op, t, own, own, s.inbox[k.turn%2], s.place*s.layout.piece)
	copy(s.outbox[k.turn%2][s.place], own)
}

// collect takes the others' results.
func (k *chunk) collect() {
	for r, result := range k.s.outbox[k.turn%2] {
		if r != k.s.place {
			copy(k.slice(r), result)
		}
	}
}

// reduceSliced has two fences for each chunk: all have shown, all have reduced.
// What does not depend on the others is done between arriving and waiting: the
// next chunk is shown, the last one collected.
func (s *Sharing) reduceSliced(call Call, op reduce.Op, t dtype.Type, data []byte) error {
	var last *chunk
	step := s.layout.piece / t.Size() * t.Size() * len(s.desks)
	for lo := 0; lo < len(data); lo += step {
		s.turn++
		k := &chunk{s: s, data: data[lo:min(lo+step, len(data))], size: t.Size(), turn: s.turn}
		k.elements = division{elems: len(k.data) / k.size, ranks: len(s.desks)}
		k.show()
		if last != nil {
			if err := s.wait(call); err != nil {
				return err
			}
		}
		s.arrive(call)
		if last != nil {
			last.collect()
		}
		if err := s.wait(call); err != nil {
			return err
		}
		k.reduce(op, t)
		s.arrive(call)
		last = k
	}
	if err := s.wait(call); err != nil {
		return err
	}
	last.collect()
	return nil
}
