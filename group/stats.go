package group

import (
	"cmp"
	"sync/atomic"
)

// Stats counts what a group has done on this rank.
type Stats struct {
	Collectives  int64 // completed ones; none in a group of one
	BytesReduced int64 // bytes given to reductions
}

type counts struct{ collectives, reduced atomic.Int64 }

func (c *counts) add(done call) {
	c.collectives.Add(1)
	if done.t.Valid() {
		c.reduced.Add(int64(done.bytes))
	}
}

// Stats returns the counts so far. Splits count for themselves.
func (g *Group) Stats() Stats {
	return Stats{Collectives: g.counts.collectives.Load(), BytesReduced: g.counts.reduced.Load()}
}

// Origin says for people why Init chose this group, such as
// "OMPI_COMM_WORLD_SIZE=4".
func (g *Group) Origin() string { return cmp.Or(g.origin, "no launcher started this process") }
