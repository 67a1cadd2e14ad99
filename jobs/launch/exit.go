package main

import (
	"fmt"
	"syscall"
)

// exit is how a rank's process ended.
type exit struct {
	rank   int
	status syscall.WaitStatus
}

func (e exit) failed() bool { return e.code() != 0 }

// code is the exit code as a shell gives it: 128 plus the signal for a killed
// process.
func (e exit) code() int {
	if e.status.Signaled() {
		return 128 + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}

func (e exit) String() string {
	if e.status.Signaled() {
		return fmt.Sprintf("rank %d was killed by signal %d (%v)", e.rank, int(e.status.Signal()), e.status.Signal())
	}
	return fmt.Sprintf("rank %d exited with code %d", e.rank, e.code())
}

// cause picks from ranks that failed at about the same time, in the order in
// which they were seen, the one that the others most likely failed of: the first
// that was killed, else the first. Death by SIGPIPE is a consequence, as an exit is.
func cause(failures []exit) exit {
	for _, e := range failures {
		if e.status.Signaled() && e.status.Signal() != syscall.SIGPIPE {
			return e
		}
	}
	return failures[0]
}
