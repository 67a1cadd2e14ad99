package ring

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

func init() { group.Register("ring", backend{}) }

// backend is the ring as group.Init knows it.
type backend struct{}

// Detect reports whether the environment names a rank. A wrong environment counts:
// Init says what is wrong with it.
func (backend) Detect() group.Detection {
	d := group.Detection{Available: true, Prefer: 1}
	w, found, err := env.LookupWorld()
	switch {
	case err != nil:
		d.Started, d.Found = true, err.Error()
	case found:
		d.Started, d.Found = true, w.Source
	default:
		d.Found = env.Looked
	}
	return d
}

// Init forms the world that the environment describes.
func (backend) Init(ctx context.Context, cfg group.Config) (group.Communicator, error) {
	w, found, err := env.LookupWorld()
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	if !found {
		return nil, fmt.Errorf("ring: %s: %w", env.Looked, group.ErrNotConfigured)
	}
	own, err := configOf(cfg)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	if w.HostFile != "" {
		comm, err := HostFile(ctx, w.Rank, w.HostFile, own)
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, w.Source)
		}
		return comm, nil
	}
	if w.Step && w.Size > 1 {
		return inStep(ctx, own)
	}
	return Coordinate(ctx, w.Rank, w.Size, w.Coordinator, own)
}

// configOf adds what the environment says.
func configOf(cfg group.Config) (own Config, err error) {
	own = Config{Timeout: cfg.Timeout, ConnectTimeout: cfg.ConnectTimeout, Logger: cfg.Logger}
	if own.Timeout == 0 {
		if own.Timeout, err = env.LookupTimeout(); err != nil {
			return own, err
		}
	}
	if own.StallWarning, err = env.LookupStall(); err != nil {
		return own, err
	}
	if own.Token, err = env.LookupToken(); err != nil {
		return own, err
	}
	if own.Insecure, err = env.LookupInsecure(); err != nil {
		return own, err
	}
	share, err := env.LookupSharedMemory()
	if err != nil {
		return own, err
	}
	own.NoSharedMemory = !share
	if own.Topology, err = env.LookupTopology(); err != nil {
		return own, err
	}
	if own.Reduce, err = env.LookupReduce(); err != nil {
		return own, err
	}
	own.Schedule, err = env.LookupSchedule()
	return own, err
}
