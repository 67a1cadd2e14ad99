//go:build !cgo || !mpi

package mpi

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

func init() { group.Register("mpi", backend{}) }

// backend stands where Open MPI was not compiled in.
type backend struct{}

const absent = "built without Open MPI (build tag mpi)"

func (backend) Detect() group.Detection {
	return group.Detection{Available: false, Prefer: prefer, Found: absent}
}

func (backend) Init(context.Context, group.Config) (group.Communicator, error) {
	return nil, fmt.Errorf("mpi: %w: %s; install Open MPI and build with cgo and -tags mpi", group.ErrNotConfigured, absent)
}
