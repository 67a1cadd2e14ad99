package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestRanksAreGivenTheirPlace(t *testing.T) {
	conform.Row(t, "X1", "X5")
	r := run(t, nil, []string{"-n", "3", "--env", "A=old", "--env", `A=b c"$HOME`, "--env", "B"},
		"print", "LOCKSTEP_RANK", "LOCKSTEP_SIZE", "LOCKSTEP_BACKEND", "A", "B")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d, standard error %q", r.code, r.stderr)
	}
	want := []string{`A true "b c\"$HOME"`, `B true ""`, `LOCKSTEP_BACKEND true "ring"`, `LOCKSTEP_SIZE true "3"`}
	want = slices.Repeat(want, 3)
	for rank := range 3 {
		want = append(want, fmt.Sprintf("LOCKSTEP_RANK true %q", fmt.Sprint(rank)))
	}
	slices.Sort(want)
	got := strings.Split(strings.TrimSpace(r.stdout), "\n")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOneRankIsAWorldOfOne(t *testing.T) {
	conform.Row(t, "X12")
	r := run(t, nil, nil, "print", "LOCKSTEP_RANK", "LOCKSTEP_SIZE")
	if want := "LOCKSTEP_RANK true \"0\"\nLOCKSTEP_SIZE true \"1\"\n"; r.stdout != want || r.code != 0 {
		t.Errorf("code %d, %q; want 0, %q", r.code, r.stdout, want)
	}
}

func TestOtherWorldsAreTakenAway(t *testing.T) {
	outer := []string{"RANK=7", "WORLD_SIZE=8", "MLX_RANK=3", "MLX_HOSTFILE=/x", "OMPI_COMM_WORLD_RANK=5",
		"OMPI_MCA_ess=^singleton", "PMIX_NAMESPACE=x", "SLURM_STEP_ID=0", "LOCKSTEP_HOSTFILE=/y", "LOCKSTEP_RANK=9"}
	names := []string{"HOME"}
	for _, assignment := range outer[:len(outer)-1] {
		name, _, _ := strings.Cut(assignment, "=")
		names = append(names, name)
	}
	cmd := launcher(t, nil, append([]string{"print"}, names...)...)
	cmd.Env = append(cmd.Env, append(outer, "HOME=/home/me")...)
	r := finish(t, nil, cmd)
	var want strings.Builder
	want.WriteString("HOME true \"/home/me\"\n")
	for _, name := range names[1:] {
		want.WriteString(name + " false \"\"\n")
	}
	if r.stdout != want.String() {
		t.Errorf("got  %s\nwant %s", r.stdout, want.String())
	}
}

func TestDirectoryIsTheRanks(t *testing.T) {
	dir := t.TempDir()
	r := run(t, nil, []string{"--cwd", dir}, "print", "PWD")
	if want := fmt.Sprintf("PWD true %q\n", dir); r.stdout != want {
		t.Errorf("got %q, want %q", r.stdout, want)
	}
}

func TestSecretsArePrivateAndDiffer(t *testing.T) {
	secrets := map[string]bool{}
	for range 2 {
		r := run(t, nil, []string{"-n", "2"}, "secret")
		mode, secret, _ := strings.Cut(strings.SplitN(r.stdout, "\n", 2)[0], " ")
		if mode != "0600" || len(secret) != 64 || strings.Count(r.stdout, secret) != 2 {
			t.Errorf("got %q, %q; want 0600 and the same 64 digits of both ranks", r.stdout, r.stderr)
		}
		secrets[secret] = true
	}
	if len(secrets) != 2 {
		t.Errorf("two jobs share one secret")
	}
}

func TestPortGivenIsTheOneUsed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	flags := []string{"--starting-port", port}
	if r := run(t, nil, flags, "print"); r.code != 1 || !strings.Contains(r.stderr, port+": bind: address already in use") {
		t.Errorf("taken port: code %d, %q", r.code, r.stderr)
	}
	listener.Close()
	r := run(t, nil, flags, "print", "LOCKSTEP_COORDINATOR")
	if want := fmt.Sprintf("LOCKSTEP_COORDINATOR true \"127.0.0.1:%s\"\n", port); r.stdout != want {
		t.Errorf("free port: got %q, %q; want %q", r.stdout, r.stderr, want)
	}
}

func TestNothingStaysInTheTemporaryDirectory(t *testing.T) {
	cmd := launcher(t, []string{"-n", "2"}, "each", "0", "3")
	dir := strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR=")
	finish(t, nil, cmd)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestVerboseSaysWhatRunsButNotTheSecret(t *testing.T) {
	r := run(t, nil, []string{"-n", "2", "--verbose"}, "print")
	for _, want := range []string{"launch: 2 ranks on the ring, meeting at 127.0.0.1:", "launch: rank 1 is process "} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("standard error %q lacks %q", r.stderr, want)
		}
	}
	if strings.Contains(r.stderr, "token") || r.stdout != "" {
		t.Errorf("standard error %q, standard output %q", r.stderr, r.stdout)
	}
}
