package programtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Ended is what a finished command left.
type Ended struct {
	Code           int
	Stdout, Stderr string
}

// Lines are those on standard error.
func (e Ended) Lines() []string { return strings.Split(strings.TrimSuffix(e.Stderr, "\n"), "\n") }

// Running is a command under way.
type Running struct {
	Cmd            *exec.Cmd
	Stdout, Stderr Buffer
	Done           chan struct{} // closed when it has ended
	err            error
}

// Start starts a command, with more variables, that the test's end kills.
func Start(t testing.TB, variables []string, command ...string) *Running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	r := &Running{Cmd: exec.CommandContext(ctx, command[0], command[1:]...), Done: make(chan struct{})}
	r.Cmd.Env = append(os.Environ(), variables...)
	r.Cmd.Stdout, r.Cmd.Stderr = &r.Stdout, &r.Stderr
	r.Cmd.WaitDelay = 10 * time.Second
	if err := r.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.err = r.Cmd.Wait(); close(r.Done) }()
	return r
}

// Wait waits for the command's end.
func (r *Running) Wait(t testing.TB) Ended {
	t.Helper()
	<-r.Done
	var exit *exec.ExitError
	if r.err != nil && !errors.As(r.err, &exit) {
		t.Fatalf("%v: %v\n%s", r.Cmd, r.err, r.Stderr.String())
	}
	return Ended{r.Cmd.ProcessState.ExitCode(), r.Stdout.String(), r.Stderr.String()}
}

// Finished runs a command to its end.
func Finished(t testing.TB, variables []string, command ...string) Ended {
	t.Helper()
	return Start(t, variables, command...).Wait(t)
}

// Buffer may be read while a process writes to it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
