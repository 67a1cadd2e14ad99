package ring

// A schedule says, without a socket in sight, what one rank does in a collective:
// in which step it sends which blocks to whom, and which it receives from whom.
// Every schedule begins with an exchange between neighbours, to the rank above
// and from the rank below, so that ranks that disagree find out in the first
// step whichever schedules they follow.

// step is one exchange. The blocks travel in the order listed.
type step struct {
	to   int
	send []int
	from int
	recv []int
}

// doubling brings every rank's block to every rank in ⌈log₂ size⌉ steps, for any
// size. Each rank receives every block but its own once. In the step of distance
// d a rank passes on the blocks that it has of itself and the d-1 ranks below it.
func doubling(rank, size int) []step {
	var steps []step
	for d := 1; d < size; d *= 2 {
		count := min(d, size-d)
		from := below(rank, d, size)
		steps = append(steps, step{
			to: above(rank, d, size), send: downFrom(rank, count, size),
			from: from, recv: downFrom(from, count, size),
		})
	}
	return steps
}

// scattering brings block r of every rank to rank r, directly, in size-1 steps:
// in step k to the rank k above and from the rank k below, so that no rank is
// everyone's target at once. recv lists the block's number at its sender.
func scattering(rank, size int) []step {
	return rotated(rank, size, func(to, from int) ([]int, []int) { return []int{to}, []int{rank} })
}

// gathering brings block r, which rank r has, to every rank, directly and in
// the order of scattering.
func gathering(rank, size int) []step {
	return rotated(rank, size, func(to, from int) ([]int, []int) { return []int{rank}, []int{from} })
}

func rotated(rank, size int, blocks func(to, from int) (send, recv []int)) []step {
	var steps []step
	for k := 1; k < size; k++ {
		s := step{to: above(rank, k, size), from: below(rank, k, size)}
		s.send, s.recv = blocks(s.to, s.from)
		steps = append(steps, s)
	}
	return steps
}

func above(rank, distance, size int) int { return (rank + distance) % size }

func below(rank, distance, size int) int { return (rank - distance + size) % size }

// downFrom lists count ranks: rank, the one below it, and so on.
func downFrom(rank, count, size int) []int {
	blocks := make([]int, count)
	for i := range blocks {
		blocks[i] = below(rank, i, size)
	}
	return blocks
}

// slicing divides elements among ranks, as evenly as can be, and each rank's
// slice into equally many segments of at most limit elements.
type slicing struct{ elems, ranks, limit int }

// segments is how many segments every slice has; the last ones may be empty.
func (s slicing) segments() int { return ceil(s.largest(), max(s.limit, 1)) }

// largest is the length of the longest slice.
func (s slicing) largest() int { return ceil(s.elems, s.ranks) }

// ceil divides and rounds up.
func ceil(a, b int) int { return (a + b - 1) / b }

// segment returns the bounds of segment i of a rank's slice.
func (s slicing) segment(rank, i int) (lo, hi int) {
	start, end := s.start(rank), s.start(rank+1)
	lo = min(start+i*s.limit, end)
	return lo, min(lo+s.limit, end)
}

// start is where a rank's slice begins; the first slices take the remainder.
func (s slicing) start(rank int) int {
	return rank*(s.elems/s.ranks) + min(rank, s.elems%s.ranks)
}

// piece is a part of what a rank sends another in a sliced reduction: originals
// of a segment of the receiver's slice, or a reduced segment of its own.
type piece struct {
	segment int
	reduced bool
}

// plan is the order of all pieces from one rank to another. A piece may be sent,
// or received, once so many segments have been reduced as sends and receives say.
type plan struct {
	pieces    []piece
	sends     []int
	receives  []int
	originals []int // the number of each segment's piece with originals
}

// pipeline sends the originals of segment after segment, and with spread the
// results, each after the originals of the next segment, which are on their way
// while it is being reduced: o0 o1 r0 o2 r1 ... The receiver has room for the
// originals of two segments. There is at least one segment.
func pipeline(segments int, spread bool) plan {
	var p plan
	segments = max(segments, 1)
	for i := range segments {
		p.originals = append(p.originals, len(p.pieces))
		p.add(piece{i, false}, 0, i-1)
		if spread && i > 0 {
			p.add(piece{i - 1, true}, i, 0)
		}
	}
	if spread {
		p.add(piece{segments - 1, true}, segments, 0)
	}
	return p
}

func (p *plan) add(what piece, send, receive int) {
	p.pieces = append(p.pieces, what)
	p.sends = append(p.sends, send)
	p.receives = append(p.receives, receive)
}

// blocks gives the bytes of each piece.
func (p *plan) blocks(of func(piece) []byte) [][]byte {
	all := make([][]byte, len(p.pieces))
	for i, what := range p.pieces {
		all[i] = of(what)
	}
	return all
}

// itinerary keeps the schedules of a group.
type itinerary struct{ double, straight []step }

func (s *itinerary) doubling(rank, size int) []step {
	if s.double == nil {
		s.double = doubling(rank, size)
	}
	return s.double
}

// direct has every rank exchange with every other one.
func (s *itinerary) direct(rank, size int) []step {
	if s.straight == nil {
		s.straight = scattering(rank, size)
	}
	return s.straight
}
