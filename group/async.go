package group

import (
	"context"
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Pending is a collective that runs in the background.
type Pending struct {
	done chan struct{}
	err  error // set before done is closed
}

// Done is closed once the collective is over.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait returns what the collective returned. When ctx ends first it returns the
// cause, and the collective goes on: its data is still lent. It may be called
// often and from several goroutines.
func (p *Pending) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	default:
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitTurn waits for the end of p, however it ended.
func (p *Pending) awaitTurn(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// over is a collective that ended when it began.
func over(err error) *Pending {
	p := &Pending{done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

// queue is the background collectives of a group in the order of their calls. Any
// collective that is called later waits for all of them, so that the order on the
// wire is that of the program.
type queue struct {
	mu   sync.Mutex
	last *Pending // nil when none is left
}

// join runs do in the background after what is in the queue.
func (q *queue) join(do func(before *Pending) error) *Pending {
	p := &Pending{done: make(chan struct{})}
	q.mu.Lock()
	before := q.last
	q.last = p
	q.mu.Unlock()
	go func() {
		p.err = do(before)
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.last == p {
			q.last = nil
		}
		close(p.done)
	}()
	return p
}

// tail is the last of the queue, or nil.
func (q *queue) tail() *Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// AllReduceAsync is AllReduceBytes in the background: it returns at once, and data
// is lent until the result's Wait or Done says that it is over. Several may be
// under way; they run one after the other in the order of the calls, and every
// collective that is called afterwards on this group waits for them. The group's
// timeout counts from a reduction's turn. The end of ctx before the end of the
// reduction breaks the group. Close ends those that are left with ErrClosed: wait
// for them first.
func (g *Group) AllReduceAsync(ctx context.Context, op Op, t dtype.Type, data []byte) *Pending {
	return g.reduceAsync(ctx, op, t, data, func() {})
}

// reduceAsync calls done after a success, before the result is known to be there.
func (g *Group) reduceAsync(ctx context.Context, op Op, t dtype.Type, data []byte, done func()) *Pending {
	if err := checkReduce("all_reduce", op, t, len(data)); err != nil {
		return over(err)
	}
	if g.size == 1 {
		return over(nil)
	}
	c := reduction("all_reduce", op, t, len(data))
	if err := g.usable(); err != nil {
		return over(within(c, err))
	}
	return g.background.join(func(before *Pending) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(g.life, func() { cancel(ErrClosed) })()
		if before != nil {
			select {
			case <-before.done:
			case <-ctx.Done():
			}
		}
		err := g.runNow(ctx, c, func(ctx context.Context) error { return g.comm.AllReduce(ctx, op, t, data) })
		if before != nil {
			<-before.done // it sees the same end; whoever waits for this one waits for all before it
		}
		if err == nil {
			done()
		}
		return err
	})
}

// AllReduceAsync is AllReduce in the background: xs must not be touched until the
// result is there, and is as before when that is an error. See the method for the
// order.
func AllReduceAsync[T dtype.Element](ctx context.Context, g *Group, op Op, xs []T) *Pending {
	work := slices.Clone(xs)
	return orDefault(g).reduceAsync(ctx, op, dtype.Of[T](), buffer.Bytes(work), func() { copy(xs, work) })
}
