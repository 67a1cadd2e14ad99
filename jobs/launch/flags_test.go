package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestFlagsAreRead(t *testing.T) {
	program, _ := os.Executable()
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want options
	}{
		{"only a program", []string{program},
			options{ranks: 1, backend: "ring", command: []string{program}}},
		{"the program's flags are its own", []string{"-n", "4", program, "-n", "2", "--tag-output"},
			options{ranks: 4, backend: "ring", command: []string{program, "-n", "2", "--tag-output"}}},
		{"a double dash ends the flags", []string{"--tag-output", "--verbose", "--", program, "--", "x"},
			options{ranks: 1, backend: "ring", tag: true, verbose: true, command: []string{program, "--", "x"}}},
		{"variables keep quotes, dollars and equal signs, and may be empty",
			[]string{"--env", `A=b c"$HOME=`, "--env", "B", "--env", "C=", program},
			options{ranks: 1, backend: "ring", env: []string{`A=b c"$HOME=`, "B=", "C="}, command: []string{program}}},
		{"mpi and its arguments in order", []string{"--backend", "mpi", "--mpi-arg", "--bind-to", "--mpi-arg", "none", program},
			options{ranks: 1, backend: "mpi", mpiArgs: []string{"--bind-to", "none"}, command: []string{program}}},
		{"a directory and a port", []string{"--cwd", dir, "--starting-port", "5000", program},
			options{ranks: 1, backend: "ring", dir: dir, port: 5000, command: []string{program}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(c.args)
			if err != nil {
				t.Fatal(err)
			}
			c.want.path = program
			if !reflect.DeepEqual(*got, c.want) {
				t.Errorf("got  %+v\nwant %+v", *got, c.want)
			}
		})
	}
}

func TestWrongUseIsOneLine(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no arguments", nil, "no program to run"},
		{"no command", []string{"-n", "2"}, "no program to run"},
		{"no ranks", []string{"-n", "0", plain}, "-n is 0; want 1 to 16384 ranks"},
		{"absurdly many ranks", []string{"-n", "100000000", plain}, "-n is 100000000; want 1 to 16384 ranks"},
		{"negative ranks", []string{"-n", "-3", plain}, "-n is -3"},
		{"ranks in words", []string{"-n", "two", plain}, `invalid value "two" for flag -n`},
		{"unknown flag", []string{"--host", "a", plain}, "not defined: -host"},
		{"unknown backend", []string{"--backend", "nccl", plain}, `--backend is "nccl"; want ring or mpi`},
		{"variable without a name", []string{"--env", "=1", plain}, `"" is no variable name`},
		{"variable with a space", []string{"--env", "A B=1", plain}, `"A B" is no variable name`},
		{"variable that launch sets", []string{"--env", "LOCKSTEP_RANK=1", plain}, "launch sets LOCKSTEP_RANK itself"},
		{"missing directory", []string{"--cwd", "/no/such", plain}, "--cwd: /no/such on this machine: no such file"},
		{"a file for a directory", []string{"--cwd", plain, plain}, "is not a directory"},
		{"port too large", []string{"--starting-port", "70000", plain}, "--starting-port is 70000; want a port from 1 to 65535"},
		{"port zero", []string{"--starting-port", "0", plain}, "--starting-port is 0"},
		{"port with mpi", []string{"--backend", "mpi", "--starting-port", "5000", plain}, "needs --backend ring"},
		{"mpi argument without mpi", []string{"--mpi-arg", "-v", plain}, "needs --backend mpi"},
		{"program that is not there", []string{"./no-such-program"}, "cannot run ./no-such-program: no such file"},
		{"program that is not on PATH", []string{"no-such-program"}, "cannot run no-such-program: executable file not found"},
		{"program that may not run", []string{plain}, "cannot run " + plain + ": permission denied"},
		{"program that is a directory", []string{filepath.Dir(plain)}, "is a directory"},
		{"program that is none", []string{broken}, "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := launcher(t, nil)
			cmd.Args = append(cmd.Args[:1], c.args...)
			r := finish(t, nil, cmd)
			if r.code != 2 || r.stdout != "" {
				t.Errorf("code %d, standard output %q; want 2 and nothing", r.code, r.stdout)
			}
			if !strings.HasPrefix(r.stderr, "launch: ") || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, c.want) {
				t.Errorf("standard error %q; want one line with %q", r.stderr, c.want)
			}
		})
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	cmd := launcher(t, nil)
	cmd.Args = append(cmd.Args[:1], "--help")
	r := finish(t, nil, cmd)
	if r.code != 0 || r.stderr != "" {
		t.Errorf("code %d, standard error %q; want 0 and nothing", r.code, r.stderr)
	}
	for _, flag := range []string{"-n N", "-backend B", "-env K=V", "-cwd D", "-starting-port P", "-mpi-arg A", "-tag-output", "-verbose"} {
		if !strings.Contains(r.stdout, flag) {
			t.Errorf("help lacks %s:\n%s", flag, r.stdout)
		}
	}
}
