//go:build world

package all

import (
	"os"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
)

// world is the communicator of this rank among the processes that were started together.
var world group.Communicator

// The binary is started as many processes, by launch or mpirun, and each is one rank. The build tag keeps
// it out of other test runs, where there is no world to judge.
func TestMain(m *testing.M) {
	os.Exit(grouptest.Main(m, 0, func(g *group.Group) { world = g.Communicator() }))
}

func TestWorldOfProcesses(t *testing.T) {
	run := grouptest.Run
	if grouptest.PartialSums() {
		run = grouptest.RunPartialSums
	}
	run(t, func(t *testing.T, n int) []group.Communicator {
		if n > world.Size() {
			return nil
		}
		color := 0
		if world.Rank() >= n {
			color = group.NoColor
		}
		c, err := world.(group.Splitter).Split(t.Context(), color, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return []group.Communicator{}
		}
		return []group.Communicator{c}
	})
}

func TestASlowReceiver(t *testing.T) {
	if world.Size() < 2 {
		t.Skip("needs two ranks")
	}
	conform.Row(t, "B19")
	if err := grouptest.SlowReceiver(t.Context(), world); err != nil {
		t.Error(err)
	}
}

func TestNothingGrows(t *testing.T) {
	if err := grouptest.Soak(t.Context(), world, grouptest.SoakLength); err != nil {
		t.Error(err)
	}
}
