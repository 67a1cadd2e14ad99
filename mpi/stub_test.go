//go:build !cgo || !mpi

package mpi

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/group"
)

func TestWithoutOpenMPI(t *testing.T) {
	if group.IsAvailable("mpi") {
		t.Error("a backend that was not compiled in is available")
	}
	comm, err := backend{}.Init(t.Context(), group.Config{})
	if comm != nil || !errors.Is(err, group.ErrNotConfigured) {
		t.Fatalf("Init gave %v, %v; want group.ErrNotConfigured", comm, err)
	}
	if !strings.Contains(err.Error(), "-tags mpi") {
		t.Errorf("the error does not say how to get it: %v", err)
	}
}
