package grouptest

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

// round is one collective while its ranks arrive.
type round struct {
	calls  []call // by rank
	came   int
	done   chan struct{} // closed once result or err is set
	result any
	err    error
}

// call is what one rank brings.
type call struct {
	came        bool
	what        string // what the rank does; has to agree
	fingerprint string // what its user says that it does; has to agree
	text        string // for people
	part        any
}

// meet brings part to the collective named what, waits for the other ranks and
// returns what finish, run by one of them, makes of all parts in rank order. part
// belongs to the world from now on.
func (m *member) meet(ctx context.Context, what string, part any, finish func(parts []any) any) (any, error) {
	w := m.world
	r, last, err := m.arrive(what, part)
	if err != nil {
		return nil, err
	}
	if last {
		r.finish(w, finish)
	}
	select {
	case <-r.done:
		return r.result, r.err
	case <-w.broken:
		return r.outcome(w.failure)
	case <-w.left[m.rank]:
		return r.outcome(fmt.Errorf("memory: %s: %w", what, group.ErrClosed))
	case <-ctx.Done():
		return r.outcome(m.giveUp(r, context.Cause(ctx)))
	}
}

// outcome is that of the round if it has one, which it keeps even when something
// else happened at the same time; else instead.
func (r *round) outcome(instead error) (any, error) {
	select {
	case <-r.done:
		return r.result, r.err
	default:
		return nil, instead
	}
}

// arrive joins the open round, or opens one.
func (m *member) arrive(what string, part any) (r *round, last bool, err error) {
	fp, text := m.takeFingerprint()
	if text == "" {
		text = what
	}
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := m.ended(); err != nil {
		return nil, false, err
	}
	for rank := range w.size {
		if w.hasLeft(rank) {
			return nil, false, &group.PeerError{Op: text, Rank: rank, Err: errLeft}
		}
	}
	if w.open == nil {
		w.open = &round{calls: make([]call, w.size), done: make(chan struct{})}
	}
	r = w.open
	if r.calls[m.rank].came {
		return nil, false, fmt.Errorf("memory: %s: rank %d is still in %s", text, m.rank, r.calls[m.rank].text)
	}
	r.calls[m.rank] = call{true, what, fp, text, part}
	r.came++
	if r.came < w.size {
		return r, false, nil
	}
	w.open = nil
	return r, true, nil
}

// finish completes a round that all have joined. A mismatch reaches those in the
// round as such before it breaks the world.
func (r *round) finish(w *world, finish func(parts []any) any) {
	if r.err = r.mismatch(); r.err != nil {
		close(r.done)
		w.fail(-1, r.err)
		return
	}
	parts := make([]any, len(r.calls))
	for rank, c := range r.calls {
		parts[rank] = c.part
	}
	r.result = finish(parts)
	close(r.done)
}

func (r *round) mismatch() error {
	agree := true
	texts := make([]string, len(r.calls))
	for rank, c := range r.calls {
		texts[rank] = c.text
		agree = agree && c.what == r.calls[0].what && c.fingerprint == r.calls[0].fingerprint
	}
	if agree {
		return nil
	}
	return &group.MismatchError{Calls: texts}
}

// giveUp breaks the world because the caller's context ended before all ranks
// had come. A round that all have joined only needs its result, and gets it.
func (m *member) giveUp(r *round, cause error) error {
	w := m.world
	w.mu.Lock()
	if r.came == w.size {
		w.mu.Unlock()
		<-r.done
		return nil
	}
	defer w.mu.Unlock()
	var absent []int
	for rank, c := range r.calls {
		if !c.came {
			absent = append(absent, rank)
		}
	}
	err := fmt.Errorf("memory: %s: gave up waiting for %s: %w", r.calls[m.rank].text, listRanks(absent), cause)
	w.failLocked(m.rank, err)
	return err
}

// abandon fails the open round if rank had not joined it. A break that came
// before tells more, and stays the reason. The caller holds mu.
func (w *world) abandon(rank int) {
	r := w.open
	if r == nil || r.calls[rank].came || w.failure != nil {
		return
	}
	w.open = nil
	r.err = &group.PeerError{Op: r.name(), Rank: rank, Err: errLeft}
	close(r.done)
}

// name describes a round by the first rank that came.
func (r *round) name() string {
	for _, c := range r.calls {
		if c.came {
			return c.text
		}
	}
	return ""
}
