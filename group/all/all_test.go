package all

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/group"
)

func TestEveryBackendIsLinkedIn(t *testing.T) {
	if got := group.Backends(); !slices.Equal(got, []string{"mpi", "ring"}) {
		t.Errorf("backends %v", got)
	}
	if !group.IsAvailable("ring") {
		t.Error("the ring needs nothing and is not available")
	}
}
