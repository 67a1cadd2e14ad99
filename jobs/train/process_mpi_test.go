//go:build !race && mpi

package main

import (
	"fmt"
	"os"
	"testing"
)

// buildTags are those of the programs under test.
const buildTags = "mpi"

// mpirun is the command line of a program as n ranks of Open MPI.
func mpirun(n int, command ...string) []string {
	args := []string{"mpirun", "--oversubscribe", "-np", fmt.Sprint(n)}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	return append(args, command...)
}

func TestMPIRanksLearnAsOneProcess(t *testing.T) {
	one := learn(t, program(t, "train"))
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			mpi := learn(t, mpirun(n, program(t, "train"))...)
			mpi.check(t, one, "mpi", n, 1)
			ring := learn(t, launched(t, n, program(t, "train"))...)
			if mpi.SHA256 != ring.SHA256 {
				t.Errorf("parameters by mpi %s, by the ring %s", mpi.SHA256, ring.SHA256)
			}
		})
	}
}

func TestMPIRanksThatShareModelsLearnAsOneProcess(t *testing.T) {
	one := learn(t, program(t, "train"))
	for _, c := range []struct{ ranks, tensor int }{{2, 2}, {4, 2}} {
		t.Run(fmt.Sprintf("%d ranks, %d for each model", c.ranks, c.tensor), func(t *testing.T) {
			divided := []string{program(t, "train"), "-tp", fmt.Sprint(c.tensor)}
			mpi := learn(t, mpirun(c.ranks, divided...)...)
			mpi.check(t, one, "mpi", c.ranks, c.tensor)
			ring := learn(t, launched(t, c.ranks, divided...)...)
			if mpi.SHA256 != ring.SHA256 || mpi.Collectives != ring.Collectives || mpi.BytesReduced != ring.BytesReduced {
				t.Errorf("by mpi %+v, by the ring %+v", mpi, ring)
			}
		})
	}
}

func TestMPIJobEndsWithADeadRank(t *testing.T) {
	r := start(t, nil, mpirun(3, watched(t)...))
	ends, pids := killRank(t, r, 1)
	if ends.code == 0 {
		t.Errorf("mpirun exits with 0; standard error:\n%s", ends.stderr)
	}
	gone(t, pids)
}

func TestMPICodeOfOneRankIsTheJobs(t *testing.T) {
	if ends := finished(t, nil, mpirun(3, exitingRank(t)...)...); ends.code != 3 {
		t.Errorf("mpirun exits with %d, want 3; standard error:\n%s", ends.code, ends.stderr)
	}
}
