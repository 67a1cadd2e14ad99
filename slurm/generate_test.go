//go:build linux && !race

package slurm_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerate trains by one job and writes text by another, which is to be the text that one process
// writes here.
func TestGenerate(t *testing.T) {
	c := needCluster(t)
	dir := c.workplace(t)
	c.submit(t, dir, "train-ring.sbatch", nil, append([]string{"-checkpoint", "checkpoint"}, short...)...).completed(t)
	args := []string{"-prompt", "The Rays", "-n", "40", "-seed", "7", "-quiet"}
	j := c.submit(t, dir, "generate.sbatch", []string{"--output=" + filepath.Join(dir, "text")}, args...)
	j.out = filepath.Join(dir, "text")
	j.completed(t)
	cmd := exec.Command(filepath.Join(c.bin, "generate"), append([]string{"-checkpoint", filepath.Join(dir, "checkpoint")}, args...)...)
	here, err := cmd.Output()
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	if got := j.output(t); got != string(here) || !strings.Contains(got, "The Rays") {
		t.Errorf("the job wrote %q, one process here %q", got, here)
	}
}
