package ring

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/slurm"
)

// inStep forms the world of a Slurm step, which needs no coordinator to be set. Ranks of one
// node meet on loopback. Those of several listen at every address of their node and are
// known by its name, which may mean loopback there and nowhere else.
func inStep(ctx context.Context, cfg Config) (group.Communicator, error) {
	s, err := slurm.LookupStep()
	if err != nil {
		return nil, fmt.Errorf("ring: %w; or set %s to host:port", err, env.Coordinator)
	}
	name := ""
	if len(s.Nodes) > 1 {
		name = s.Host()
		if len(cfg.Token) == 0 && !cfg.Insecure {
			return nil, fmt.Errorf("ring: %v has %d nodes, and the job has no token: name a file of mode 0600 that holds one and that all nodes see in %s, or set %s=1", s, len(s.Nodes), env.TokenFile, env.Insecure)
		}
	}
	comm, err := coordinate(ctx, s.Rank, s.Size, s.MeetingPlace(), name, cfg)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("ring: %v meets at %s, which is in use; set %s to a free host:port for all ranks: %w", s, s.MeetingPlace(), env.Coordinator, err)
	case err != nil:
		return nil, fmt.Errorf("ring: %v: %w", s, err)
	}
	return comm, nil
}
