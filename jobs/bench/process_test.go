//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// The tests of this file and its neighbours run real processes. They are left
// out under the race detector, which would not see into them.

// programs is where bench and launch are.
var programs string

func TestMain(m *testing.M) {
	for _, v := range env.Variables {
		os.Unsetenv(v.Name) // a world around the tests is not the programs' world
	}
	os.Exit(withPrograms(m))
}

func withPrograms(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "bench"); err == nil {
		defer os.RemoveAll(programs)
		var output []byte
		output, err = exec.Command("go", "build", "-buildvcs=false", "-tags", buildTags, "-o", programs, ".", "../launch").CombinedOutput()
		os.Stderr.Write(output)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func program(name string) string { return filepath.Join(programs, name) }

// command is one with a time limit, whose output is kept.
func command(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd = exec.CommandContext(t.Context(), args[0], args[1:]...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, 10*time.Second
	return cmd, stdout, stderr
}

func finished(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, out, errs := command(t, args...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// checkFiles runs a bench that writes both of its files, and looks into them.
func checkFiles(t *testing.T, backend string, n int, start ...string) {
	t.Helper()
	dir := t.TempDir()
	data, picture := filepath.Join(dir, "bench.json"), filepath.Join(dir, "bench.png")
	code, stdout, stderr := finished(t, append(start, "-iterations", "3", "-sizes", "64,1KiB", "-json", data, "-plot", picture)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, standard error:\n%s", code, stderr)
	}
	var got record
	if text, err := os.ReadFile(data); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Backend != backend || got.Ranks != n || len(got.Results) != 2*9+1 {
		t.Errorf("%d ranks on %s with %d results; want %d on %s with 19", got.Ranks, got.Backend, len(got.Results), n, backend)
	}
	for _, r := range got.Results {
		// A percentile of a bandwidth is what so many windows reach, so it falls.
		low, high := r.P50, r.P99
		if r.Unit == megabytes {
			low, high = high, low
		}
		if !(r.Min > 0 && r.Min <= low && low <= high && high <= r.Max) || r.Iterations != 3 || r.Ranks != n {
			t.Errorf("%+v", r)
		}
	}
	if lines := strings.Count(stdout, "\n1024 "); lines != 9 {
		t.Errorf("%d rows of 1024 bytes, want 9:\n%s", lines, stdout)
	}
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 600 {
		t.Errorf("the picture of two panels is %v wide: %v", img.Bounds(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestRingIsMeasured(t *testing.T) {
	checkFiles(t, "ring", 3, program("launch"), "-n", "3", "--", program("bench"))
}

func TestRanksOfOneProcessAreMeasured(t *testing.T) {
	checkFiles(t, "ring", 4, program("bench"), "-local", "4")
}

func TestWrongUse(t *testing.T) {
	for args, says := range map[string]string{
		"-nosuch":                       "-nosuch",
		"-backend nccl":                 `"nccl"`,
		"-local 3 -json /nowhere/a":     "-json /nowhere/a: ",
		"-local 2 -plot /nowhere/a.png": "-plot /nowhere/a.png: ",
	} {
		code, stdout, stderr := finished(t, append([]string{program("bench")}, strings.Fields(args)...)...)
		if code != codeUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "bench: ") || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit code %d, standard output %q, standard error:\n%s", args, code, stdout, stderr)
		}
	}
}

func TestRanksStartedDifferently(t *testing.T) {
	const other = `[ $LOCKSTEP_RANK = 1 ] && set -- "$@" -iterations 7; exec "$0" "$@"`
	code, stdout, stderr := finished(t, program("launch"), "-n", "3", "--", "sh", "-c", other, program("bench"), "-quiet")
	if code != codeUsage || stdout != "" || !strings.Contains(stderr, "started differently") {
		t.Errorf("exit code %d, standard output %q, standard error:\n%s", code, stdout, stderr)
	}
}

func TestFullOutputIsAFailure(t *testing.T) {
	code, _, stderr := finished(t, "sh", "-c", `exec "$0" -local 2 -iterations 3 >/dev/full`, program("bench"))
	if code != codeFailure || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "no space left") {
		t.Errorf("exit code %d, standard error:\n%s", code, stderr)
	}
}

// Without a launcher that ends the others, what is left says one line and ends.
func TestADeadRankIsOneLine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	var cmds []*exec.Cmd
	var stderrs []*bytes.Buffer
	for rank := range 3 {
		cmd, _, stderr := command(t, program("bench"), "-only", "all_reduce", "-time", "1m")
		cmd.Env = append(os.Environ(), fmt.Sprint(env.Rank, "=", rank), env.Size+"=3", env.Coordinator+"="+address)
		cmds, stderrs = append(cmds, cmd), append(stderrs, stderr)
	}
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmds[0].Stdout = write
	for _, cmd := range cmds {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	write.Close()
	pipe.Read(make([]byte, 1)) // the first table begins
	cmds[1].Process.Kill()
	cmds[1].Wait()
	for _, rank := range []int{0, 2} {
		cmds[rank].Wait()
		code, said := cmds[rank].ProcessState.ExitCode(), stderrs[rank].String()
		if code != codeFailure || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, fmt.Sprintf("bench: rank %d: ", rank)) || !strings.Contains(said, "rank 1") {
			t.Errorf("rank %d exits with %d:\n%s", rank, code, said)
		}
	}
}

func TestASignalEndsIt(t *testing.T) {
	for _, start := range [][]string{{program("bench")}, {program("bench"), "-local", "3"}} {
		cmd, _, stderr := command(t, append(start, "-time", "1m", "-only", "all_reduce")...)
		cmd.Stdout = nil
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stdout.Read(make([]byte, 1))
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || stderr.String() != "bench: ended by interrupt\n" {
			t.Errorf("%v: exit code %d, standard error:\n%s", start, code, stderr)
		}
	}
}
