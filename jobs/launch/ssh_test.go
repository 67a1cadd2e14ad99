package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
)

// awkward are arguments that a shell would make something else of.
var awkward = []string{"", "a b", "it's", `say "no"`, "$HOME", "$(touch /tmp/x)", "`id`", "a;b", "a\nb", "a\\b", "*", "~", "-n", "--", "&|<>", "!", "漢🎈", "\xff\xfe"}

func TestArgumentsReachRanksOnHostsLiterally(t *testing.T) {
	l := needLogin(t)
	var want strings.Builder
	for _, arg := range awkward {
		fmt.Fprintf(&want, "%q\n", arg)
	}
	r := l.run(t, []string{"--hosts", "127.0.0.2"}, append([]string{"quote"}, awkward...)...)
	if r.code != 0 || r.stdout != want.String() || r.stderr != "" {
		t.Errorf("code %d, %q\ngot  %s\nwant %s", r.code, r.stderr, r.stdout, want.String())
	}
	l.nothingLeft(t)
}

func TestVariablesReachRanksOnHosts(t *testing.T) {
	conform.Row(t, "X5")
	l := needLogin(t)
	file := filepath.Join(t.TempDir(), "hosts")
	write(t, file, `{"envs": ["A=1", "D=4"], "hosts": [{"ssh": "host-a"}]}`)
	cmd := launcher(t, l.flags([]string{"--hostfile", file, "--env", `A=b c"$HOME`, "--env", "B", "--env", "C=a\nb;$(id)"}),
		"print", "A", "B", "C", "D", "LOCKSTEP_TIMEOUT", "LOCKSTEP_RANK", "LOCKSTEP_SIZE", "OF_LAUNCH_ALONE")
	cmd.Env = append(cmd.Env, "LOCKSTEP_TIMEOUT=77s", "LOCKSTEP_RANK=5", "OF_LAUNCH_ALONE=1")
	r := finish(t, nil, cmd)
	want := `A true "b c\"$HOME"
B true ""
C true "a\nb;$(id)"
D true "4"
LOCKSTEP_TIMEOUT true "77s"
LOCKSTEP_RANK true "0"
LOCKSTEP_SIZE true "1"
OF_LAUNCH_ALONE false ""
`
	if r.code != 0 || r.stdout != want {
		t.Errorf("code %d, %q\ngot  %s\nwant %s", r.code, r.stderr, r.stdout, want)
	}
}

// What a process list shows of a job is its hosts, and nothing else of it.
func TestNothingOfAJobIsOnTheCommandLineOfSSH(t *testing.T) {
	l := needLogin(t)
	dir := t.TempDir()
	wrapper := filepath.Join(dir, "my ssh")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'"+dir+"/args'\nexec ssh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := launcher(t, l.flags([]string{"--hosts", "127.0.0.2", "--env", "A=hidden"}), "quote", "hidden")
	cmd.Env = append(cmd.Env, "LOCKSTEP_SSH="+wrapper)
	if r := finish(t, nil, cmd); r.code != 0 || r.stdout != "\"hidden\"\n" {
		t.Errorf("code %d, %q, %q", r.code, r.stdout, r.stderr)
	}
	args, err := os.ReadFile(dir + "/args")
	self, _ := os.Executable()
	size, _ := os.Stat(self)
	if err != nil || strings.Contains(string(args), "hidden") || !strings.HasSuffix(string(args), "\n--\n127.0.0.2\n"+remoteScript+strconv.FormatInt(size.Size(), 10)+"\n") {
		t.Errorf("%v; ssh was given %s", err, args)
	}
}

func TestRanksOnSeveralHostsFormAWorld(t *testing.T) {
	conform.Row(t, "X2")
	l := needLogin(t)
	file := filepath.Join(t.TempDir(), "hosts")
	write(t, file, `[{"ssh": "host-a", "ips": ["127.0.0.2", "127.0.1.2"]}, {"ssh": "host-b", "ips": ["127.0.0.3", "127.0.1.3"]},
		{"ssh": "localhost", "ips": ["127.0.0.1", "127.0.1.1"]}]`)
	lines := filepath.Join(t.TempDir(), "lines")
	write(t, lines, "127.0.0.2 slots=2\n127.0.0.3\n")
	for _, c := range []struct {
		name  string
		flags []string
		want  [][]string
		size  int
	}{
		{"a list of MLX's and a port", []string{"--hostfile", file, "--starting-port", "18323"},
			[][]string{{"127.0.0.2:18323", "127.0.1.2:18324"}, {"127.0.0.3:18325", "127.0.1.3:18326"}, {"127.0.0.1:18327", "127.0.1.1:18328"}}, 3},
		{"a list of MLX's and any ports", []string{"--hostfile", file}, nil, 3},
		{"lines", []string{"--hostfile", lines}, nil, 3},
		{"addresses, two ranks each", []string{"--hosts", "127.0.0.2,127.0.0.3", "-n", "2"}, nil, 4},
		{"one of them this machine", []string{"--hosts", "127.0.0.1:1,127.0.0.3:1"}, nil, 2},
		{"one alone", []string{"--hosts", "host-a:3"}, nil, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := l.run(t, c.flags, "sum")
			var want []string
			for rank := range c.size {
				want = append(want, fmt.Sprintf("rank %d of %d: %d", rank, c.size, c.size*(c.size+1)/2))
			}
			got := sorted(r.stdout)
			if r.code != 0 || !slices.Equal(got, want) || r.stderr != "" {
				t.Errorf("code %d, %q; got %q, want %q", r.code, r.stderr, got, want)
			}
			if c.want == nil {
				return
			}
			r = l.run(t, c.flags, "hostfile")
			for line := range strings.Lines(r.stdout) {
				var places [][]string
				if err := json.Unmarshal([]byte(line), &places); err != nil || !reflect.DeepEqual(places, c.want) {
					t.Errorf("%v: got %q, want %q", err, line, c.want)
				}
			}
		})
	}
}

func TestInputReachesRanksOnEveryHost(t *testing.T) {
	conform.Row(t, "X9")
	l := needLogin(t)
	text := strings.Repeat("0123456789abcde\n", 20_000)
	flags := l.flags([]string{"--hosts", "127.0.0.2:2,127.0.0.3", "--log-dir"})
	for stdin, readers := range map[string]int{"all": 3, "0": 1, "none": 0} {
		dir := t.TempDir()
		r := run(t, strings.NewReader(text), append(flags, dir, "--stdin", stdin), "cat")
		for rank := range 3 {
			want := ""
			if rank < readers {
				want = text
			}
			if got, err := os.ReadFile(fmt.Sprintf("%s/rank-%d.log", dir, rank)); err != nil || string(got) != want {
				t.Errorf("--stdin %s: rank %d got %d bytes, %v; want %d", stdin, rank, len(got), err, len(want))
			}
		}
		if r.code != 0 || len(r.stdout) != readers*len(text) {
			t.Errorf("--stdin %s: code %d, %q", stdin, r.code, r.stderr)
		}
	}
}

func TestOutputOfRanksOnHosts(t *testing.T) {
	l := needLogin(t)
	r := l.run(t, []string{"--hosts", "127.0.0.2,127.0.0.3", "--tag-output"}, "lines", "20000")
	var next [2]int
	for text := range strings.Lines(r.stdout) {
		rank := int(text[1] - '0')
		if text != fmt.Sprintf("[%d] %s\n", rank, line(rank, next[rank])) {
			t.Fatalf("torn, lost or foreign line %q", text)
		}
		next[rank]++
	}
	if next != [2]int{20000, 20000} {
		t.Errorf("lines by rank: %v", next)
	}
	r = l.run(t, []string{"--hosts", "host-a"}, "write", "\xff\x01out", "\xe6err")
	if r.stdout != "\xff\x01out" || r.stderr != "\xe6err" {
		t.Errorf("got %q and %q", r.stdout, r.stderr)
	}
}

func TestWhereRanksOnHostsRun(t *testing.T) {
	conform.Row(t, "X14")
	l := needLogin(t)
	dir := filepath.Join(t.TempDir(), `a "b" $c;`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	own, _ := os.Getwd()
	for _, c := range []struct {
		name   string
		flags  []string
		code   int
		stdout string
		stderr string
	}{
		{"launch's own directory", nil, 0, own + "\n", ""},
		{"one that was asked for", []string{"--cwd", dir}, 0, dir + "\n", ""},
		{"one that is not there", []string{"--cwd", "/no/such"}, 2, "", "launch: host 127.0.0.2: --cwd: /no/such: no such file or directory\n"},
		{"one that is a file", []string{"--cwd", l.path("known")}, 2, "", "launch: host 127.0.0.2: --cwd: " + l.path("known") + ": not a directory\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.run(t, append([]string{"--hosts", "127.0.0.2"}, c.flags...), "pwd")
			if r.code != c.code || r.stdout != c.stdout || r.stderr != c.stderr {
				t.Errorf("code %d, %q, %q; want %d, %q, %q", r.code, r.stdout, r.stderr, c.code, c.stdout, c.stderr)
			}
		})
	}
}

func TestProgramsAreLookedForOnTheirHosts(t *testing.T) {
	l := needLogin(t)
	for _, c := range []struct {
		name, program string
		code          int
		want          string
	}{
		{"a name", "true", 0, ""},
		{"a name that is nowhere", "no-such-program", 2, "launch: host 127.0.0.2: cannot run no-such-program: executable file not found in $PATH\n"},
		{"a path that is not there", "/no/such", 2, "launch: host 127.0.0.2: cannot run /no/such: no such file or directory\n"},
		{"a path that is no program", l.path("known"), 2, "launch: host 127.0.0.2: cannot run " + l.path("known") + ": permission denied\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := launcher(t, nil)
			cmd.Args = append(append(cmd.Args[:1], l.flags([]string{"--hosts", "127.0.0.2"})...), c.program)
			if r := finish(t, nil, cmd); r.code != c.code || r.stderr != c.want {
				t.Errorf("code %d, %q; want %d, %q", r.code, r.stderr, c.code, c.want)
			}
		})
	}
	l.nothingLeft(t)
}

func TestDoctorLooksAtHosts(t *testing.T) {
	l := needLogin(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", dir, ".", "../doctor").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		hosts string
		code  int
		want  []string
	}{
		{"127.0.0.2,127.0.0.3", 0, []string{"ok host 127.0.0.2: a program starts in ", "ok host 127.0.0.3: a program starts in ", "ok hosts 2 ranks on ring sum 4 bytes and 1 MiB"}},
		{"127.0.0.2,nobody", 1, []string{"ok host 127.0.0.2: a program starts in ", "FAIL host nobody: host nobody: ssh: connect to host 127.0.0.1 port 1: Connection refused", "FAIL hosts no test of all hosts"}},
	} {
		cmd := exec.Command(filepath.Join(dir, "launch"), append([]string{"doctor"}, l.flags([]string{"--hosts", c.hosts})...)...)
		out, _ := cmd.CombinedOutput()
		text := strings.Join(strings.Fields(string(out)), " ")
		for _, want := range c.want {
			if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(text, want) {
				t.Errorf("%s: code %d, %s; want %d, %q", c.hosts, cmd.ProcessState.ExitCode(), out, c.code, want)
			}
		}
	}
}
