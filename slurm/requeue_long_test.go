//go:build linux && !race && long

package slurm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTrainRequeueAtTheLimit has Slurm itself interrupt a training without end, some time before a limit of two minutes.
// The job saves, queues itself again and goes on behind the step that it saved.
func TestTrainRequeueAtTheLimit(t *testing.T) {
	c := needCluster(t)
	options := []string{"--time=00:02:00", "--signal=B:USR1@60"}
	j := c.submit(t, c.workplace(t), "train-requeue.sbatch", options, "-steps", "100000000", "-model", "mlp")
	j.await(t, "train-requeue: once more")
	saved := lastStep(t, j)
	j.restart(t)
	j.await(t, fmt.Sprintf(`"step":%d,`, saved+1))
	text := j.output(t)
	if saved < 2 || strings.Count(text, `"step":1,`) != 1 || strings.Contains(text, `"done"`) || strings.Contains(text, "DUE TO TIME LIMIT") {
		t.Errorf("saved after step %d; %d first steps", saved, strings.Count(text, `"step":1,`))
	}
	steps := regexp.MustCompile(`"step":(\d+),`)
	for i, match := range steps.FindAllStringSubmatch(text, -1) {
		if match[1] != strconv.Itoa(i+1) {
			t.Fatalf("line %d is of step %s", i, match[1])
		}
	}
}

// restart starts a job that has put itself in the queue again, which Slurm lets wait for two minutes. Whatever is left of
// the first start must be over: Slurm would take its end for that of the second.
func (j *job) restart(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(patience); ; pause() {
		nodes := strings.Fields(j.c.run(t, "sinfo", "--noheader", "--format=%T"))
		busy := slices.ContainsFunc(nodes, func(state string) bool { return state != "idle" })
		if !busy && j.property(t, "Restarts") == "1" && j.property(t, "JobState") == "PENDING" {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("job %s is %s, nodes are %v:\n%s", j.id, j.property(t, "JobState"), nodes, j.output(t))
		}
	}
	// A node refuses a start whose credential is of the second in which it ended the one before.
	j.c.run(t, "scontrol", "update", "JobId="+j.id, "StartTime=now+5")
}

// lastStep is the last step that a job has told of.
func lastStep(t *testing.T, j *job) (step int) {
	t.Helper()
	for line := range strings.Lines(j.output(t)) {
		var p struct{ Step int }
		if json.Unmarshal([]byte(line), &p) == nil && p.Step > 0 {
			step = p.Step
		}
	}
	return step
}

// TestTrainRequeue interrupts a training before it has ended, as Slurm does before the time limit, and holds its outcome
// against that of one that nobody interrupts.
func TestTrainRequeue(t *testing.T) {
	c := needCluster(t)
	args := []string{"-steps", "300", "-seed", "3"}
	j := c.submit(t, c.workplace(t), "train-requeue.sbatch", nil, args...)
	j.await(t, `"step":20,`)
	j.keepsASecret(t)
	c.run(t, "scancel", "--batch", "--signal=USR1", j.id)
	j.await(t, "once more")
	j.restart(t)
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
