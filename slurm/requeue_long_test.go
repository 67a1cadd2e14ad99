//go:build linux && !race && long

package slurm_test

import (
	"math"
	"strings"
	"testing"
)

// TestTrainRequeue interrupts a training before it has ended, as Slurm does before the time limit, and holds its outcome
// against that of one that nobody interrupts.
func TestTrainRequeue(t *testing.T) {
	c := needCluster(t)
	args := []string{"-steps", "300", "-seed", "3"}
	j := c.submit(t, c.workplace(t), "train-requeue.sbatch", nil, args...)
	j.await(t, `"step":20,`)
	c.run(t, "scancel", "--batch", "--signal=USR1", j.id)
	j.await(t, "once more")
	for j.property(t, "Restarts") != "1" || j.property(t, "JobState") != "PENDING" {
		if strings.Contains(j.output(t), `"done"`) {
			t.Fatal("the training ended before it was interrupted")
		}
		pause()
	}
	// Slurm lets a job that is put in the queue again wait for two minutes.
	c.run(t, "scontrol", "update", "JobId="+j.id, "StartTime=now")
	j.completed(t)
	if n := strings.Count(j.output(t), `"step":1,`); n != 1 {
		t.Errorf("the first step was made %d times", n)
	}
	if n := strings.Count(j.output(t), `"step":300,`); n != 1 {
		t.Errorf("the last step was made %d times", n)
	}
	here, got := c.here(t, 4, args...), outcomeOf(t, j.output(t))
	if got.Backend != "ring" || got.Size != 4 || !got.Equal || math.Abs(got.Loss-here.Loss) > 1e-3*here.Loss {
		t.Errorf("interrupted %+v, without a break %+v", got, here)
	}
}
