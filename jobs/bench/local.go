package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/ring"
)

// local measures with all ranks in this process.
func local(ctx context.Context, o options) error {
	cfg, err := localConfig()
	if err != nil {
		return program.WrongUse(err)
	}
	comms, err := ring.Local(ctx, o.local, cfg)
	if err != nil {
		return err
	}
	groups := make([]*group.Group, len(comms))
	for rank, comm := range comms {
		groups[rank] = group.NewWith(comm, group.Config{Backend: "ring", Timeout: cfg.Timeout})
	}
	return inStep(groups, func(g *group.Group) error { return measureAll(ctx, o, g, os.Stdout) })
}

// localConfig is what the environment says of the ring.
func localConfig() (cfg ring.Config, err error) {
	share := false
	for _, look := range []func() error{
		func() (err error) { cfg.Timeout, err = env.LookupTimeout(); return err },
		func() (err error) { cfg.StallWarning, err = env.LookupStall(); return err },
		func() (err error) { share, err = env.LookupSharedMemory(); return err },
		func() (err error) { cfg.Topology, err = env.LookupTopology(); return err },
		func() (err error) { cfg.Reduce, err = env.LookupReduce(); return err },
		func() (err error) { cfg.Schedule, err = env.LookupSchedule(); return err },
	} {
		if err = look(); err != nil {
			return cfg, err
		}
	}
	cfg.NoSharedMemory = !share
	return cfg, nil
}

// inStep runs all ranks as goroutines, closes their groups and returns the first error:
// a rank that failed is gone, and what the others then say comes from that.
func inStep(groups []*group.Group, rank func(g *group.Group) error) error {
	var first firstError
	var all sync.WaitGroup
	for _, g := range groups {
		all.Go(func() {
			err := rank(g)
			first.keep(err)
			if closed := g.Close(); err == nil && closed != nil {
				first.keep(fmt.Errorf("rank %d: close: %w", g.Rank(), closed))
			}
		})
	}
	all.Wait()
	return first.err
}

// firstError keeps the first error, and rather a rank's own than what another says
// that it is.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) keep(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var said *program.SaidError
	if f.err == nil || err != nil && errors.As(f.err, &said) && !errors.As(err, &said) {
		f.err = err
	}
}
