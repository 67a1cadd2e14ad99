//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

// learn runs a short training and returns its last JSON object.
func learn(t *testing.T, command ...string) outcome {
	t.Helper()
	return trainJSON(t, append(command, "-steps", fmt.Sprint(learnSteps), "-batch", fmt.Sprint(learnBatch))...)
}

// trainJSON runs a training to its good end and returns its last JSON object.
func trainJSON(t *testing.T, command ...string) (end outcome) {
	t.Helper()
	ends := programtest.Finished(t, nil, append(command, "-json")...)
	if ends.Code != 0 || ends.Stderr != "" {
		t.Fatalf("%v: exit code %d, standard error:\n%s", command, ends.Code, ends.Stderr)
	}
	lines := strings.Split(strings.TrimSpace(ends.Stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || !end.Done {
		t.Fatalf("%v: the last line is %q: %v", command, lines[len(lines)-1], err)
	}
	return end
}

// check compares the outcome of a short run on n ranks, of which tensor share a model,
// with that of one process.
func (o outcome) check(t *testing.T, one outcome, backend string, n, tensor int) {
	t.Helper()
	if o.Backend != backend || o.Size != n {
		t.Errorf("%d ranks by %s, want %d by %s", o.Size, o.Backend, n, backend)
	}
	if !near(float32(o.Loss), float32(one.Loss)) {
		t.Errorf("loss is %v, of one process %v", o.Loss, one.Loss)
	}
	if !o.RanksEqual {
		t.Error("parameters differ between ranks")
	}
	if want := slices.Repeat([]int64{int64(learnSteps * learnBatch * tensor / n)}, n); !slices.Equal(o.Rows, want) {
		t.Errorf("rows are %v, want %v", o.Rows, want)
	}
	if o.Sample == "" {
		t.Error("there is no sample")
	}
}

func TestRingRanksLearnAsOneProcess(t *testing.T) {
	one := learn(t, programtest.Path(t, "train"))
	one.check(t, one, "single", 1, 1)
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			learn(t, programtest.Launched(t, n, programtest.Path(t, "train"))...).check(t, one, "ring", n, 1)
		})
	}
}

func TestRingRanksThatShareModelsLearnAsOneProcess(t *testing.T) {
	one := learn(t, programtest.Path(t, "train"))
	for _, c := range []struct{ ranks, tensor int }{{2, 2}, {4, 2}, {4, 4}} {
		t.Run(fmt.Sprintf("%d ranks, %d for each model", c.ranks, c.tensor), func(t *testing.T) {
			end := learn(t, programtest.Launched(t, c.ranks, programtest.Path(t, "train"), "-tp", fmt.Sprint(c.tensor))...)
			end.check(t, one, "ring", c.ranks, c.tensor)
			if want := int64(learnSteps) * collectivesOf("gpt", c.ranks/c.tensor); end.Collectives != want || end.BytesReduced == 0 {
				t.Errorf("%d collectives of %d bytes, want %d", end.Collectives, end.BytesReduced, want)
			}
		})
	}
}

func TestRingRanksInOtherTypesAndInParts(t *testing.T) {
	one := learn(t, programtest.Path(t, "train"))
	for _, flags := range []string{"-dtype bf16", "-dtype f16", "-accumulate 2", "-dtype f16 -accumulate 2 -tp 2"} {
		t.Run(flags, func(t *testing.T) {
			end := learn(t, programtest.Launched(t, 2, append([]string{programtest.Path(t, "train")}, strings.Fields(flags)...)...)...)
			tensor := 1
			if strings.Contains(flags, "-tp") {
				tensor = 2
			}
			end.check(t, one, "ring", 2, tensor)
			if end.SHA256 == one.SHA256 {
				t.Error("the parameters are those of float32 at once")
			}
		})
	}
}

func TestRingRanksEvaluateAndDraw(t *testing.T) {
	dir := t.TempDir()
	flags := []string{programtest.Path(t, "train"), "-steps", "4", "-batch", "4", "-eval-every", "3", "-json"}
	picture := filepath.Join(dir, "a loss.png")
	want := evalLosses(t, flags...)
	got := evalLosses(t, programtest.Launched(t, 2, append(flags, "-plot", picture)...)...)
	if len(want) != 3 || len(got) != 3 { // after steps 3 and 4, and at the end
		t.Fatalf("evaluated %v, alone %v", got, want)
	}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Errorf("evaluated %v, alone %v", got, want)
		}
	}
	if data, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("the picture begins with %.8q: %v", data, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// evalLosses are those that a training tells of what is held back.
func evalLosses(t *testing.T, command ...string) (all []float32) {
	t.Helper()
	ends := programtest.Finished(t, nil, command...)
	if ends.Code != 0 || ends.Stderr != "" {
		t.Fatalf("%+v", ends)
	}
	for line := range strings.Lines(ends.Stdout) {
		var p progress
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if p.Eval != nil {
			all = append(all, float32(*p.Eval))
		}
	}
	return all
}

func TestQuietRanksTellTheOutcomeAlone(t *testing.T) {
	flags := []string{programtest.Path(t, "train"), "-model", "mlp", "-steps", "40", "-batch", "4", "-quiet"}
	if ends := programtest.Finished(t, nil, programtest.Launched(t, 2, flags...)...); ends.Code != 0 || ends.Stderr != "" || strings.Contains(ends.Stdout, "step") || !strings.Contains(ends.Stdout, "the same on all ranks") {
		t.Errorf("%+v", ends)
	}
	if ends := programtest.Finished(t, nil, programtest.Launched(t, 2, append(flags, "-json")...)...); ends.Code != 0 || strings.Count(ends.Stdout, "\n") != 1 || !strings.Contains(ends.Stdout, `"done":true`) {
		t.Errorf("%+v", ends)
	}
}

// Rank 0 alone writes the picture, and all ranks end if it cannot.
func TestAPictureThatCannotBeWrittenIsWrongUse(t *testing.T) {
	ends := programtest.Finished(t, nil, programtest.Launched(t, 2, programtest.Path(t, "train"), "-model", "mlp", "-plot", "/nowhere/loss.png", "-quiet")...)
	if ends.Code != program.CodeUsage || ends.Stdout != "" || !strings.Contains(ends.Stderr, "-plot /nowhere/loss.png: ") {
		t.Errorf("%+v", ends)
	}
}

// watched is a training without end whose ranks first tell their process ids.
func watched(t *testing.T) []string {
	const say = `echo "rank ${LOCKSTEP_RANK:-$OMPI_COMM_WORLD_RANK} is process $$" >&2; exec "$0" "$@"`
	return []string{"sh", "-c", say, programtest.Path(t, "train"), "-steps", "1000000000", "-batch", "12", "-json"}
}

var processOf = regexp.MustCompile(`rank (\d+) is process (\d+)`)

// killRank kills one rank of a watched training once all have taken a step
// together, and waits for the job's end.
func killRank(t *testing.T, r *programtest.Running, rank int) (programtest.Ended, map[int]int) {
	t.Helper()
	for !strings.Contains(r.Stdout.String(), `"step":1,`) {
		select {
		case <-r.Done:
			t.Fatalf("the job ends too early: %+v", r.Wait(t))
		case <-time.After(20 * time.Millisecond):
		}
	}
	pids := map[int]int{}
	for _, match := range processOf.FindAllStringSubmatch(r.Stderr.String(), -1) {
		n, _ := strconv.Atoi(match[1])
		pids[n], _ = strconv.Atoi(match[2])
	}
	if err := syscall.Kill(pids[rank], syscall.SIGKILL); err != nil {
		t.Fatalf("rank %d of %v: %v", rank, pids, err)
	}
	select {
	case <-r.Done:
	case <-time.After(10 * time.Second):
		t.Fatalf("the job goes on 10 s after a rank was killed\n%s", r.Stderr.String())
	}
	return r.Wait(t), pids
}

// gone checks that no process is left. One that has ended and is not yet waited
// for may show for a moment.
func gone(t *testing.T, pids map[int]int) {
	t.Helper()
	for rank, pid := range pids {
		for tries := 0; syscall.Kill(pid, 0) == nil; tries++ {
			if tries == 100 {
				t.Fatalf("rank %d, process %d, is left", rank, pid)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func TestRingJobEndsWithADeadRank(t *testing.T) {
	ends, pids := killRank(t, programtest.Start(t, nil, programtest.Launched(t, 3, watched(t)...)...), 1)
	if ends.Code != 137 || !strings.Contains(ends.Stderr, "launch: rank 1 ") {
		t.Errorf("launch exits with %d, want 137 and rank 1 named; standard error:\n%s", ends.Code, ends.Stderr)
	}
	if len(pids) != 3 {
		t.Errorf("processes %v, want 3", pids)
	}
	gone(t, pids)
}

// exitingRank is a training of which rank 1 exits with 3 instead.
func exitingRank(t *testing.T) []string {
	const leave = `test "${LOCKSTEP_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 || exit 3; exec "$0" "$@"`
	return []string{"sh", "-c", leave, programtest.Path(t, "train")}
}

func TestRingCodeOfOneRankIsTheJobs(t *testing.T) {
	ends := programtest.Finished(t, nil, programtest.Launched(t, 3, exitingRank(t)...)...)
	if ends.Code != 3 || !strings.Contains(ends.Stderr, "launch: rank 1 ") {
		t.Errorf("launch exits with %d, want 3 and rank 1 named; standard error:\n%s", ends.Code, ends.Stderr)
	}
}

func TestSignalEndsATraining(t *testing.T) {
	r := programtest.Start(t, nil, programtest.Path(t, "train"), "-steps", "1000000000", "-json")
	for !strings.Contains(r.Stdout.String(), `"step":1,`) {
		time.Sleep(20 * time.Millisecond)
	}
	r.Cmd.Process.Signal(syscall.SIGTERM)
	if ends := r.Wait(t); ends.Code != 143 || ends.Stderr != "train: ended by terminated\n" {
		t.Errorf("exit code %d, want 143; standard error:\n%s", ends.Code, ends.Stderr)
	}
}

func TestClassifierReadsMNISTFiles(t *testing.T) {
	end := trainJSON(t, programtest.Launched(t, 2, programtest.Path(t, "train"), "-model", "mlp", "-data", writeStripes(t, 200), "-steps", "60", "-batch", "20")...)
	if end.Sample != "20 of 20 images held back are read rightly" {
		t.Errorf("sample is %q", end.Sample)
	}
}
