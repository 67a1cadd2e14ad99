package main

import (
	"fmt"
	"syscall"
)

// exit is how a process of the job ended.
type exit struct {
	name   string // such as rank 3 on b
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
		return fmt.Sprintf("%s was killed by signal %d (%v)", e.name, int(e.status.Signal()), e.status.Signal())
	}
	return fmt.Sprintf("%s exited with code %d", e.name, e.code())
}

// bySignal reports whether a signal ended the program, at once or after it was
// caught. Death by SIGPIPE is a consequence, as an exit is, and does not count.
func (e exit) bySignal() bool {
	const signals = 64
	signal := e.code() - 128
	return signal > 0 && signal <= signals && signal != int(syscall.SIGPIPE)
}

// cause picks from ranks that failed at about the same time, in the order in
// which they were seen, the one that the others most likely failed of: the first
// that a signal ended, else the first.
func cause(failures []exit) exit {
	for _, e := range failures {
		if e.bySignal() {
			return e
		}
	}
	return failures[0]
}
