package group

import "sync/atomic"

var preset atomic.Pointer[Group]

// SetDefault makes g the group of every call that names none; nil makes it the
// group of one. It overrides what Init chose. Processes with several ranks in
// them pass their groups explicitly instead.
func SetDefault(g *Group) { preset.Store(g) }

// Default is the group of calls that name none: the last SetDefault, else the
// first group that Init formed, else the group of one. A default group that was
// closed stays the default, so that calls fail instead of running alone.
func Default() *Group {
	if g := preset.Load(); g != nil {
		return g
	}
	return single
}

// orDefault resolves the group argument of a function.
func orDefault(g *Group) *Group {
	if g == nil {
		return Default()
	}
	return g
}
