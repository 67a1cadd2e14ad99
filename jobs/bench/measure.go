package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

// measureAll measures as one rank of a world; rank 0 writes the tables to out and the
// files.
func measureAll(ctx context.Context, o options, g *group.Group, out io.Writer) error {
	if err := agree(ctx, &o, g); err != nil {
		return err
	}
	r := newReport(&o, g, out)
	if err := program.Together(ctx, g, r.open()); err != nil {
		return err
	}
	defer r.abandon()
	if err := settle(ctx, &o, g); err != nil {
		return fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	for _, n := range o.rounds(g) {
		if err := round(ctx, &o, g, n, r); err != nil {
			return fmt.Errorf("rank %d: %w", g.Rank(), err)
		}
	}
	return program.Together(ctx, g, r.finish())
}

// settling is how long ranks meet before anything is timed, at most. Processes that
// begin on one core go at a tenth of the pace until the system has spread them, which
// takes some tenths of a second.
const settling = time.Second

// settle lets the ranks meet for a while, until rank 0 says that it is over.
func settle(ctx context.Context, o *options, g *group.Group) error {
	if o.iterations > 0 || g.Size() == 1 {
		return nil
	}
	start, over := time.Now(), []bool{false}
	for !over[0] {
		for range 100 {
			if err := g.Barrier(ctx); err != nil {
				return err
			}
		}
		over[0] = time.Since(start) > min(settling, 2*o.time)
		if err := group.Broadcast(ctx, g, 0, over); err != nil {
			return err
		}
	}
	return nil
}

// rounds are how many ranks take part, time after time.
func (o *options) rounds(g *group.Group) []int {
	if len(o.ranks) == 0 {
		return []int{g.Size()}
	}
	return o.ranks
}

// round measures on the first n ranks, while the others wait.
func round(ctx context.Context, o *options, world *group.Group, n int, r *report) error {
	g := world
	if n < world.Size() {
		color := group.NoColor
		if world.Rank() < n {
			color = 0
		}
		part, err := world.Split(ctx, color, group.KeepRank)
		if err != nil {
			return err
		}
		g = part
	}
	if world.Rank() < n {
		if err := tables(ctx, o, g, r); err != nil {
			return err
		}
	}
	if g != world {
		if err := g.Close(); err != nil {
			return err
		}
	}
	return world.Barrier(ctx)
}

// tables measures every operation with every type and size.
func tables(ctx context.Context, o *options, g *group.Group, r *report) error {
	for _, op := range o.only {
		if op.pair() && g.Size() < 2 {
			if err := r.note("%s is between two ranks, and there is one", op.name); err != nil {
				return err
			}
			continue
		}
		for _, t := range o.dtypesOf(op) {
			if err := r.title(op, t, g); err != nil {
				return err
			}
			for _, n := range o.sizesOf(op, t) {
				times, err := measure(ctx, o, op, call{g, t, n})
				if err == nil {
					err = r.row(newResult(op, call{g, t, n}, times))
				}
				if err != nil {
					return fmt.Errorf("%s of %d bytes of %v: %w", op.name, n, t, err)
				}
			}
		}
	}
	return nil
}

// meter times the calls of one row.
type meter struct {
	op    operation
	g     *group.Group
	trial trial
}

// measure checks one result of an operation, then returns the seconds of each timed
// call, those of the slowest rank.
func measure(ctx context.Context, o *options, op operation, c call) ([]float64, error) {
	m := meter{op, c.g, op.prepare(c)}
	if _, err := m.once(ctx); err != nil {
		return nil, err
	}
	if err := program.Together(ctx, c.g, m.trial.verify()); err != nil {
		return nil, err
	}
	n, err := m.warm(ctx, o)
	if err != nil {
		return nil, err
	}
	times, err := m.repeat(ctx, n)
	if err != nil || c.g.Size() == 1 {
		return times, err
	}
	if op.pair() && !c.g.IsLeader() {
		clear(times)
	}
	err = group.AllReduce(ctx, c.g, group.Max, times)
	return times, err
}

// once runs the operation and returns its seconds.
func (m *meter) once(ctx context.Context) (float64, error) {
	if m.op.kind == collective {
		if err := m.g.Barrier(ctx); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err := m.trial.run(ctx)
	return time.Since(start).Seconds(), err
}

func (m *meter) repeat(ctx context.Context, n int) ([]float64, error) {
	times := make([]float64, n)
	for i := range times {
		// A group of one waits for nobody and would not notice.
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		var err error
		if times[i], err = m.once(ctx); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// The bounds of how many calls are timed when the time decides, and of those before
// them that are not.
const (
	fewest     = 5
	most       = 100_000
	maxWarming = 200
)

// warm calls the operation until it goes at its pace, and returns how many calls
// are to be timed: as many as rank 0 finds to fill the time.
func (m *meter) warm(ctx context.Context, o *options) (int, error) {
	if o.iterations > 0 {
		_, err := m.repeat(ctx, max(1, min(maxWarming, o.iterations/10)))
		return o.iterations, err
	}
	n := fewest
	// The first few calls may be far slower than all others; those of a tenth of the
	// time tell.
	for _, whole := range []time.Duration{o.time / 10, o.time} {
		start := time.Now()
		if _, err := m.repeat(ctx, n); err != nil {
			return 0, err
		}
		word := []int64{int64(count(whole, time.Since(start)/time.Duration(n)))}
		if err := group.Broadcast(ctx, m.g, 0, word); err != nil {
			return 0, err
		}
		n = int(word[0])
	}
	return n, nil
}

// count is how many calls of that length fill the time, within bounds.
func count(whole, each time.Duration) int {
	return int(max(fewest, min(most, whole/max(1, each))))
}
