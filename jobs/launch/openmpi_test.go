//go:build mpi && linux

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestRanksUnderRealMPIRun(t *testing.T) {
	r := run(t, nil, []string{"-n", "3", "--backend", "mpi", "--env", `A=b c"$HOME`, "--env", "B"},
		"print", "OMPI_COMM_WORLD_SIZE", "LOCKSTEP_BACKEND", "A", "B")
	got := strings.Split(strings.TrimSpace(r.stdout), "\n")
	want := slices.Repeat([]string{`OMPI_COMM_WORLD_SIZE true "3"`, `LOCKSTEP_BACKEND true "mpi"`, `A true "b c\"$HOME"`, `B true ""`}, 3)
	slices.Sort(got)
	slices.Sort(want)
	if r.code != 0 || !slices.Equal(got, want) {
		t.Errorf("code %d, standard error %q\ngot  %q\nwant %q", r.code, r.stderr, got, want)
	}
}

func TestCodeUnderRealMPIRun(t *testing.T) {
	if r := run(t, nil, []string{"-n", "2", "--backend", "mpi"}, "each", "3", "3"); r.code != 3 {
		t.Errorf("code %d, want 3; standard error %q", r.code, r.stderr)
	}
}

func TestRealMPIRunOnHosts(t *testing.T) {
	conform.Row(t, "X13")
	l := needLogin(t)
	// Open MPI 4.1's daemon may crash when input comes for a rank that has ended.
	r := run(t, nil, l.flags([]string{"--hosts", "127.0.0.2:2,127.0.0.3", "--backend", "mpi", "--stdin", "none", "--env", "A=b c;$HOME"}),
		"print", "OMPI_COMM_WORLD_SIZE", "LOCKSTEP_BACKEND", "A")
	want := slices.Repeat([]string{`A true "b c;$HOME"`, `LOCKSTEP_BACKEND true "mpi"`, `OMPI_COMM_WORLD_SIZE true "3"`}, 3)
	slices.Sort(want)
	if got := sorted(r.stdout); r.code != 0 || !slices.Equal(got, want) {
		t.Errorf("code %d, standard error %q\ngot  %q\nwant %q", r.code, r.stderr, got, want)
	}
}

func TestMoreRanksThanSlotsUnderRealMPIRun(t *testing.T) {
	conform.Row(t, "X13")
	for _, flags := range [][]string{{"-n", "9"}, {"--hosts", "localhost:9"}} {
		r := run(t, nil, append(flags, "--backend", "mpi"), "print", "OMPI_COMM_WORLD_SIZE")
		if want := strings.Repeat("OMPI_COMM_WORLD_SIZE true \"9\"\n", 9); r.code != 0 || r.stdout != want {
			t.Errorf("%q: code %d, %q, %q", flags, r.code, r.stdout, r.stderr)
		}
	}
}

func TestInputUnderRealMPIRun(t *testing.T) {
	for stdin, want := range map[string]string{"0": "in", "none": ""} {
		r := run(t, strings.NewReader("in"), []string{"-n", "2", "--backend", "mpi", "--stdin", stdin}, "cat")
		if r.code != 0 || r.stdout != want {
			t.Errorf("--stdin %s: code %d, %q, %q; want %q", stdin, r.code, r.stdout, r.stderr, want)
		}
	}
}

func TestNothingOutlivesMPIRun(t *testing.T) {
	for name, end := range map[string]func(*running){
		"launch is killed":        func(j *running) { j.Process.Kill() },
		"launch is told to end":   func(j *running) { j.Process.Signal(syscall.SIGTERM) },
		"launch is interrupted":   func(j *running) { j.Process.Signal(syscall.SIGINT) },
		"mpirun itself is killed": func(j *running) { syscall.Kill(parentOf(t, j.all[0]), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			j := begin(t, launcher(t, []string{"-n", "2", "--backend", "mpi"}, "do", "parent"), 4)
			end(j)
			j.Wait()
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && slices.ContainsFunc(j.pids, alive); {
				time.Sleep(10 * time.Millisecond)
			}
			expectGone(t, j.pids)
		})
	}
}
