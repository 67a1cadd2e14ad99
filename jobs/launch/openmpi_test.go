//go:build mpi

package main

import (
	"slices"
	"strings"
	"testing"
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
