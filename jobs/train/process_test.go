//go:build !race

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// The tests of this file and its neighbours run real processes. They are left
// out under the race detector, which would not see into them.

func TestMain(m *testing.M) {
	for _, v := range env.Variables {
		os.Unsetenv(v.Name) // a world around the tests is not the programs' world
	}
	code := m.Run()
	if dir := programs.dir; dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// programs is where train and launch are, built when first needed.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

// program returns the path of train or launch.
func program(t *testing.T, name string) string {
	t.Helper()
	programs.once.Do(func() { programs.dir, programs.err = build() })
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return filepath.Join(programs.dir, name)
}

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "train"); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags", buildTags, "-o", dir, ".", "../launch")
	if output, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, output)
	}
	return dir, nil
}

// ended is what a finished command left.
type ended struct {
	code           int
	stdout, stderr string
}

// lines are those on standard error.
func (e ended) lines() []string { return strings.Split(strings.TrimSuffix(e.stderr, "\n"), "\n") }

// start starts a command that the test's end kills.
func start(t *testing.T, variables, command []string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	r := &running{cmd: exec.CommandContext(ctx, command[0], command[1:]...), done: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), variables...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = 10 * time.Second
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.err = r.cmd.Wait(); close(r.done) }()
	return r
}

// running is a command under way.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr buffer
	done           chan struct{} // closed when it has ended, with err
	err            error
}

func (r *running) wait(t *testing.T) ended {
	t.Helper()
	<-r.done
	var exit *exec.ExitError
	if r.err != nil && !errors.As(r.err, &exit) {
		t.Fatalf("%v: %v\n%s", r.cmd, r.err, r.stderr.String())
	}
	return ended{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
}

// buffer may be read while a process writes to it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// launched is the command line of a program as n ranks on the ring.
func launched(t *testing.T, n int, command ...string) []string {
	return append([]string{program(t, "launch"), "-n", fmt.Sprint(n), "--"}, command...)
}

// finished runs a command to its end.
func finished(t *testing.T, variables []string, command ...string) ended {
	t.Helper()
	return start(t, variables, command).wait(t)
}
