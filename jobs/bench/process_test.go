//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

// The tests of this file and its neighbours run real processes. They are left
// out under the race detector, which would not see into them.

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// checkFiles runs a bench that writes both of its files, and looks into them.
func checkFiles(t *testing.T, backend string, n int, start ...string) {
	t.Helper()
	dir := t.TempDir()
	data, picture := filepath.Join(dir, "bench.json"), filepath.Join(dir, "bench.png")
	ends := programtest.Finished(t, nil, append(start, "-iterations", "3", "-sizes", "64,1KiB", "-json", data, "-plot", picture)...)
	if ends.Code != 0 || ends.Stderr != "" {
		t.Fatalf("exit code %d, standard error:\n%s", ends.Code, ends.Stderr)
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
	if lines := strings.Count(ends.Stdout, "\n1024 "); lines != 9 {
		t.Errorf("%d rows of 1024 bytes, want 9:\n%s", lines, ends.Stdout)
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
	checkFiles(t, "ring", 3, programtest.Launched(t, 3, programtest.Path(t, "bench"))...)
}

func TestRanksOfOneProcessAreMeasured(t *testing.T) {
	checkFiles(t, "ring", 4, programtest.Path(t, "bench"), "-local", "4")
}

func TestWrongUse(t *testing.T) {
	for args, says := range map[string]string{
		"-nosuch":                       "-nosuch",
		"-backend nccl":                 `"nccl"`,
		"-local 3 -json /nowhere/a":     "-json /nowhere/a: ",
		"-local 2 -plot /nowhere/a.png": "-plot /nowhere/a.png: ",
	} {
		ends := programtest.Finished(t, nil, append([]string{programtest.Path(t, "bench")}, strings.Fields(args)...)...)
		if ends.Code != program.CodeUsage || ends.Stdout != "" || len(ends.Lines()) != 1 || !strings.HasPrefix(ends.Stderr, "bench: ") || !strings.Contains(ends.Stderr, says) {
			t.Errorf("%s: %+v", args, ends)
		}
	}
}

func TestRanksStartedDifferently(t *testing.T) {
	const other = `[ $LOCKSTEP_RANK = 1 ] && set -- "$@" -iterations 7; exec "$0" "$@"`
	ends := programtest.Finished(t, nil, programtest.Launched(t, 3, "sh", "-c", other, programtest.Path(t, "bench"), "-quiet")...)
	if ends.Code != program.CodeUsage || ends.Stdout != "" || !strings.Contains(ends.Stderr, "started differently") {
		t.Errorf("%+v", ends)
	}
}

func TestFullOutputIsAFailure(t *testing.T) {
	ends := programtest.Finished(t, nil, "sh", "-c", `exec "$0" -local 2 -iterations 3 >/dev/full`, programtest.Path(t, "bench"))
	if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.Contains(ends.Stderr, "no space left") {
		t.Errorf("%+v", ends)
	}
}

// begun waits until a program has written something.
func begun(t *testing.T, r *programtest.Running) {
	t.Helper()
	for r.Stdout.String() == "" {
		select {
		case <-r.Done:
			t.Fatalf("it ends too early: %+v", r.Wait(t))
		case <-time.After(10 * time.Millisecond):
		}
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
	var ranks []*programtest.Running
	for rank := range 3 {
		world := []string{fmt.Sprint(env.Rank, "=", rank), env.Size + "=3", env.Coordinator + "=" + address}
		ranks = append(ranks, programtest.Start(t, world, programtest.Path(t, "bench"), "-only", "all_reduce", "-time", "1m"))
	}
	begun(t, ranks[0])
	ranks[1].Cmd.Process.Kill()
	for _, rank := range []int{0, 2} {
		ends := ranks[rank].Wait(t)
		if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.HasPrefix(ends.Stderr, fmt.Sprintf("bench: rank %d: ", rank)) || !strings.Contains(ends.Stderr, "rank 1") {
			t.Errorf("rank %d: %+v", rank, ends)
		}
	}
}

func TestASignalEndsIt(t *testing.T) {
	for _, more := range [][]string{nil, {"-local", "3"}} {
		command := append([]string{programtest.Path(t, "bench"), "-time", "1m", "-only", "all_reduce"}, more...)
		r := programtest.Start(t, nil, command...)
		begun(t, r)
		r.Cmd.Process.Signal(os.Interrupt)
		if ends := r.Wait(t); ends.Code != 130 || ends.Stderr != "bench: ended by interrupt\n" {
			t.Errorf("%v: %+v", command, ends)
		}
	}
}
