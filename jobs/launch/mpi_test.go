package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCommandLineOfMPIRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		options options
		threads int
		root    bool
		want    string
	}{
		{"room for all", options{ranks: 2}, 4, false,
			"mpirun -np 2 -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"more ranks than cores may be there, as root", options{ranks: 3}, 4, true,
			"mpirun -np 3 --allow-run-as-root --oversubscribe -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"everything", options{ranks: 1, dir: "/d", tag: true, env: []string{"A=1", "B="}, mpiArgs: []string{"--bind-to", "none"}}, 8, false,
			"mpirun -np 1 --wdir /d --tag-output -x LOCKSTEP_BACKEND -x A -x B --bind-to none /bin/prog -v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.path, c.options.command = "/bin/prog", []string{"prog", "-v"}
			if got := strings.Join(mpirunArgs(&c.options, c.threads, c.root), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// mpirunIs returns a PATH on which the script is the only program, and mpirun; no
// script, no mpirun.
func mpirunIs(t *testing.T, script string) (path string) {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "mpirun"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir
}

func TestLaunchBecomesMPIRun(t *testing.T) {
	cmd := launcher(t, []string{"-n", "2", "--backend", "mpi", "--env", `A=b c"$HOME`, "--mpi-arg", "a b"}, "act")
	cmd.Env = append(cmd.Env, "RANK=5", mpirunIs(t, `for arg; do echo "$arg"; done; echo "$A|$LOCKSTEP_BACKEND|$RANK"; exit 77`))
	r := finish(t, nil, cmd)
	if r.code != 77 {
		t.Errorf("code %d, %q; want mpirun's 77", r.code, r.stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if got, want := lines[len(lines)-1], `b c"$HOME|mpi|`; got != want {
		t.Errorf("variables %q, want %q", got, want)
	}
	if !slices.Contains(lines, "a b") || !slices.Contains(lines, "act") {
		t.Errorf("arguments %q lack some of launch's", lines)
	}
}

func TestNoMPIRunSaysWhatIsMissing(t *testing.T) {
	cmd := launcher(t, []string{"--backend", "mpi"}, "act")
	cmd.Env = append(cmd.Env, mpirunIs(t, ""))
	r := finish(t, nil, cmd)
	if want := "launch: --backend mpi needs mpirun on PATH: install Open MPI, or use --backend ring\n"; r.code != 1 || r.stderr != want {
		t.Errorf("code %d, %q; want 1, %q", r.code, r.stderr, want)
	}
}
