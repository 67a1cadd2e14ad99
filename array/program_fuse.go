package array

import (
	"container/heap"
	"fmt"
	"slices"
)

// mostFused is how many operations one pass may have.
const mostFused = 64

// fusion sorts operations into groups: those of one pass, and single ones. Groups
// depend on each other without circles.
type fusion struct {
	*programBuilder
	group   []int   // per operation
	members [][]int // per group: operations in order; nil once it is part of another
	users   [][]int // per store: operations that read it
	sources [][]int // per group: what makers has found; nil before
	met     []int   // per group: the last search that met it
	search  int     // its number
	left    int     // how many groups it may still meet
}

// schedule fuses and orders the operations.
func (b *programBuilder) schedule() error {
	f := &fusion{programBuilder: b, sources: make([][]int, len(b.ops)), met: make([]int, len(b.ops)), users: make([][]int, len(b.stores))}
	for i, op := range b.ops {
		for _, v := range op.in {
			f.users[v.store] = append(f.users[v.store], i)
		}
		f.group = append(f.group, i)
		f.members = append(f.members, []int{i})
		if op.loop != nil {
			f.join(i)
		}
	}
	for _, g := range f.order() {
		if ops := f.members[g]; b.ops[ops[0]].loop != nil {
			b.steps = append(b.steps, b.fuse(ops, f.isInner))
		} else {
			b.steps = append(b.steps, step{ops: ops, op: b.ops[ops[0]]})
		}
	}
	if scheduled := slices.Concat(stepOps(b.steps)...); len(scheduled) != len(b.ops) {
		return fmt.Errorf("internal error: %d of %d operations can run", len(scheduled), len(b.ops))
	}
	return nil
}

func stepOps(steps []step) [][]int {
	all := make([][]int, len(steps))
	for i := range steps {
		all[i] = steps[i].ops
	}
	return all
}

// join puts operation i into the groups that make its operands, as one group, where
// that closes no circle.
func (f *fusion) join(i int) {
	for _, v := range f.ops[i].in {
		maker := f.stores[v.store].maker
		if maker < 0 || f.group[maker] == f.group[i] {
			continue
		}
		if a, b := f.group[maker], f.group[i]; f.canMerge(a, b) {
			for _, j := range f.members[b] {
				f.group[j] = a
			}
			f.members[a] = append(f.members[a], f.members[b]...)
			slices.Sort(f.members[a])
			f.members[b], f.sources[a] = nil, nil
		}
	}
}

func (f *fusion) canMerge(a, b int) bool {
	x, y := f.ops[f.members[a][0]], f.ops[f.members[b][0]]
	return x.loop != nil && y.loop != nil && slices.Equal(x.out[0].Shape, y.out[0].Shape) &&
		len(f.members[a])+len(f.members[b]) <= mostFused &&
		f.readsInPlace(a, b) && f.readsInPlace(b, a) && !f.around(a, b) && !f.around(b, a)
}

// readsInPlace reports whether group b reads what a makes only at the same places.
func (f *fusion) readsInPlace(a, b int) bool {
	for _, i := range f.members[b] {
		for _, v := range f.ops[i].in {
			if maker := f.stores[v.store].maker; maker >= 0 && f.group[maker] == a && !v.isRows(f.ops[i].out[0].Shape) {
				return false
			}
		}
	}
	return true
}

// mostMet ends a search in a large program: groups that it cannot tell apart stay
// apart.
const mostMet = 4096

// around reports whether b depends on a by way of another group, or might.
func (f *fusion) around(a, b int) bool {
	f.search, f.left = f.search+1, mostMet
	return slices.ContainsFunc(f.makers(b), func(g int) bool { return g != a && f.reaches(a, g) })
}

// reaches reports whether b depends on a, or might.
func (f *fusion) reaches(a, b int) bool {
	if f.met[b] == f.search {
		return false
	}
	f.met[b] = f.search
	f.left--
	return f.left < 0 || slices.ContainsFunc(f.makers(b), func(g int) bool { return g == a || f.reaches(a, g) })
}

// makers are the groups whose values group g reads.
func (f *fusion) makers(g int) []int {
	if f.sources[g] == nil {
		f.sources[g] = []int{}
		for _, i := range f.members[g] {
			for _, v := range f.ops[i].in {
				if maker := f.stores[v.store].maker; maker >= 0 && !slices.Contains(f.sources[g], maker) {
					f.sources[g] = append(f.sources[g], maker)
				}
			}
		}
	}
	var all []int // operations move from group to group
	for _, maker := range f.sources[g] {
		if h := f.group[maker]; h != g && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// isInner reports whether a store is only read by the group that makes it.
func (f *fusion) isInner(at int) bool {
	s := f.stores[at]
	if s.kind == inResult {
		return false
	}
	return !slices.ContainsFunc(f.users[at], func(i int) bool { return f.group[i] != f.group[s.maker] })
}

// order lists the groups, makers before users, and otherwise as their last
// operations stand.
func (f *fusion) order() []int {
	missing, users := make([]int, len(f.members)), make([][]int, len(f.members))
	var ready intHeap // by last operation
	byLast := make([]int, len(f.ops))
	for g, ops := range f.members {
		if ops == nil {
			continue
		}
		byLast[ops[len(ops)-1]] = g
		for _, maker := range f.makers(g) {
			users[maker] = append(users[maker], g)
			missing[g]++
		}
		if missing[g] == 0 {
			heap.Push(&ready, ops[len(ops)-1])
		}
	}
	var order []int
	for ready.Len() > 0 {
		g := byLast[heap.Pop(&ready).(int)]
		order = append(order, g)
		for _, user := range users[g] {
			if missing[user]--; missing[user] == 0 {
				heap.Push(&ready, f.members[user][len(f.members[user])-1])
			}
		}
	}
	return order
}
