package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// programs builds launch and doctor, without Open MPI, into a folder of their own.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "../launch", ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

func TestDoctor(t *testing.T) {
	dir := programs(t)
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		code  int
		lines []string // their beginnings, with single spaces
	}{
		{"all is well", nil, nil, 0, []string{
			"ok backends ring; not mpi", "ok choice a program started here as it is runs alone, because mpi: built without Open MPI",
			"ok variables none", "ok cores ", "ok files ", "ok interfaces ", "ok ring 2 ranks on ring sum 4 bytes and 1 MiB, in "}},
		{"this machine as a host", nil, []string{"--hosts", "localhost:3"}, 0, []string{"ok host localhost: a program starts in ", "ok hosts 3 ranks on ring sum"}},
		{"a host that is none", nil, []string{"--hosts", "localhost,nobody.invalid", "--ssh", "/bin/false"}, 1, []string{
			"ok ring", "ok host localhost", "FAIL host nobody.invalid: ", "FAIL hosts no test of all hosts"}},
		{"a backend that it does not have", []string{"LOCKSTEP_BACKEND=nccl"}, nil, 1, []string{`FAIL choice unknown backend "nccl" (have any, mpi, ring)`, "ok variables LOCKSTEP_BACKEND=nccl", "ok ring"}},
		{"a world that is wrong", []string{"RANK=x", "WORLD_SIZE=2"}, nil, 1, []string{"ok choice ring, because RANK is \"x\"", "FAIL variables RANK is \"x\"", "ok ring"}},
		{"a setting that is wrong", []string{"LOCKSTEP_TIMEOUT=soon"}, nil, 1, []string{`FAIL ring doctor: group: init: LOCKSTEP_TIMEOUT is "soon"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(dir, "launch"), append([]string{"doctor"}, c.args...)...)
			cmd.Env = append(bare(), c.env...)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			text := "\n"
			for line := range strings.Lines(string(out)) {
				text += strings.Join(strings.Fields(line), " ") + "\n"
			}
			for _, want := range c.lines {
				if !strings.Contains(text, "\n"+want) {
					t.Errorf("no line begins %q", want)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

// bare is the environment without what doctor looks at.
func bare() []string {
	var kept []string
	for _, assignment := range os.Environ() {
		name, _, _ := strings.Cut(assignment, "=")
		known := false
		for _, v := range env.Variables {
			known = known || v.Name == name
		}
		if !known {
			kept = append(kept, assignment)
		}
	}
	return kept
}

func TestWrongUseOfDoctor(t *testing.T) {
	dir := programs(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a program to run", []string{"./train"}, `doctor: unexpected argument "./train"`},
		{"an unknown flag", []string{"--host", "a"}, "doctor: flag provided but not defined: -host"},
		{"a host that is an option", []string{"--hosts", "-oProxyCommand=x"}, `begins with -`},
		{"a host file that is not there", []string{"--hostfile", "/no/such"}, "no such file"},
		{"hosts twice", []string{"--hosts", "a", "--hosts", "b"}, "doctor: give --hosts or --hostfile, and once"},
		{"no time", []string{"--timeout", "0s"}, "doctor: --timeout is 0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(dir, "launch"), append([]string{"doctor"}, c.args...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("code %d, %q, %q; want 2 and one line with %q", code, stdout.String(), stderr.String(), c.want)
			}
		})
	}
	if err := os.Remove(filepath.Join(dir, "doctor")); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(filepath.Join(dir, "launch"), "doctor").CombinedOutput()
	if want := "launch: launch doctor needs the program doctor beside launch"; !strings.HasPrefix(string(out), want) {
		t.Errorf("without doctor: %q, want %q", out, want)
	}
}

func TestQuota(t *testing.T) {
	for text, want := range map[string]string{
		"150000 100000\n": ", of which a cgroup allows 1.5",
		"max 100000\n":    ", not limited by a cgroup",
		"":                "",
	} {
		path := filepath.Join(t.TempDir(), "cpu.max")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := quota(path); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := quota("/no/such"); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func TestComplaintIsTheFirstLineThatSaysSomething(t *testing.T) {
	for text, want := range map[string]string{
		"launch: host b: no\nlaunch: host c: no\n":      "host b: no",
		"\n-----------\nMPI is not well\n-----------\n": "MPI is not well",
		"": "it says nothing",
	} {
		if got := complaint(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
