//go:build linux && !race && cgo && mpi

package slurm_test

import (
	"os"
	"strings"
	"testing"
)

// buildTags are those of the programs under test.
const buildTags = "mpi"

// withoutPMIx is what they say where srun has not been told to start MPI.
const withoutPMIx = "srun --mpi=pmix"

func TestTrainMPI(t *testing.T) {
	c := needCluster(t)
	j := c.submit(t, c.workplace(t), "train-mpi.sbatch", nil, short...)
	j.completed(t)
	outcomeOf(t, j.output(t)).check(t, expected(t, c), "mpi")
}

// The script's other way to start is the line that is commented out.
func TestTrainMPIByMpirun(t *testing.T) {
	c := needCluster(t)
	text, err := os.ReadFile("train-mpi.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "\n# start=(mpirun)", "\nstart=(mpirun)", 1)
	if changed == string(text) {
		t.Fatal("the line is not there")
	}
	dir := c.workplace(t)
	if err := os.WriteFile(dir+"/changed.sbatch", []byte(changed), 0o700); err != nil {
		t.Fatal(err)
	}
	j := c.submit(t, dir, dir+"/changed.sbatch", nil, short...)
	j.completed(t)
	outcomeOf(t, j.output(t)).check(t, expected(t, c), "mpi")
}

// Under PMIx a program that is asked for nothing chooses MPI.
func TestPMIxMeansMPI(t *testing.T) {
	c := needCluster(t)
	out := c.run(t, "srun", append([]string{"--mpi=pmix", "-N2", "-n4", c.bin + "/train", "-json"}, short...)...)
	outcomeOf(t, out).check(t, expected(t, c), "mpi")
}
