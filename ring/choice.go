package ring

import "math/bits"

// way is how a collective travels.
type way string

const (
	byMemory     way = "shared memory"
	byDoubling   way = "doubling"
	byDirect     way = "direct exchange"
	byPipeline   way = "pipeline"
	byNeighbours way = "neighbour ring"
	byHosts      way = "hierarchical"
	byTwoLevels  way = "two levels"
)

// surroundings are what the choice depends on beside the call; they are the same
// on all ranks of a group.
type surroundings struct {
	ranks    int
	shared   bool // all ranks share memory
	levels   bool // there are several hosts, and several ranks on some
	topology string
	reduce   string
	schedule string
}

// choose finds the way of a collective for which each rank gives so many bytes.
func choose(kind callKind, bytes int, s surroundings) way {
	reduces := kind == allReduce || kind == reduceScatter
	switch {
	case s.ranks == 1:
		return byDoubling // in no steps
	case s.topology == topologyRing:
		return byNeighbours
	case s.shared:
		return byMemory
	case reduces && s.levels && s.reduce == reduceHierarchical:
		return byHosts
	case s.levels && s.schedule == scheduleAuto && bytes > small(s.ranks) &&
		(kind == allReduce || kind == allGather || kind == broadcast):
		return byTwoLevels
	case kind == broadcast, kind == barrier:
		return byDoubling
	case kind == allToAll:
		return byDirect
	case kind == reduceScatter:
		return byPipeline
	case doublesUpTo(s.schedule, s.ranks, bytes):
		return byDoubling
	case kind == allReduce:
		return byPipeline
	}
	return byDirect
}

// doublesUpTo reports whether everything that ranks give, so many bytes each, goes
// to all of them in ⌈log₂ ranks⌉ steps.
func doublesUpTo(schedule string, ranks, bytes int) bool {
	switch schedule {
	case scheduleDoubling:
		return true
	case scheduleSliced:
		return false
	}
	return bytes <= small(ranks)
}

// way chooses how the call travels, and says so the first time that one of its
// size, within a factor of two, does.
func (x *exchange) way() way {
	c, call := x.comm, &x.call
	cfg := &c.node.cfg
	chosen := choose(call.kind, call.bytes, surroundings{
		ranks: c.Size(), shared: c.shared != nil && c.levels == nil, levels: c.levels != nil,
		topology: cfg.Topology, reduce: cfg.Reduce, schedule: cfg.Schedule,
	})
	class := bits.Len(uint(call.bytes))
	if c.said[call.kind]&(1<<class) == 0 {
		c.said[call.kind] |= 1 << class
		c.node.log.Debug("ring: schedule", "op", callNames[call.kind], "bytes", call.bytes, "schedule", string(chosen), "ranks", c.ranks)
	}
	return chosen
}
