//go:build linux && !race

package slurm_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// short is a training that ends within a second or two.
var short = []string{"-steps", "12", "-seed", "3"}

// shortHere is its outcome with four ranks on this machine, outside Slurm.
var shortHere = struct {
	sync.Once
	outcome
}{}

func expected(t *testing.T, c *cluster) outcome {
	t.Helper()
	shortHere.Do(func() { shortHere.outcome = c.here(t, 4, short...) })
	return shortHere.outcome
}

func TestTrainRing(t *testing.T) {
	c := needCluster(t)
	j := c.submit(t, c.workplace(t), "train-ring.sbatch", nil, short...)
	j.completed(t)
	if nodes := j.property(t, "NumNodes"); nodes != "2" {
		t.Errorf("the job ran on %s nodes", nodes)
	}
	outcomeOf(t, j.output(t)).check(t, expected(t, c), "ring")
}

// A killed task ends the job, and both Slurm and the other ranks say which one it was.
func TestKilledTaskEndsTheJob(t *testing.T) {
	c := needCluster(t)
	j := c.submit(t, c.workplace(t), "train-ring.sbatch", nil, "-steps", "1000000")
	j.await(t, `"step":2`)
	j.keepsASecret(t)
	if err := syscall.Kill(j.task(t, 3), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if state, code := j.wait(t), j.property(t, "ExitCode"); state != "FAILED" || !strings.HasPrefix(code, "137:") {
		t.Errorf("the job is %s with code %s", state, code)
	}
	for _, words := range []string{"task 3: Killed", "rank 3 (n2:"} {
		if !strings.Contains(j.output(t), words) {
			t.Errorf("the output does not say %q", words)
		}
	}
	j.leavesNoToken(t)
}

func TestCancelledJobLeavesNoToken(t *testing.T) {
	c := needCluster(t)
	j := c.submit(t, c.workplace(t), "train-ring.sbatch", nil, "-steps", "1000000")
	j.await(t, `"step":1`)
	c.run(t, "scancel", j.id)
	if state := j.wait(t); state != "CANCELLED" {
		t.Errorf("the job is %s", state)
	}
	j.leavesNoToken(t)
}

// The ranks of a step without MPI never run as so many programs of one.
func TestStepsWithoutScript(t *testing.T) {
	c := needCluster(t)
	for _, s := range []struct {
		name  string
		args  []string // of srun
		flags []string // of train
		words []string // on standard error
	}{
		{"ring on several nodes without a token", []string{"-N2", "-n2"}, nil, []string{"has 2 nodes", env.TokenFile, "0600"}},
		{"mpi without PMIx", []string{"-N2", "-n2"}, []string{"-backend", "mpi"}, []string{withoutPMIx, "one of several"}},
		{"mpi without PMIx on one node", []string{"-N1", "-n2"}, []string{"-backend", "mpi"}, []string{withoutPMIx, "one of several"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			args := append(append(s.args, c.bin+"/train", "-steps", "1", "-json"), s.flags...)
			out, err := c.command(t.TempDir(), "srun", args...).CombinedOutput()
			if err == nil || strings.Contains(string(out), `"done"`) {
				t.Fatalf("it has run: %v\n%s", err, out)
			}
			for _, word := range s.words {
				if !strings.Contains(string(out), word) {
					t.Errorf("no %q in\n%s", word, out)
				}
			}
		})
	}
}

// Two steps at the same time on one node form a world each, without any setting.
func TestTwoStepsOnOneNode(t *testing.T) {
	c := needCluster(t)
	dir := c.workplace(t)
	script := dir + "/two.sbatch"
	text := `#!/bin/sh
srun --overlap -n2 -o one ./train -json ` + strings.Join(short, " ") + ` &
srun --overlap -n2 -o two ./train -json ` + strings.Join(short, " ") + `
wait
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	c.submit(t, dir, script, []string{"-N1", "-n2"}).completed(t)
	here := c.here(t, 2, short...)
	for _, name := range []string{"one", "two"} {
		text, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		outcomeOf(t, string(text)).check(t, here, "ring")
	}
}

// Every script says that its settings stand in one block, above everything else that it does.
func TestScriptsHaveOnePlaceToEdit(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sbatch") {
			continue
		}
		found++
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, block, begins := strings.Cut(string(text), "# ---- edit here ----")
		block, rest, ends := strings.Cut(block, "\n# -----")
		if !begins || !ends || !strings.Contains(block, "#SBATCH --time") || !strings.Contains(block, "program=./") {
			t.Errorf("%s has no block to edit with its options and variables", e.Name())
		}
		if strings.Contains(rest, "#SBATCH") || strings.Contains(rest, "./") {
			t.Errorf("%s has settings outside of the block", e.Name())
		}
	}
	if found == 0 {
		t.Error(fmt.Sprint("found no scripts among ", len(entries), " files"))
	}
}
