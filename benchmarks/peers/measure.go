package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// measureAll launches everything by turns and gathers the figures.
func measureAll(ctx context.Context, o *options) (*results, error) {
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := newResults(o, field(o.launch, self, folder(dir)))
	missing, err := folder(dir).compile(ctx, r.needed())
	if err != nil {
		return nil, err
	}
	r.note(missing)
	r.distance = o.distance(folder(dir))
	r.distance.learn(ctx)
	before := readBusy()
	for round := range o.rounds {
		if err := r.round(ctx, round); err != nil {
			return nil, err
		}
	}
	r.foreign = before.foreignShare()
	return r, nil
}

// sample is how long the machine is watched to find it quiet.
const sample = 200 * time.Millisecond

// awaitQuiet returns once other processes leave the cores alone, at the latest
// when the time for that has passed.
func (r *results) awaitQuiet(ctx context.Context) {
	for until := time.Now().Add(r.options.wait); time.Now().Before(until) && ctx.Err() == nil; {
		before := readBusy()
		time.Sleep(sample)
		if before.foreignShare() <= quiet {
			return
		}
	}
}

// wanted lists the sizes of a scenario that a contender carries out in this run.
func (r *results) wanted(s scenario, c contender) []int {
	if !c.takes(s) || c.missing != "" {
		return nil
	}
	only := r.options.only
	return slices.DeleteFunc(slices.Clone(s.bytes), func(n int) bool {
		return only != nil && !only.MatchString(s.name()+"/"+c.name()+"/"+sizeName(n))
	})
}

// needed lists the programs of everything that is wanted.
func (r *results) needed() map[string]bool {
	all := map[string]bool{limitsProgram: true}
	for _, s := range r.scenarios {
		for _, c := range r.field {
			for _, source := range c.needs {
				all[source] = all[source] || len(r.wanted(s, c)) > 0
			}
		}
	}
	return all
}

// note takes the contenders out whose programs could not be built.
func (r *results) note(missing map[string]string) {
	for i := range r.field {
		for _, source := range r.field[i].needs {
			if r.field[i].missing == "" {
				r.field[i].missing = missing[source]
			}
		}
	}
}

// round launches each contender once for each size of each scenario.
func (r *results) round(ctx context.Context, number int) error {
	for _, s := range r.scenarios {
		for _, c := range r.field {
			for _, n := range r.wanted(s, c) {
				fmt.Fprintf(r.options.progress, "round %d of %d: %s: %s: %s\n", number+1, r.options.rounds, s.name(), c.name(), sizeName(n))
				if err := r.launch(ctx, s.of(n), c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// launch launches a contender, and again when the cores went apart meanwhile. It notes
// a failure and goes on; an error is the end of ctx.
func (r *results) launch(ctx context.Context, s scenario, c contender) error {
	for range tries {
		near, err := r.launchOnce(ctx, s, c)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(r.options.progress, "  failed: %v\n", err)
			r.fail(s, c, err)
			return nil
		}
		if near {
			return nil
		}
	}
	return nil
}

func (r *results) launchOnce(ctx context.Context, s scenario, c contender) (near bool, err error) {
	command, err := c.command(s, r.options.effort())
	if err != nil {
		return false, err
	}
	if r.options.work {
		fmt.Fprintln(r.options.progress, strings.Join(command, " "))
	}
	r.awaitQuiet(ctx)
	near = r.distance.await(ctx)
	before := readBusy()
	figures, err := carryOut(ctx, command)
	if err != nil {
		return false, err
	}
	foreign := before.foreignShare()
	near = r.distance.near(ctx) && near
	r.add(s, c, figures, foreign, near)
	return near, nil
}
