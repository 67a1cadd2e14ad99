package ring

import (
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

func makeLocal(t *testing.T, n int) []group.Communicator {
	t.Helper()
	comms, err := Local(t.Context(), n, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return comms
}

func TestConformance(t *testing.T) { grouptest.Run(t, makeLocal) }
