package main

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/hostlist"
)

func TestFlagsAreRead(t *testing.T) {
	program, _ := os.Executable()
	dir := t.TempDir()
	lines, object := filepath.Join(dir, "lines"), filepath.Join(dir, "object")
	write(t, lines, "localhost slots=2\n127.0.0.1\n")
	write(t, object, `{"backend": "mpi", "envs": ["A=1", "B"], "hosts": [{"ssh": "localhost", "ips": ["10.0.0.1"]}]}`)
	four, two := slices.Repeat([]seat{{}}, 4), slices.Repeat([]seat{{host: "localhost"}}, 2)
	for _, c := range []struct {
		name string
		args []string
		want options
	}{
		{"only a program", []string{program}, options{}},
		{"the program's flags are its own", []string{"-n", "4", program, "-n", "2", "--tag-output"},
			options{perHost: 4, seats: four, command: []string{program, "-n", "2", "--tag-output"}}},
		{"a double dash ends the flags", []string{"--tag-output", "--verbose", "--", program, "--", "x"},
			options{tag: true, verbose: true, command: []string{program, "--", "x"}}},
		{"variables keep quotes, dollars and equal signs, and may be empty",
			[]string{"--env", `A=b c"$HOME=`, "--env", "B", "--env", "C=", program},
			options{env: []string{`A=b c"$HOME=`, "B=", "C="}}},
		{"mpi and its arguments in order", []string{"--backend", "mpi", "--mpi-arg", "--bind-to", "--mpi-arg", "none", program},
			options{backend: "mpi", mpiArgs: []string{"--bind-to", "none"}}},
		{"a directory and a port", []string{"--cwd", dir, "--starting-port", "5000", program},
			options{dir: dir, port: 5000}},
		{"input and logs", []string{"--stdin", "0", "--log-dir", "logs", program}, options{input: "0", logDir: "logs"}},
		{"ssh", []string{"--ssh", "/bin/ssh", "--ssh-arg", "-F", "--ssh-arg", "a b", "--ssh-timeout", "5s", program},
			options{ssh: "/bin/ssh", sshArgs: []string{"-F", "a b"}, sshTimeout: 5 * time.Second}},
		{"hosts, each with ranks of its own", []string{"--hosts", "localhost,127.0.0.1", "-n", "2", program},
			options{perHost: 2, hosts: []hostlist.Host{{Name: "localhost"}, {Name: "127.0.0.1"}},
				seats: append(two, slices.Repeat([]seat{{host: "127.0.0.1"}}, 2)...)}},
		{"hosts with numbers of ranks", []string{"--hosts", "localhost:2,127.0.0.1:1", program},
			options{hosts: []hostlist.Host{{Name: "localhost", Slots: 2}, {Name: "127.0.0.1", Slots: 1}}, seats: append(two, seat{host: "127.0.0.1"})}},
		{"a host file of lines", []string{"--hostfile", lines, program},
			options{hostFile: lines, hosts: []hostlist.Host{{Name: "localhost", Slots: 2}, {Name: "127.0.0.1"}}, seats: append(two, seat{host: "127.0.0.1"})}},
		{"a host file's variables come first", []string{"--env", "A=2", "--hostfile", object, program},
			options{hostFile: object, hosts: []hostlist.Host{{Name: "localhost", IPs: []string{"10.0.0.1"}}}, backend: "mpi",
				env: []string{"A=1", "B=", "A=2"}, seats: []seat{{"localhost", []string{"10.0.0.1"}}}}},
		{"a backend given goes before the host file's", []string{"--backend", "ring", "--hostfile", object, program},
			options{hostFile: object, hosts: []hostlist.Host{{Name: "localhost", IPs: []string{"10.0.0.1"}}}, backend: "ring",
				env: []string{"A=1", "B="}, seats: []seat{{"localhost", []string{"10.0.0.1"}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(c.args)
			if err != nil {
				t.Fatal(err)
			}
			c.want.program = program
			c.want.perHost = cmp.Or(c.want.perHost, 1)
			c.want.backend = cmp.Or(c.want.backend, "ring")
			c.want.ssh = cmp.Or(c.want.ssh, "ssh")
			c.want.sshTimeout = cmp.Or(c.want.sshTimeout, 30*time.Second)
			if c.want.seats == nil {
				c.want.seats = []seat{{}}
			}
			if c.want.command == nil {
				c.want.command = []string{program}
			}
			if !reflect.DeepEqual(*got, c.want) {
				t.Errorf("got  %+v\nwant %+v", *got, c.want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWrongUseIsOneLine(t *testing.T) {
	conform.Row(t, "X3", "X14")
	dir := t.TempDir()
	plain, empty, object, foreign := filepath.Join(dir, "plain"), filepath.Join(dir, "empty"), filepath.Join(dir, "object"), filepath.Join(dir, "foreign")
	write(t, plain, "text")
	write(t, empty, "")
	write(t, object, `{"envs": ["A B=1"], "hosts": [{"ssh": "localhost"}]}`)
	write(t, foreign, `{"backend": "jaccl", "hosts": [{"ssh": "localhost"}]}`)
	hostless := filepath.Join(dir, "hostless")
	write(t, hostless, `{"backend": "ring"}`)
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
		{"a host without a name", []string{"--hosts", "a,,b", plain}, "host 2 of \"a,,b\": the name is empty"},
		{"a host that is an option", []string{"--hosts", "-oProxyCommand=touch x", plain}, "begins with -"},
		{"a host that is a shell's line", []string{"--hosts", "a;touch x", plain}, "is no name of a host"},
		{"hosts twice", []string{"--hosts", "a", "--hostfile", object, plain}, "--hosts and --hostfile exclude each other"},
		{"ranks of hosts twice", []string{"-n", "2", "--hosts", "a:2", plain}, "-n and numbers of ranks"},
		{"too many ranks together", []string{"-n", "16384", "--hosts", "a,b", plain}, "32768 ranks; want at most 16384"},
		{"a host file that is not there", []string{"--hostfile", "/no/such", plain}, "--hostfile: open /no/such: no such file"},
		{"a host file that is empty", []string{"--hostfile", empty, plain}, "it is empty"},
		{"a host file without hosts", []string{"--hostfile", hostless, plain}, `the object has no "hosts"`},
		{"a host file's variable", []string{"--hostfile", object, plain}, "envs: \"A B\" is no variable name"},
		{"a host file's backend", []string{"--hostfile", foreign, plain}, "backend is \"jaccl\"; want ring or mpi"},
		{"input to an unknown rank", []string{"--stdin", "1", plain}, `--stdin is "1"; want all, 0 or none`},
		{"logs nowhere", []string{"--log-dir", "", plain}, "--log-dir is empty"},
		{"directory without a name", []string{"--cwd", "", plain}, "--cwd is empty"},
		{"no time for ssh", []string{"--ssh-timeout", "0s", plain}, "--ssh-timeout is 0s"},
		{"no ssh", []string{"--ssh", "/no/such", "--hosts", "a", plain}, "cannot reach other hosts by /no/such: no such file"},
		{"unknown backend", []string{"--backend", "nccl", plain}, `--backend is "nccl"; want ring or mpi`},
		{"variable without a name", []string{"--env", "=1", plain}, `"" is no variable name`},
		{"variable with a space", []string{"--env", "A B=1", plain}, `"A B" is no variable name`},
		{"variable that launch sets", []string{"--env", "LOCKSTEP_RANK=1", plain}, "launch sets LOCKSTEP_RANK itself"},
		{"missing directory", []string{"--cwd", "/no/such", plain}, "--cwd: /no/such on this machine: no such file"},
		{"a file for a directory", []string{"--cwd", plain, plain}, "not a directory"},
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
	for _, flag := range []string{"-n N", "-hosts H", "-hostfile F", "-backend B", "-env K=V", "-cwd D", "-starting-port P", "-stdin R", "-log-dir D",
		"-mpi-arg A", "-ssh S", "-ssh-arg A", "-ssh-timeout T", "-tag-output", "-verbose"} {
		if !strings.Contains(r.stdout, flag) {
			t.Errorf("help lacks %s:\n%s", flag, r.stdout)
		}
	}
}
