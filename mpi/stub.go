//go:build !cgo || !mpi

package mpi

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

func init() { group.Register("mpi", backend{}) }

// backend stands where Open MPI was not compiled in.
type backend struct{}

const absent = "built without Open MPI (build tag mpi)"

// Detect reports a launcher all the same, so that Init can say what is missing.
func (backend) Detect() group.Detection {
	_, started := env.MPILauncher()
	return group.Detection{Available: false, Started: started, Prefer: prefer, Found: absent}
}

func (backend) Init(context.Context, group.Config) (group.Communicator, error) {
	return nil, fmt.Errorf("mpi: %w: %s; install Open MPI and build with cgo and -tags mpi", group.ErrNotConfigured, absent)
}
