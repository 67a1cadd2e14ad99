package group

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// bounded is the context of one call: the caller's, with the group's timeout. Most
// calls are over before anyone looks at it twice, and to ask the clock would be a
// good part of what they cost: so their time counts from the second look. Its timers,
// and that of the warning about a call that takes long, are only made when someone
// begins to wait for its end.
type bounded struct {
	parent context.Context
	g      *Group
	what   call
	fresh  bool // parent was asked just before the call began

	use atomic.Int32 // how much use was made of it

	mu      sync.Mutex
	until   time.Time // the deadline; zero while the time does not count yet
	own     bool      // which is the group's, not the caller's
	warnAt  time.Time
	waited  context.Context // nil before someone waits
	cancel  context.CancelFunc
	warning *time.Timer
	warned  bool // or no warning is wanted any more
}

const (
	unused   = iota
	lookedAt // Err was called once
	inUse    // what mu guards may have changed
)

// bound makes the context of a call, which the caller ends.
func (g *Group) bound(ctx context.Context, what call) *bounded {
	return &bounded{parent: ctx, g: g, what: what}
}

// lock takes the lock for good use.
func (b *bounded) lock() {
	b.mu.Lock()
	b.use.Store(inUse)
}

// end ends the context and its timers, and reports whether nobody can have kept it.
// No warning comes afterwards.
func (b *bounded) end() (forgotten bool) {
	if b.use.Load() != inUse {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warned = true
	if b.waited == nil {
		return true
	}
	b.cancel()
	b.warning.Stop()
	return false
}

// reset makes a context that has ended ready for another call.
func (b *bounded) reset() {
	if b.use.Load() == inUse {
		*b = bounded{}
	}
	b.parent = nil
	b.use.Store(unused)
}

// countLocked begins to count the time.
func (b *bounded) countLocked() {
	if !b.until.IsZero() {
		return
	}
	now := time.Now()
	b.until, b.own, b.warnAt = now.Add(b.g.timeout), true, now.Add(b.g.stall)
	if at, ok := b.parent.Deadline(); ok && !at.After(b.until) {
		b.until, b.own = at, false
	}
}

func (b *bounded) Deadline() (time.Time, bool) {
	b.lock()
	defer b.mu.Unlock()
	b.countLocked()
	return b.until, true
}

func (b *bounded) Done() <-chan struct{} {
	b.lock()
	defer b.mu.Unlock()
	return b.waitedLocked().Done()
}

func (b *bounded) Err() error {
	if b.use.CompareAndSwap(unused, lookedAt) {
		if b.fresh {
			return nil
		}
		return b.parent.Err()
	}
	b.lock()
	defer b.mu.Unlock()
	if b.waited != nil {
		return b.waited.Err()
	}
	b.countLocked()
	now := time.Now()
	if !now.Before(b.warnAt) {
		b.warnLocked()
	}
	if b.own && !now.Before(b.until) {
		return b.waitedLocked().Err()
	}
	return b.parent.Err()
}

// Value also leads package context to the cause of the end.
func (b *bounded) Value(key any) any {
	b.lock()
	defer b.mu.Unlock()
	if b.waited != nil {
		return b.waited.Value(key)
	}
	return b.parent.Value(key)
}

func (b *bounded) waitedLocked() context.Context {
	if b.waited != nil {
		return b.waited
	}
	b.countLocked()
	if b.own {
		b.waited, b.cancel = context.WithDeadlineCause(b.parent, b.until, timeoutError(b.g.timeout))
	} else {
		b.waited, b.cancel = context.WithCancel(b.parent)
	}
	b.warning = time.AfterFunc(time.Until(b.warnAt), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.warnLocked()
	})
	return b.waited
}

func (b *bounded) warnLocked() {
	if !b.warned {
		b.warned = true
		b.g.logger.Warn("still waiting", "call", b.what.String(), "after", b.g.stall)
	}
}
