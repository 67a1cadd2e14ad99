package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestHostsThatCannotBeReached(t *testing.T) {
	l := needLogin(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	_, silentPort, _ := net.SplitHostPort(silent.Addr().String())
	for _, c := range []struct {
		name     string
		hosts    string
		settings []string
		want     []string // what each line holds
	}{
		{"nobody listens", "nobody", nil, []string{"host nobody: ssh: connect to host 127.0.0.1 port 1: Connection refused"}},
		{"one of two, and this machine", "nobody,host-a,localhost", []string{}, []string{"host nobody: ssh: connect to host"}},
		{"a name that means nothing", "nothing.invalid", nil, []string{"host nothing.invalid: ssh: Could not resolve hostname nothing.invalid"}},
		{"two", "nobody,nothing.invalid", nil, []string{"host nobody: ", "host nothing.invalid: "}},
		{"a key that is not let in", "host-a", []string{"IdentityFile=" + l.path("stranger")}, []string{"host host-a: "}},
		{"a host that is not known", "host-a", []string{"UserKnownHostsFile=" + l.path("empty")}, []string{"host host-a: Host key verification failed."}},
		{"a host that accepts and says nothing", "host-a", []string{"Port=" + silentPort}, []string{"host host-a: "}},
		{"a login that hangs", "host-a", []string{"IdentityFile=" + l.path("stuck")}, []string{"host host-a: no answer in 3s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "hosts")
			var text strings.Builder
			for i, host := range strings.Split(c.hosts, ",") {
				fmt.Fprintf(&text, `,{"ssh": %q, "ips": ["127.0.0.%d"]}`, host, i+1)
			}
			write(t, file, "["+text.String()[1:]+"]")
			// ssh takes the first identity that is let in: those of a setting replace the file's.
			flags := l.flags([]string{"--hostfile", file, "--ssh-timeout", "3s"}, c.settings...)
			if len(c.settings) > 0 {
				flags = slices.Replace(flags, 0, 4, "--ssh-arg", "-F", "--ssh-arg", l.bare(t))
			}
			began := time.Now()
			r := run(t, nil, flags, "each", "0", "0", "0")
			if time.Since(began) > 30*time.Second {
				t.Errorf("it took %v", time.Since(began))
			}
			lines := slices.Collect(strings.Lines(r.stderr))
			if r.code != 1 || r.stdout != "" || len(lines) != len(c.want) {
				t.Fatalf("code %d, %q, %q; want 1 and %d lines", r.code, r.stdout, r.stderr, len(c.want))
			}
			for i, want := range c.want {
				if !strings.HasPrefix(lines[i], "launch: "+want) {
					t.Errorf("line %q; want %q", lines[i], want)
				}
			}
		})
	}
}

// bare is the ssh settings without those that tests replace.
func (l *login) bare(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(l.path("config"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "IdentityFile") {
			kept.WriteString(line)
		}
	}
	write(t, path, kept.String()+"IdentityFile "+l.path("good-if-asked")+"\n")
	return path
}

func TestALoginThatPrintsDoesNoHarm(t *testing.T) {
	l := needLogin(t)
	flags := []string{"--ssh-arg", "-F", "--ssh-arg", l.bare(t), "--ssh-arg", "-i", "--ssh-arg", l.path("noisy"), "--hosts", "127.0.0.2"}
	r := run(t, strings.NewReader("in"), flags, "cat")
	if r.code != 0 || r.stdout != "in" || r.stderr != "" {
		t.Errorf("code %d, %q, %q; want 0, in, nothing", r.code, r.stdout, r.stderr)
	}
}

func TestCodeOfARankOnAHost(t *testing.T) {
	l := needLogin(t)
	t.Cleanup(func() { l.nothingLeft(t) })
	for _, c := range []struct {
		name string
		each []string
		code int
		line string
	}{
		{"all well", []string{"0", "0", "0"}, 0, ""},
		{"one exits 3, the others would sleep", []string{"sleep", "sleep", "3"}, 3, "rank 2 on 127.0.0.3 exited with code 3"},
		{"one is killed", []string{"stubborn", "kill", "daemon"}, 137, "rank 1 on 127.0.0.2 was killed by signal 9 (killed)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := l.run(t, []string{"--hosts", "127.0.0.2:2,127.0.0.3"}, append([]string{"each"}, c.each...)...)
			expectEnd(t, r, c.code, c.line)
		})
	}
}

// onHosts starts a job of six ranks on two hosts and this machine, which have nine
// processes.
func (l *login) onHosts(t *testing.T) *running {
	t.Helper()
	flags := l.flags([]string{"--hosts", "127.0.0.1:2,127.0.0.2:2,127.0.0.3:2"})
	return begin(t, launcher(t, flags, "each", "sleep", "daemon", "sleep", "daemon", "parent", "stubborn"), 9)
}

func TestEndsOfAJobOnHosts(t *testing.T) {
	conform.Row(t, "X8")
	l := needLogin(t)
	for _, c := range []struct {
		name string
		end  func(*testing.T, *running)
		code int
		want string
	}{
		{"an interrupt", func(_ *testing.T, j *running) { j.Process.Signal(syscall.SIGINT) }, 130, "launch: ended by signal 2 (interrupt)\n"},
		{"launch is told to end", func(_ *testing.T, j *running) { j.Process.Signal(syscall.SIGTERM) }, 143, "launch: ended by signal 15 (terminated)\n"},
		{"launch is killed", func(_ *testing.T, j *running) { j.Process.Kill() }, -1, ""},
		{"a connection is killed", func(t *testing.T, j *running) { syscall.Kill(childOf(t, j.Process.Pid, "127.0.0.3"), syscall.SIGKILL) },
			1, "launch: host 127.0.0.3: the connection was lost; ranks 4, 5 ran there\n"},
		{"a rank is killed", func(_ *testing.T, j *running) { syscall.Kill(j.ranks[4], syscall.SIGKILL) }, 137, "launch: rank 4 on 127.0.0.3 was killed by signal 9 (killed)\n"},
		{"an agent is killed", func(t *testing.T, j *running) { syscall.Kill(parentOf(t, j.ranks[2]), syscall.SIGKILL) },
			1, "launch: host 127.0.0.2: the connection was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := l.onHosts(t)
			c.end(t, j)
			j.Wait()
			if code := j.ProcessState.ExitCode(); code != c.code || !strings.HasPrefix(j.stderr.String(), c.want) {
				t.Errorf("code %d, standard error %q; want %d, %q", code, j.stderr.String(), c.code, c.want)
			}
			if c.name == "an agent is killed" { // nobody is left then who ends daemons
				j.pids = []int{j.ranks[2], j.ranks[3]}
			}
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && slices.ContainsFunc(j.pids, alive); {
				time.Sleep(10 * time.Millisecond)
			}
			expectGone(t, j.pids)
		})
	}
}
