//go:build !linux

package main

import (
	"syscall"
	"testing"
)

// expectGone fails unless every process has ended and was collected.
func expectGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d is left", pid)
		}
	}
}
