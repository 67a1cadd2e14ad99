//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/internal/program/programtest"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// lossesOf runs a training to its end and returns the loss after each step.
func lossesOf(t *testing.T, command ...string) map[int]float64 {
	t.Helper()
	ends := programtest.Finished(t, nil, command...)
	if ends.Code != 0 {
		t.Fatalf("%q: exit code %d, standard error:\n%s", command, ends.Code, ends.Stderr)
	}
	all := map[int]float64{}
	for line := range strings.Lines(ends.Stdout) {
		var p progress
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if p.Step > 0 {
			all[p.Step] = float64(p.Loss)
		}
	}
	return all
}

// Whoever saves, others go on: the losses are those of a training without a break.
func TestATrainingGoesOnOnOtherRanks(t *testing.T) {
	const first, last = 5, 55
	flags := strings.Fields("-json -batch 4 -seed 3 -steps")
	train := append([]string{programtest.Path(t, "train")}, flags...)
	want := lossesOf(t, append(train[:len(train):len(train)], strconv.Itoa(last))...)
	for name, c := range map[string]struct{ before, after []string }{
		"2 ranks, then 1": {
			programtest.Launched(t, 2, append(train[:len(train):len(train)], strconv.Itoa(first), "-tp", "2")...),
			append(train[:len(train):len(train)], strconv.Itoa(last)),
		},
		"1 rank, then 4": {
			append(train[:len(train):len(train)], strconv.Itoa(first)),
			programtest.Launched(t, 4, append(train[:len(train):len(train)], strconv.Itoa(last), "-tp", "2")...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a folder")
			lossesOf(t, append(c.before, "-checkpoint", dir)...)
			got := lossesOf(t, append(c.after, "-checkpoint", dir, "-resume")...)
			if len(got) != last-first {
				t.Errorf("%d steps, want %d", len(got), last-first)
			}
			for step, loss := range got {
				if math.Abs(loss-want[step]) > 1e-3*want[step] {
					t.Errorf("step %d: loss %v, without a break %v", step, loss, want[step])
				}
			}
		})
	}
}

// On the same ranks a training that goes on has the bits of one without a break.
func TestATrainingThatGoesOnHasTheBitsOfOneWithoutABreak(t *testing.T) {
	for _, flags := range []string{"", "-dtype f16 -accumulate 2", "-dtype bf16 -tp 2", "-eval-every 3"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			all := append([]string{programtest.Path(t, "train"), "-batch", "8"}, strings.Fields(flags)...)
			run := func(steps string, more ...string) outcome {
				return trainJSON(t, append(programtest.Launched(t, 2, append(all[:len(all):len(all)], "-steps", steps)...), more...)...)
			}
			want := run("8")
			run("5", "-checkpoint", dir)
			got := run("8", "-checkpoint", dir, "-resume")
			if got.SHA256 != want.SHA256 || got.Loss != want.Loss || (got.Eval == nil) != (want.Eval == nil) || got.Eval != nil && *got.Eval != *want.Eval {
				t.Errorf("%+v, without a break %+v", got, want)
			}
		})
	}
}

// A signal to one rank has all ranks save the same step.
func TestASignalSavesOnAllRanks(t *testing.T) {
	dir := t.TempDir()
	file := options{checkpoint: dir}.file()
	const signalled = `if [ $LOCKSTEP_RANK = 1 ]; then
	(sleep 1; until [ -e "$FILE" ]; do kill -USR1 $$ || exit; sleep 0.1; done; kill -TERM $$) &
fi
exec "$0" "$@"`
	command := programtest.Launched(t, 2, "sh", "-c", signalled, programtest.Path(t, "train"), "-model", "mlp", "-steps", "100000000", "-checkpoint", dir)
	ends := programtest.Finished(t, []string{"FILE=" + file}, command...)
	if ends.Code != 128+15 || !strings.Contains(ends.Stderr, "ended by terminated") {
		t.Errorf("exit code %d, standard error:\n%s", ends.Code, ends.Stderr)
	}
	_, meta, err := checkpoint.ReadFile(file)
	if step, _ := strconv.Atoi(meta["step"]); err != nil || step < 1 {
		t.Errorf("saved after step %q, %v", meta["step"], err)
	}
}

// Whenever a training is killed, alone or the rank that writes of two, the file is whole, and the
// next one goes on from it.
func TestAKilledTrainingLeavesAWholeCheckpoint(t *testing.T) {
	dir := t.TempDir()
	file := options{checkpoint: dir}.file()
	flags := append(strings.Fields("-model mlp -steps 100000000 -save-every 1 -resume -quiet -checkpoint"), dir)
	const told = `echo "rank ${LOCKSTEP_RANK:-0} is process $$" >&2; exec "$0" "$@"`
	command := append([]string{"sh", "-c", told, programtest.Path(t, "train")}, flags...)
	before := 0
	for round := range 8 {
		start := command
		if round%2 == 1 {
			start = programtest.Launched(t, 2, command...)
		}
		r := programtest.Start(t, nil, start...)
		for range 600 {
			if _, meta, err := checkpoint.ReadFile(file); err == nil && meta["step"] != strconv.Itoa(before) {
				break
			} else if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Duration(round*7) * time.Millisecond)
		for _, match := range processOf.FindAllStringSubmatch(r.Stderr.String(), -1) {
			if pid, _ := strconv.Atoi(match[2]); match[1] == "0" {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if ends := r.Wait(t); ends.Code == 0 {
			t.Fatalf("round %d: %+v", round, ends)
		}
		_, meta, err := checkpoint.ReadFile(file)
		step, _ := strconv.Atoi(meta["step"])
		if err != nil || step <= before {
			t.Fatalf("round %d: saved after step %q, before it was %d: %v", round, meta["step"], before, err)
		}
		before = step
	}
}

func TestACheckpointOfAnotherTraining(t *testing.T) {
	dir := t.TempDir()
	lossesOf(t, programtest.Path(t, "train"), "-json", "-model", "mlp", "-steps", "2", "-checkpoint", dir)
	for args, says := range map[string]string{
		"-model mlp -steps 3 -seed 1":                      `its seed is "0", not "1"`,
		"-model mlp -steps 3 -data " + writeStripes(t, 40): "of another training: its data is",
		"-steps 3":            "of another training",
		"-model mlp -steps 1": "after step 2; -steps is 1",
	} {
		ends := programtest.Finished(t, nil, append([]string{programtest.Path(t, "train"), "-checkpoint", dir, "-resume"}, strings.Fields(args)...)...)
		if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.Contains(ends.Stderr, says) {
			t.Errorf("%s: exit code %d, %q lacks %q", args, ends.Code, ends.Stderr, says)
		}
	}
	if err := os.WriteFile(options{checkpoint: dir}.file(), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ends := programtest.Finished(t, nil, programtest.Path(t, "train"), "-model", "mlp", "-checkpoint", dir, "-resume")
	if ends.Code != program.CodeFailure || !strings.Contains(ends.Stderr, "no safetensors file") {
		t.Errorf("exit code %d, %q", ends.Code, ends.Stderr)
	}
}

// TestNothingIsLeftToDo starts a training again that has ended: it says so, and leaves the
// checkpoint and the picture as they are.
func TestNothingIsLeftToDo(t *testing.T) {
	dir := t.TempDir()
	picture := filepath.Join(dir, "loss.svg")
	command := []string{programtest.Path(t, "train"), "-model", "mlp", "-steps", "2", "-resume", "-checkpoint", dir, "-plot", picture}
	first := programtest.Finished(t, nil, command...)
	before, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string][]string{"one rank": command, "two ranks": programtest.Launched(t, 2, command...)} {
		again := programtest.Finished(t, nil, start...)
		if again.Code != 0 || !strings.Contains(again.Stdout, "has all 2 steps already") || strings.Contains(again.Stdout, "NaN") {
			t.Errorf("%s: %+v", name, again)
		}
		hash := regexp.MustCompile("parameters [0-9a-f]+")
		if was, is := hash.FindString(first.Stdout), hash.FindString(again.Stdout); was == "" || was != is {
			t.Errorf("%s: first %q, then %q", name, was, is)
		}
	}
	if after, err := os.ReadFile(picture); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the picture is another one: %v", err)
	}
}

// TestACheckpointThatCannotBeWritten is found out before anything is learnt.
func TestACheckpointThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(options{checkpoint: taken}.file(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"a file": file, "below a file": filepath.Join(file, "run"), "its file is a folder": taken} {
		command := []string{programtest.Path(t, "train"), "-steps", "1000000", "-checkpoint", folder}
		ends := programtest.Finished(t, nil, command...)
		if ends.Code != program.CodeUsage || len(ends.Lines()) != 1 || !strings.Contains(ends.Stderr, "-checkpoint "+folder) || strings.Contains(ends.Stderr, ".part") {
			t.Errorf("%s: %+v", name, ends)
		}
	}
}
