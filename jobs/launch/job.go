package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// runRing runs the ranks of o on this machine and returns the exit code.
func runRing(o *options) int {
	runtime.LockOSThread() // see start
	defer runtime.UnlockOSThread()
	j := newJob(o)
	defer j.listen()()
	m, err := arrange(o.port)
	if err != nil {
		j.stderr.printf("%v", err)
		return codeFailure
	}
	defer m.end()
	if err := j.start(m); err != nil {
		j.signal(syscall.SIGKILL)
		j.working.Wait()
		j.stderr.printf("%v", err)
		return startCode(err)
	}
	return j.report(j.await())
}

// job is a set of ranks that end together.
type job struct {
	options        *options
	ranks          []*rank
	stdout, stderr *sink
	exits          chan exit // has room for every rank
	broken         chan error
	signals        chan os.Signal
	working        sync.WaitGroup // one for each rank that is not over
	ending
}

func newJob(o *options) *job {
	broken := make(chan error, 1)
	return &job{
		options: o,
		stdout:  &sink{w: os.Stdout, broken: broken},
		stderr:  &sink{w: os.Stderr, broken: broken},
		exits:   make(chan exit, o.ranks),
		broken:  broken,
		signals: make(chan os.Signal, 4),
	}
}

// listen takes over the signals that end a job; under nohup SIGHUP is none. The
// function it returns gives them back.
func (j *job) listen() (stop func()) {
	signal.Notify(j.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(j.signals, syscall.SIGHUP)
	}
	// A write to a reader that has left is then an error and not launch's end.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	// Reading the terminal from the background is then an error and not a halt.
	signal.Ignore(syscall.SIGTTIN)
	return func() {
		signal.Stop(j.signals)
		signal.Stop(pipe)
		signal.Reset(syscall.SIGTTIN)
	}
}

// start starts every rank, and what carries its input and output. After an error
// some ranks may run.
func (j *job) start(m *meeting) error {
	input := newChunk()
	j.say("%d ranks on the ring, meeting at %s", j.options.ranks, m.coordinator)
	for number := range j.options.ranks {
		cmd := j.command(number, m)
		r, err := start(number, cmd, j.tag(number), j.stdout, j.stderr)
		if err != nil {
			return fmt.Errorf("starting rank %d: %w", number, err)
		}
		j.ranks = append(j.ranks, r)
		j.working.Go(func() { r.wait(input, j.exits) })
		j.say("rank %d is process %d: %s", number, cmd.Process.Pid, strings.Join(cmd.Args, " "))
	}
	j.done = make(chan struct{})
	go func() { j.working.Wait(); close(j.done) }()
	go spread(os.Stdin, input, j.done)
	return nil
}

func (j *job) command(number int, m *meeting) *exec.Cmd {
	return &exec.Cmd{
		Path: j.options.path,
		Args: j.options.command,
		Dir:  j.options.dir,
		Env:  append(jobEnviron(j.options, os.Environ()), rankEnviron(number, j.options.ranks, m)...),
	}
}

func (j *job) tag(number int) string {
	if !j.options.tag {
		return ""
	}
	return fmt.Sprintf("[%d] ", number)
}

func (j *job) say(format string, args ...any) {
	if j.options.verbose {
		j.stderr.printf(format, args...)
	}
}

// startCode tells a program that cannot be run, which is wrong use, from a system
// that cannot start more.
func startCode(err error) int {
	if errors.Is(err, syscall.ENOEXEC) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return codeUsage
	}
	return codeFailure
}
