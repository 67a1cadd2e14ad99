//go:build !race && mpi

package main

import (
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

func TestMPIRanksLearnAsOneProcess(t *testing.T) {
	one := learn(t, programtest.Path(t, "train"))
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			mpi := learn(t, programtest.MPIRun(n, programtest.Path(t, "train"))...)
			mpi.check(t, one, "mpi", n, 1)
			ring := learn(t, programtest.Launched(t, n, programtest.Path(t, "train"))...)
			if mpi.SHA256 != ring.SHA256 {
				t.Errorf("parameters by mpi %s, by the ring %s", mpi.SHA256, ring.SHA256)
			}
		})
	}
}

func TestMPIRanksThatShareModelsLearnAsOneProcess(t *testing.T) {
	one := learn(t, programtest.Path(t, "train"))
	for _, c := range []struct{ ranks, tensor int }{{2, 2}, {4, 2}} {
		t.Run(fmt.Sprintf("%d ranks, %d for each model", c.ranks, c.tensor), func(t *testing.T) {
			divided := []string{programtest.Path(t, "train"), "-tp", fmt.Sprint(c.tensor)}
			mpi := learn(t, programtest.MPIRun(c.ranks, divided...)...)
			mpi.check(t, one, "mpi", c.ranks, c.tensor)
			ring := learn(t, programtest.Launched(t, c.ranks, divided...)...)
			if mpi.SHA256 != ring.SHA256 || mpi.Collectives != ring.Collectives || mpi.BytesReduced != ring.BytesReduced {
				t.Errorf("by mpi %+v, by the ring %+v", mpi, ring)
			}
		})
	}
}

func TestMPIJobEndsWithADeadRank(t *testing.T) {
	r := programtest.Start(t, nil, programtest.MPIRun(3, watched(t)...)...)
	ends, pids := killRank(t, r, 1)
	if ends.Code == 0 {
		t.Errorf("mpirun exits with 0; standard error:\n%s", ends.Stderr)
	}
	gone(t, pids)
}

func TestMPICodeOfOneRankIsTheJobs(t *testing.T) {
	if ends := programtest.Finished(t, nil, programtest.MPIRun(3, exitingRank(t)...)...); ends.Code != 3 {
		t.Errorf("mpirun exits with %d, want 3; standard error:\n%s", ends.Code, ends.Stderr)
	}
}
