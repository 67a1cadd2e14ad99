package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// job is a set of processes on some hosts that end together.
type job struct {
	options        *options
	hosts          []*host
	spec           agent.Spec // what all hosts are told
	grace          time.Duration
	stdout, stderr *sink
	streams        [][2]*stream // standard output and error of each rank
	logs           []*os.File   // of each rank, if there are logs
	exits          chan exit    // has room for every rank
	lost           chan error   // has room for every host
	broken         chan error
	taken          progress
	signals        chan os.Signal
	working        sync.WaitGroup // one for each host that is connected
	ending
}

// newJob is a job of processes, on hosts: of ranks or, with mpi, one mpirun.
func newJob(o *options, hosts []*host, spec agent.Spec, processes int) *job {
	broken := make(chan error, 1)
	return &job{
		options: o,
		hosts:   hosts,
		spec:    spec,
		grace:   agent.Grace,
		stdout:  &sink{w: os.Stdout, broken: broken},
		stderr:  &sink{w: os.Stderr, broken: broken},
		streams: make([][2]*stream, processes),
		exits:   make(chan exit, processes),
		lost:    make(chan error, len(hosts)),
		broken:  broken,
		taken:   progress{moved: make(chan struct{}, 1)},
		signals: make(chan os.Signal, 4),
		ending:  ending{done: make(chan struct{})},
	}
}

// run runs the job to its end and returns the exit code.
func (j *job) run() int {
	defer j.listen()()
	if err := j.openStreams(); err != nil {
		j.stderr.printf("--log-dir: %v", err)
		return codeFailure
	}
	defer j.closeLogs()
	defer j.leave()
	if err := j.open(); err != nil {
		return j.excuse(err)
	}
	return j.report(j.await())
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

// leave lets go of the agents, which then end whatever is left, and gives them a
// moment for it.
func (j *job) leave() {
	for _, h := range j.hosts {
		h.close()
	}
	select {
	case <-j.done:
	case <-time.After(patience):
		for _, h := range j.hosts {
			h.abandon()
		}
	}
}

func (j *job) say(format string, args ...any) {
	if j.options.verbose {
		j.stderr.printf(format, args...)
	}
}

// name is what messages call a process of the job.
func (j *job) name(h *host, rank int) string {
	switch {
	case j.options.backend == "mpi":
		return "mpirun"
	case h.name == "":
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d on %s", rank, h.name)
}
