package array

import "slices"

// step is one operation, or several in one pass.
type step struct {
	ops  []int
	op   *operation
	pass *pass
}

// reads and writes list the views of stores that a step touches.
func (s *step) reads() []value {
	if s.pass != nil {
		return s.pass.operands
	}
	return s.op.in
}

func (s *step) writes() []value {
	if s.pass != nil {
		return s.pass.outputs
	}
	return s.op.out
}

// interval is a part of the arena that is taken.
type interval struct{ store, from, to int }

// plan gives each store of the arena an offset at which no other one lies that is
// needed at the same time. An output of a pass may take the place of an operand.
func (b *programBuilder) plan() {
	last := make([]int, len(b.stores))
	for i := range b.steps {
		for _, v := range b.steps[i].reads() {
			last[v.store] = i
		}
		for _, v := range b.steps[i].writes() {
			last[v.store] = max(last[v.store], i)
		}
	}
	var taken []interval // by offset
	b.over = slices.Repeat([]int{-1}, len(b.outs))
	for i := range b.steps {
		for _, v := range b.steps[i].writes() {
			s := &b.stores[v.store]
			if s.kind == inResult {
				b.over[s.index] = b.overInput(i, v, last)
			}
			if s.kind != inArena {
				continue
			}
			at := slices.IndexFunc(taken, func(t interval) bool {
				return last[t.store] == i && b.stores[t.store].bytes >= s.bytes && b.steps[i].mayReplace(t.store, v)
			})
			if at >= 0 {
				taken[at].store = v.store
				s.offset = taken[at].from
				continue
			}
			taken = b.place(taken, v.store)
		}
		taken = slices.DeleteFunc(taken, func(t interval) bool { return last[t.store] <= i })
	}
}

// overInput is an input that step i is the last to read and that its output v may be
// written over; -1 if there is none that no other result has.
func (b *programBuilder) overInput(i int, v value, last []int) int {
	for _, x := range b.steps[i].reads() {
		s := b.stores[x.store]
		if s.kind == inInput && s.bytes == b.stores[v.store].bytes && last[x.store] == i &&
			!slices.Contains(b.over, s.index) && b.steps[i].mayReplace(x.store, v) {
			return s.index
		}
	}
	return -1
}

// place takes the smallest gap that is large enough, or the end.
func (b *programBuilder) place(taken []interval, at int) []interval {
	s := &b.stores[at]
	size := max(arenaUnit, (s.bytes+arenaUnit-1)/arenaUnit*arenaUnit)
	best, bestFrom, bestGap, from := len(taken), 0, -1, 0
	for k, t := range taken {
		if gap := t.from - from; gap >= size && (bestGap < 0 || gap < bestGap) {
			best, bestFrom, bestGap = k, from, gap
		}
		from = t.to
	}
	if bestGap < 0 {
		best, bestFrom = len(taken), from
	}
	s.offset = bestFrom
	b.arena = max(b.arena, bestFrom+size)
	return slices.Insert(taken, best, interval{at, bestFrom, bestFrom + size})
}

// arenaUnit is what offsets in the arena are multiples of: a cache line, and no
// power of two, so that arrays of one size do not meet in the same cache sets.
const arenaUnit = 64 * 5

// mayReplace reports whether the output out of the step may be written over a store
// that it is the last to read.
func (s *step) mayReplace(at int, out value) bool {
	return s.pass != nil && s.pass.mayReplace(at, out)
}
