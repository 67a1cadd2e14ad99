package main

import (
	"fmt"
	"syscall"
	"testing"
)

func exited(rank, code int) exit {
	return exit{fmt.Sprint("rank ", rank), syscall.WaitStatus(code << 8)}
}

func killed(rank int, s syscall.Signal) exit {
	return exit{fmt.Sprint("rank ", rank), syscall.WaitStatus(s)}
}

func TestExitInCodeAndWords(t *testing.T) {
	for _, c := range []struct {
		exit exit
		code int
		text string
	}{
		{exited(0, 0), 0, "rank 0 exited with code 0"},
		{exited(1, 3), 3, "rank 1 exited with code 3"},
		{killed(1, syscall.SIGKILL), 137, "rank 1 was killed by signal 9 (killed)"},
		{killed(2, syscall.SIGSEGV), 139, "rank 2 was killed by signal 11 (segmentation fault)"},
	} {
		if c.exit.code() != c.code || c.exit.String() != c.text {
			t.Errorf("got %d, %q; want %d, %q", c.exit.code(), c.exit, c.code, c.text)
		}
	}
}

func TestCauseIsTheRankThatASignalEndedElseTheFirst(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures []exit
		rank     int
	}{
		{"one alone", []exit{exited(2, 3)}, 2},
		{"the first of two exits", []exit{exited(1, 3), exited(0, 1)}, 1},
		{"a killed rank seen after its victims", []exit{exited(0, 1), exited(2, 1), killed(1, syscall.SIGKILL)}, 1},
		{"a rank that caught its signal, seen after its victims", []exit{exited(0, 1), exited(1, 143)}, 1},
		{"a caught broken pipe is no cause", []exit{exited(0, 3), exited(1, 141)}, 0},
		{"an exit code beyond the signals", []exit{exited(0, 3), exited(1, 255)}, 0},
		{"a broken pipe is no cause", []exit{exited(0, 3), killed(1, syscall.SIGPIPE)}, 0},
		{"the first of two killed", []exit{exited(0, 1), killed(2, syscall.SIGABRT), killed(1, syscall.SIGKILL)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cause(c.failures); got.name != fmt.Sprint("rank ", c.rank) {
				t.Errorf("got %v, want rank %d", got, c.rank)
			}
		})
	}
}
