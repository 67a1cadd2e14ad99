package ring

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// levels are the hosts of a group that spans several, and has several ranks on
// some. The first rank of each host speaks for it.
type levels struct {
	hosts   [][]int
	host    *circle // the ranks of this host
	leaders *circle // one rank of each host; nil in ranks that are none
}

// levelsOf finds the levels of a group of which one member has a place; nil when
// there is only one.
func levelsOf(hosts [][]int, place int) *levels {
	members := 0
	for _, h := range hosts {
		members += len(h)
	}
	if len(hosts) < 2 || members == len(hosts) {
		return nil
	}
	l := levels{hosts: hosts}
	var leaders []int
	for i, h := range hosts {
		leaders = append(leaders, h[0])
		for at, r := range h {
			if r != place {
				continue
			}
			l.host = newCircle(h, at)
			if at == 0 {
				l.leaders = newCircle(nil, i)
			}
		}
	}
	if l.leaders != nil {
		l.leaders.ranks = leaders
	}
	return &l
}

// reduceByHosts adds what the ranks of each host have, then the sums of the hosts,
// and hands the result to everyone. Each level rounds.
func (x *exchange) reduceByHosts(op group.Op, t dtype.Type, data []byte) error {
	if err := x.greetNeighbours(); err != nil {
		return err
	}
	l, inner := x.comm.levels, op
	if op == group.Mean {
		inner = group.Sum
	}
	defer x.within(x.comm.everyone)
	if err := x.reduceHost(inner, t, data); err != nil {
		return err
	}
	if l.leaders != nil {
		if err := x.reduceWithin(l.leaders, op, t, data); err != nil {
			return err
		}
	}
	return x.handDown(data)
}

// reduceHost sums the values of this host's ranks.
func (x *exchange) reduceHost(op group.Op, t dtype.Type, data []byte) error {
	if s := x.comm.shared; s != nil {
		return s.AllReduce(x, reduce.Op(op), t, data)
	}
	return x.reduceWithin(x.comm.levels.host, op, t, data)
}

func (x *exchange) reduceWithin(r *circle, op group.Op, t dtype.Type, data []byte) error {
	x.within(r)
	switch {
	case r.size() == 1:
		return nil
	case doublesUpTo(x.comm.node.cfg.Schedule, r.size(), len(data)):
		return x.reduceSmall(op, t, data)
	}
	return x.reduceSliced(op, t, data)
}

// greetNeighbours is the exchange with the ranks above and below that every
// schedule begins with, so that ranks that disagree find out.
func (x *exchange) greetNeighbours() error {
	first := x.circle.doubling()[:1]
	return x.follow(first, nobodysBlock, nobodysBlock)
}

func nobodysBlock(_, _ int) []byte { return nil }

// scatterByHosts adds everything on a copy and keeps this rank's slice.
func (x *exchange) scatterByHosts(op group.Op, t dtype.Type, in, out []byte) error {
	work := x.comm.copyOf(in)
	err := x.reduceByHosts(op, t, work)
	copy(out, slice(work, x.comm.rank, len(out)))
	return err
}
