package ring

// The schedules of the neighbour ring, apart from sockets: every rank sends to the
// one above alone and receives from the one below. All that a rank sends in a
// collective is one message, whose pieces leave as soon as what they are made of
// has come.

// parcel is one piece of what a rank gives to others.
type parcel struct{ origin, number int }

// relay is what passes a rank, in order. Piece i of out may leave when needs[i]
// pieces of in have come.
type relay struct {
	out, in []parcel
	needs   []int
}

// relaying has every rank's pieces travel up the ring; reach says how many ranks
// far each piece of a rank goes, from 1 to size-1. A rank sends its own pieces
// first, then those of the rank below it, and so on.
func relaying(rank, size int, reach func(origin int) []int) relay {
	var r relay
	came := map[parcel]int{}
	each := func(distance int, do func(p parcel, hops int)) {
		origin := below(rank, distance, size)
		for number, hops := range reach(origin) {
			do(parcel{origin, number}, hops)
		}
	}
	for d := 1; d < size; d++ {
		each(d, func(p parcel, hops int) {
			if hops >= d {
				r.in = append(r.in, p)
				came[p] = len(r.in)
			}
		})
	}
	for d := range size - 1 {
		each(d, func(p parcel, hops int) {
			if hops > d {
				r.out = append(r.out, p)
				r.needs = append(r.needs, came[p])
			}
		})
	}
	return r
}

// allTheWay is the reach of pieces that everyone gets.
func allTheWay(size, pieces int) []int {
	hops := make([]int, pieces)
	for i := range hops {
		hops[i] = size - 1
	}
	return hops
}

// stretch is a segment of a rank's slice.
type stretch struct{ slice, segment int }

// circuit is what passes a rank in a reduction, in order. The first pieces of in
// are partial sums, to which the rank adds its own values; the others are
// results. A piece may be sent, or received, once so many pieces have been
// received and dealt with as sends and receives say.
type circuit struct {
	out, in         []stretch
	sends, receives []int
	sums            int
}

// circling is the classic ring: in size-1 rounds the sum of each slice grows on
// its way to the rank that owns it, beginning at the rank above that one, and with
// spread it travels round in size-1 rounds more. What a rank sends in one round
// it received in the round before. There is room for two partial sums.
func circling(rank, size, segments int, spread bool) circuit {
	var c circuit
	segments = max(segments, 1)
	rounds := size - 1
	c.sums = rounds * segments
	if spread {
		rounds *= 2
	}
	for round := range rounds {
		for segment := range segments {
			i := len(c.out)
			c.out = append(c.out, stretch{below(rank, (round+1)%size, size), segment})
			c.in = append(c.in, stretch{below(rank, (round+2)%size, size), segment})
			c.sends = append(c.sends, max(i-segments+1, 0))
			if i >= c.sums {
				i = 0 // results come to where they belong
			}
			c.receives = append(c.receives, max(i-1, 0))
		}
	}
	return c
}
