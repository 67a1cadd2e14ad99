//go:build !race

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts.json")
	if err := os.WriteFile(hosts, []byte("127.0.0.1:9000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(dir, "nowhere.txt")
	for name, c := range map[string]struct {
		variables []string
		args      string
		says      []string
	}{
		"unknown flag":            {nil, "-nosuch", []string{"-nosuch"}},
		"unknown model":           {nil, "-model cnn", []string{`"cnn"`, "gpt or mlp"}},
		"unknown backend":         {nil, "-backend nccl", []string{`"nccl"`, "any, ", "ring"}},
		"unknown backend by env":  {[]string{"LOCKSTEP_BACKEND=nccl"}, "", []string{"LOCKSTEP_BACKEND", "nccl"}},
		"missing data file":       {nil, "-data " + nowhere, []string{nowhere, "no such file"}},
		"missing images":          {nil, "-model mlp -data " + dir + "/images", []string{dir + "/images", "no such file"}},
		"rank is no number":       {[]string{"LOCKSTEP_RANK=abc", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=127.0.0.1:9000"}, "", []string{"LOCKSTEP_RANK", `"abc"`}},
		"rank alone, no number":   {[]string{"LOCKSTEP_RANK=abc"}, "", []string{"LOCKSTEP_"}},
		"rank without a size":     {[]string{"LOCKSTEP_RANK=0"}, "", []string{"LOCKSTEP_SIZE is not set"}},
		"rank outside the world":  {[]string{"LOCKSTEP_RANK=2", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=127.0.0.1:9000"}, "", []string{"LOCKSTEP_RANK", `"2"`, "0 to 1"}},
		"coordinator has no port": {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=here"}, "", []string{"LOCKSTEP_COORDINATOR", `"here"`}},
		"timeout is no duration":  {[]string{"LOCKSTEP_TIMEOUT=never"}, "", []string{"LOCKSTEP_TIMEOUT", `"never"`, "90s"}},
		"host file is not JSON":   {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_HOSTFILE=" + hosts}, "", []string{hosts, "JSON"}},
		"host of two lines":       {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=a\nb:9000"}, "", []string{"LOCKSTEP_COORDINATOR", `"a\nb:9000"`}},
		"size beyond all worlds":  {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_SIZE=2147483647", "LOCKSTEP_COORDINATOR=127.0.0.1:9000"}, "", []string{"LOCKSTEP_SIZE", "65536"}},
		"log level unknown":       {[]string{"LOCKSTEP_LOG=loud"}, "", []string{"LOCKSTEP_LOG", `"loud"`, "debug"}},
		"kernels unknown":         {[]string{"LOCKSTEP_KERNEL=gpu"}, "", []string{"LOCKSTEP_KERNEL", `"gpu"`, "portable"}},
		"data without end":        {nil, "-data /dev/zero", []string{"/dev/zero holds more than"}},
		"host file is missing":    {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_HOSTFILE=" + nowhere}, "", []string{nowhere, "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			ends := programtest.Finished(t, c.variables, append([]string{programtest.Path(t, "train")}, strings.Fields(c.args)...)...)
			if ends.Code != program.CodeUsage || ends.Stdout != "" {
				t.Errorf("exit code %d, want %d; standard output %q", ends.Code, program.CodeUsage, ends.Stdout)
			}
			if lines := ends.Lines(); len(lines) != 1 || !strings.HasPrefix(lines[0], "train: ") {
				t.Errorf("want one line of train's on standard error:\n%s", ends.Stderr)
			}
			for _, says := range c.says {
				if !strings.Contains(ends.Stderr, says) {
					t.Errorf("%q lacks %q", ends.Stderr, says)
				}
			}
		})
	}
}

func TestFullOutputIsAFailure(t *testing.T) {
	for _, flags := range []string{"-model mlp -steps 1", "-model mlp -steps 1 -json"} {
		command := append([]string{"sh", "-c", `exec "$0" "$@" >/dev/full`, programtest.Path(t, "train")}, strings.Fields(flags)...)
		ends := programtest.Finished(t, nil, command...)
		if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.Contains(ends.Stderr, "no space left") {
			t.Errorf("%s: exit code %d; standard error:\n%s", flags, ends.Code, ends.Stderr)
		}
	}
}

// The others must not start a step with it.
func TestARankStartedWithAnotherBatch(t *testing.T) {
	const other = `[ $LOCKSTEP_RANK = 1 ] && set -- "$@" -batch 6; exec "$0" "$@"`
	command := programtest.Launched(t, 3, "sh", "-c", other, programtest.Path(t, "train"), "-steps", "1000000", "-batch", "12", "-json")
	ends := programtest.Finished(t, nil, command...)
	if ends.Code != program.CodeUsage || ends.Stdout != "" || !strings.Contains(ends.Stderr, "started differently") {
		t.Errorf("exit code %d, want %d; standard output %q, standard error:\n%s", ends.Code, program.CodeUsage, ends.Stdout, ends.Stderr)
	}
}

// A second signal ends what does not look at the first: here, the wait for a
// writer of the data.
func TestASecondSignalEndsATrainingThatIsStuck(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r := programtest.Start(t, nil, programtest.Path(t, "train"), "-data", pipe)
	for range 600 {
		if r.Cmd.Process.Signal(syscall.SIGTERM) != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.Cmd.Process.Kill()
	ends := r.Wait(t)
	if status := r.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("ended by %v; standard error:\n%s", status.Signal(), ends.Stderr)
	}
}

// Ranks that end at the same time may each say it, and launch names one of them.
func TestRanksThatDoNotDivide(t *testing.T) {
	for args, says := range map[string]string{
		"-batch 16":                "-batch is 16, which 3 ranks do not divide evenly",
		"-tp 2":                    "-tp is 2, which does not divide 3 ranks evenly",
		"-tp 3":                    "-tp is 3, which the model does not divide into: layers.0: attention: 4 heads do not divide into 3 shards",
		"-tp 3 -model mlp":         "-tp is 3, which the model does not divide into: all_to_sharded_linear: 128 output features do not divide into 3 shards",
		"-accumulate 3 -batch 12":  "-accumulate is 3, which does not divide the 4 examples of a rank evenly",
		"-dtype f64":               `-dtype is "f64"; want one of f32, bf16, f16`,
		"-tp 0":                    "-tp is 0; want 1 or more",
		"-tp 100000000000000000":   "-tp is 100000000000000000, which does not divide 3 ranks evenly",
		"-tp 1000000000000000000x": "invalid value \"1000000000000000000x\" for flag -tp: parse error",
	} {
		t.Run(args, func(t *testing.T) {
			ends := programtest.Finished(t, nil, programtest.Launched(t, 3, append([]string{programtest.Path(t, "train")}, strings.Fields(args)...)...)...)
			if ends.Code != program.CodeUsage || ends.Stdout != "" {
				t.Errorf("exit code %d, want %d; standard output %q", ends.Code, program.CodeUsage, ends.Stdout)
			}
			said := 0
			for _, line := range ends.Lines() {
				switch {
				case line == "train: "+says:
					said++
				case !strings.HasPrefix(line, "launch: rank "):
					t.Errorf("unexpected line %q", line)
				}
			}
			if said < 1 || said > 3 {
				t.Errorf("%d times %q:\n%s", said, says, ends.Stderr)
			}
		})
	}
}
