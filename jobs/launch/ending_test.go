package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestCodeIsThatOfTheRankThatFailed(t *testing.T) {
	conform.Row(t, "X6", "X7")
	for _, c := range []struct {
		name string
		each []string
		code int
		line string
	}{
		{"all well", []string{"0", "0", "0"}, 0, ""},
		{"one exits 3, the others end well", []string{"0", "3", "0", "0"}, 3, "rank 1 exited with code 3"},
		{"one exits 1, the others would sleep", []string{"1", "sleep", "sleep"}, 1, "rank 0 exited with code 1"},
		{"one exits 3, another ignores the request to end", []string{"stubborn", "3"}, 3, "rank 1 exited with code 3"},
		{"one is killed", []string{"sleep", "kill", "sleep"}, 137, "rank 1 was killed by signal 9 (killed)"},
		{"one has left early and well, another fails", []string{"0", "sleep", "4"}, 4, "rank 2 exited with code 4"},
		{"one has a stubborn child", []string{"parent", "5", "parent"}, 5, "rank 1 exited with code 5"},
		{"one has a daemon that ignores the request to end", []string{"daemon", "6"}, 6, "rank 1 exited with code 6"},
		{"one is stopped", []string{"stop", "7"}, 7, "rank 1 exited with code 7"},
		{"all leave a daemon behind", []string{"daemon-orphan", "daemon-orphan"}, 0, ""},
		{"all leave a stubborn child behind", []string{"orphan", "orphan"}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, nil, []string{"-n", fmt.Sprint(len(c.each))}, append([]string{"each"}, c.each...)...)
			expectEnd(t, r, c.code, c.line)
		})
	}
}

// expectEnd checks how a job of the role each ended, with a line of launch's or without
// one, and that nothing of it is left.
func expectEnd(t *testing.T, r result, code int, line string) {
	t.Helper()
	want := ""
	if line != "" {
		want = "launch: " + line + "\n"
	}
	if r.code != code || r.stderr != want {
		t.Errorf("code %d, standard error %q; want %d, %q", r.code, r.stderr, code, want)
	}
	expectGone(t, processes(r.stdout))
}

// running is a launcher whose ranks have all announced themselves.
type running struct {
	*exec.Cmd
	stderr strings.Builder
	pids   []int       // that have to end
	all    []int       // that have announced themselves
	ranks  map[int]int // the process of each rank
}

func startRunning(t *testing.T, pids int, each ...string) *running {
	t.Helper()
	return begin(t, launcher(t, []string{"-n", fmt.Sprint(len(each))}, append([]string{"each"}, each...)...), pids)
}

func begin(t *testing.T, cmd *exec.Cmd, pids int) *running {
	t.Helper()
	j := &running{Cmd: cmd, ranks: map[int]int{}}
	stdin, _ := j.StdinPipe()
	t.Cleanup(func() { stdin.Close() })
	read, write := io.Pipe()
	j.Stdout, j.Stderr = write, &j.stderr
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Process.Kill()
		for _, pid := range j.all {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	// A job that does not come to be ends, and with it what is read here.
	late := time.AfterFunc(time.Minute, func() { write.CloseWithError(errors.New("the ranks do not announce themselves")) })
	lines := bufio.NewScanner(read)
	for len(j.pids) < pids && lines.Scan() {
		var pid, rank int
		if _, err := fmt.Sscanf(lines.Text(), "process %d of rank %d", &pid, &rank); err == nil {
			j.pids = append(j.pids, pid)
			j.ranks[rank] = pid // a rank announces itself after its children
		}
	}
	late.Stop()
	if len(j.pids) < pids {
		t.Fatalf("%d processes of %d have announced themselves, %v", len(j.pids), pids, lines.Err())
	}
	j.all = j.pids
	go io.Copy(io.Discard, read)
	return j
}

// processes are the numbers that ranks announced.
func processes(text string) []int {
	var pids []int
	for line := range strings.Lines(text) {
		var pid int
		if _, err := fmt.Sscanf(line, "process %d", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestSignalsToLaunchEndTheJob(t *testing.T) {
	conform.Row(t, "X8")
	// Where the tests run under nohup, launch would inherit that and rightly go on.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUps) })
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		code   int
		each   []string
		pids   int
	}{
		{"interrupt", syscall.SIGINT, 130, []string{"sleep", "sleep"}, 2},
		{"terminate", syscall.SIGTERM, 143, []string{"sleep", "0", "sleep"}, 2},
		// Ranks in Go then say where they are before launch speaks.
		{"quit", syscall.SIGQUIT, 131, []string{"sleep"}, 1},
		{"hang up", syscall.SIGHUP, 129, []string{"sleep"}, 1},
		{"interrupt with children who ignore it", syscall.SIGINT, 130, []string{"parent", "stubborn"}, 3},
		{"interrupt with daemons who ignore it", syscall.SIGINT, 130, []string{"daemon", "daemon"}, 4},
		{"interrupt with a rank that is stopped", syscall.SIGINT, 130, []string{"stop", "sleep"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := startRunning(t, c.pids, c.each...)
			j.Process.Signal(c.signal)
			j.Wait()
			want := fmt.Sprintf("launch: ended by signal %d (%v)\n", int(c.signal), c.signal)
			if code := j.ProcessState.ExitCode(); code != c.code || !strings.HasSuffix(j.stderr.String(), want) {
				t.Errorf("code %d, standard error %q; want %d, %q", code, j.stderr.String(), c.code, want)
			}
			expectGone(t, j.pids)
		})
	}
}

func TestKillingARankFromOutsideEndsTheJob(t *testing.T) {
	j := startRunning(t, 3, "sleep", "sleep", "sleep")
	syscall.Kill(j.pids[0], syscall.SIGKILL)
	j.Wait()
	if code := j.ProcessState.ExitCode(); code != 137 || !strings.Contains(j.stderr.String(), "was killed by signal 9 (killed)\n") {
		t.Errorf("code %d, standard error %q; want 137 and the signal", code, j.stderr.String())
	}
	expectGone(t, j.pids)
}
