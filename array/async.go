package array

import (
	"context"
	"sync"
)

// AsyncEval begins to compute the given arrays and everything that they need, as Eval
// does, and returns at once. The work goes on until it is done, has failed, or ctx ends;
// it belongs to ctx's stream, whose Synchronize waits for it.
//
//	array.AsyncEval(ctx, loss)  // step n runs …
//	next := step(params, batch) // … while step n+1 is recorded
//	v, err := array.Item[float32](ctx, loss)
//
// An error surfaces wherever one of the arrays is read or evaluated afterwards, and at
// Synchronize. Lanes whose nodes can now not run are abandoned at once, so that peers
// learn the reason though nobody reads here.
//
// An evaluation that begins later, asynchronous or not, may use the same arrays. Of each
// lane it runs its nodes after those of the evaluations that began before, whatever is
// ready first: collectives of a group run in the order of the program on every rank.
// Lanes wait for each other nowhere: of two groups, either may be first.
//
// All that has been begun holds its memory until it is done; a loop that never reads
// should Synchronize now and then. Closing a group ends what still runs on it.
func AsyncEval(ctx context.Context, xs ...*Array) {
	s := streamOf(ctx)
	run, err := begin(ctx, xs)
	if err != nil {
		s.fail(err)
		return
	}
	done := s.add()
	go func() {
		defer s.remove(done)
		if err := run(); err != nil {
			s.fail(err)
		}
	}()
}

// Synchronize waits until what AsyncEval has begun before this call, on ctx's stream, has
// ended, and returns the first error since the last call. When ctx ends first, the error
// is its cause; the work goes on. No goroutine of AsyncEval is left afterwards.
func Synchronize(ctx context.Context) error {
	s := streamOf(ctx)
	for _, done := range s.begun() {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return s.takeError()
}

// WithStream returns a context with a stream of its own: Synchronize with it, or with a
// context made from it, waits for the evaluations that were begun with such a context
// alone, and returns their errors alone. A process that is one rank needs one stream, the
// one of every other context; ranks that live in one process need one each.
func WithStream(ctx context.Context) context.Context {
	return context.WithValue(ctx, streamKey{}, new(stream))
}

type streamKey struct{}

var process stream

func streamOf(ctx context.Context) *stream {
	if s, ok := ctx.Value(streamKey{}).(*stream); ok {
		return s
	}
	return &process
}

// stream is what AsyncEval has begun and Synchronize has not yet seen the end of.
type stream struct {
	mu      sync.Mutex
	running map[chan struct{}]bool // closed at the end
	err     error                  // the first since the last Synchronize
}

func (s *stream) add() (done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[chan struct{}]bool{}
	}
	done = make(chan struct{})
	s.running[done] = true
	return done
}

func (s *stream) remove(done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, done)
	close(done)
}

func (s *stream) begun() []chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []chan struct{}
	for done := range s.running {
		all = append(all, done)
	}
	return all
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *stream) takeError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	s.err = nil
	return err
}
