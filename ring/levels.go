package ring

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// The collectives in two levels move originals and results as the others do, and
// so give the same bits, but bring each byte to a host once: its first rank
// gets it and the others have it from that one, through shared memory where the
// host has some.

// gatherBlocks brings every rank's block to all, each to where it belongs: those of
// the host to everyone on it, whole hosts from first rank to first rank, and the
// rest down from there.
func (x *exchange) gatherBlocks(block func(rank int) []byte) error {
	l := x.comm.levels
	defer x.within(x.comm.everyone)
	if err := x.gatherHost(block); err != nil {
		return err
	}
	if l.leaders != nil {
		x.within(l.leaders)
		steps := spelledOut(gathering(l.leaders.at, l.leaders.size()), l.hosts)
		of := func(_, rank int) []byte { return block(rank) }
		if err := x.stream(steps, of, of); err != nil {
			return err
		}
	}
	var rest [][]byte
	for _, h := range l.hosts {
		if h[0] == l.host.ranks[0] {
			continue
		}
		for _, rank := range h {
			rest = append(rest, block(rank))
		}
	}
	return x.handDown(rest...)
}

// spelledOut replaces the blocks of a schedule of hosts by those of their ranks.
func spelledOut(steps []step, hosts [][]int) []step {
	ranksOf := func(blocks []int) []int {
		var ranks []int
		for _, h := range blocks {
			ranks = append(ranks, hosts[h]...)
		}
		return ranks
	}
	for i, s := range steps {
		steps[i].send, steps[i].recv = ranksOf(s.send), ranksOf(s.recv)
	}
	return steps
}

// gatherHost brings the blocks of the host's ranks to all of them.
func (x *exchange) gatherHost(block func(rank int) []byte) error {
	host := x.comm.levels.host
	own := func(place int) []byte { return block(host.ranks[place]) }
	if s := x.comm.shared; s != nil {
		return s.GatherUneven(x, own)
	}
	x.within(host)
	of := func(_, place int) []byte { return own(place) }
	return x.stream(gathering(host.at, host.size()), of, of)
}

// handDown gives blocks that the first rank of the host has to the others.
func (x *exchange) handDown(blocks ...[]byte) error { return x.broadcastHost(0, blocks...) }

// broadcastHost copies blocks of one place of the host to the others. None returns
// before all have come.
func (x *exchange) broadcastHost(place int, blocks ...[]byte) error {
	if s := x.comm.shared; s != nil {
		return s.BroadcastBlocks(x, place, blocks)
	}
	x.within(x.comm.levels.host)
	for _, b := range blocks {
		err := x.double(func(i int) []byte {
			if i == place {
				return b
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) gatherInLevels(in, out []byte) error {
	if err := x.greetNeighbours(); err != nil {
		return err
	}
	block := func(rank int) []byte { return slice(out, rank, len(in)) }
	copy(block(x.comm.rank), in)
	return x.gatherBlocks(block)
}

// reduceInLevels combines slices from originals, as ever, and gathers the results
// in two levels.
func (x *exchange) reduceInLevels(op group.Op, t dtype.Type, data []byte) error {
	s := x.slices(t, data)
	if err := x.reduceSlices(op, t, data, s, false); err != nil {
		return err
	}
	return x.gatherBlocks(func(rank int) []byte { return data[s.start(rank)*t.Size() : s.start(rank+1)*t.Size()] })
}

// broadcastInLevels takes the root's data to the first rank of its host, from there
// to those of all hosts, and down. No first rank sends anything before the ranks
// of its host have come.
func (x *exchange) broadcastInLevels(root int, data []byte) error {
	if err := x.greetNeighbours(); err != nil {
		return err
	}
	l := x.comm.levels
	defer x.within(x.comm.everyone)
	from, place := l.find(root)
	up := data
	if l.hosts[from][0] != l.host.ranks[0] {
		up, place = nil, 0
	}
	if err := x.broadcastHost(place, up); err != nil {
		return err
	}
	if l.leaders != nil {
		x.within(l.leaders)
		err := x.double(func(host int) []byte {
			if host == from {
				return data
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if up != nil {
		data = nil // the host has it; but all other hosts have to come, too
	}
	return x.handDown(data)
}

// find is the host of a rank, and its place there.
func (l *levels) find(rank int) (host, place int) {
	for i, h := range l.hosts {
		for at, r := range h {
			if r == rank {
				return i, at
			}
		}
	}
	return -1, -1
}
