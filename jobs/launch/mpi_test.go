package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/hostlist"
)

func TestCommandLineOfMPIRun(t *testing.T) {
	conform.Row(t, "X13")
	everything := options{perHost: 1, dir: "/d", tag: true, input: "all", logDir: "logs", env: []string{"A=1", "B="}, mpiArgs: []string{"--bind-to", "none"}}
	far := options{hosts: []hostlist.Host{{Name: "far.invalid", Slots: 2}, {Name: "farther.invalid", Slots: 1}, {Name: "far.invalid", Slots: 1}},
		ssh: "ssh", sshArgs: []string{"-F", "conf"}}
	for _, c := range []struct {
		name    string
		options options
		version int
		machine machine
		want    string
	}{
		{"room for all", options{perHost: 2}, 4, machine{threads: 4},
			"mpirun -np 2 -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"more ranks than cores may be there, as root", options{perHost: 3}, 4, machine{threads: 4, root: true},
			"mpirun -np 3 --allow-run-as-root --oversubscribe -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"the same with Open MPI 5", options{perHost: 3}, 5, machine{threads: 4, root: true},
			"mpirun -np 3 --allow-run-as-root --map-by :OVERSUBSCRIBE -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"everything", everything, 4, machine{threads: 8},
			"mpirun -np 1 --wdir /d --stdin all --tag-output --output-filename logs -x LOCKSTEP_BACKEND -x A -x B --bind-to none /bin/prog -v"},
		{"everything with Open MPI 5", everything, 5, machine{threads: 8},
			"mpirun -np 1 --wdir /d --stdin all --output tag,dir=logs -x LOCKSTEP_BACKEND -x A -x B --bind-to none /bin/prog -v"},
		{"tags alone with Open MPI 5", options{perHost: 1, tag: true}, 5, machine{threads: 8},
			"mpirun -np 1 --output tag -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"hosts, of which one stands twice, and settings", far, 4, machine{threads: 1, settings: []string{"LOCKSTEP_TIMEOUT=9s"}},
			"mpirun -np 4 --host far.invalid:3,farther.invalid:1 --mca plm_rsh_agent ssh -F conf -x LOCKSTEP_BACKEND -x LOCKSTEP_TIMEOUT /bin/prog -v"},
		{"hosts with Open MPI 5", far, 5, machine{threads: 1},
			"mpirun -np 4 --host far.invalid:3,farther.invalid:1 --prtemca plm_ssh_agent ssh -F conf -x LOCKSTEP_BACKEND /bin/prog -v"},
		{"this machine by name", options{hosts: []hostlist.Host{{Name: "localhost", Slots: 8}}}, 4, machine{threads: 8},
			"mpirun -np 8 --host localhost:8 --oversubscribe -x LOCKSTEP_BACKEND /bin/prog -v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.program, c.options.command = "/bin/prog", []string{"prog", "-v"}
			c.options.seats = seatsOn(c.options.hosts, c.options.perHost)
			if got := strings.Join(mpirunArgs(&c.options, c.version, c.machine), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWhoseMPIRunItIs(t *testing.T) {
	for _, c := range []struct {
		line    string
		version int
	}{
		{"mpirun (Open MPI) 4.1.4", 4},
		{"mpirun (Open MPI) 5.0.3rc1", 5},
		{"mpirun (Open MPI) 10.0.0", 10},
		{"mpirun (Open MPI) main", 0},
		{"HYDRA build details:", 0},
		{"Intel(R) MPI Library for Linux* OS, Version 2021.9", 0},
		{"", 0},
	} {
		if version, err := openMPI(c.line); version != c.version || (err == nil) != (c.version > 0) {
			t.Errorf("%q: got %d, %v; want %d", c.line, version, err, c.version)
		}
	}
}

func TestAnotherMPIIsRefused(t *testing.T) {
	cmd := launcher(t, []string{"--backend", "mpi"}, "act")
	cmd.Env = append(cmd.Env, mpirunIs(t, `echo "HYDRA build details:"; echo "    Version: 4.1"`))
	r := finish(t, nil, cmd)
	if want := `is not Open MPI's, which --backend mpi needs: it calls itself "HYDRA build details:"` + "\n"; r.code != 1 || !strings.HasSuffix(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d, %q; want 1 and one line that ends %q", r.code, r.stderr, want)
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

func TestWhatMPIRunIsGiven(t *testing.T) {
	cmd := launcher(t, []string{"-n", "2", "--backend", "mpi", "--env", `A=b c"$HOME`, "--mpi-arg", "a b"}, "act")
	cmd.Env = append(cmd.Env, "RANK=5", mpirunIs(t, `[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" && exit; for arg; do echo "$arg"; done; echo "$A|$LOCKSTEP_BACKEND|$RANK"; exit 77`))
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
