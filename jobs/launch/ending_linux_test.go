package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// expectGone fails unless every process has ended; one that nobody collected has.
func expectGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.TrimSpace(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return state[0] != 'Z' && state[0] != 'X'
}

func TestKillingLaunchEndsTheRanks(t *testing.T) {
	j := startRunning(t, 7, "sleep", "stubborn", "parent", "daemon", "stop")
	dir := strings.TrimPrefix(j.Env[len(j.Env)-1], "TMPDIR=")
	j.Process.Kill()
	j.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if !slices.ContainsFunc(j.pids, alive) {
			return
		}
	}
	expectGone(t, j.pids)
}

// childOf is the child of a process that has a certain argument.
func childOf(t *testing.T, parent int, arg string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || parentOf(t, pid) != parent {
			continue
		}
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if slices.Contains(strings.Split(string(args), "\x00"), arg) {
			return pid
		}
	}
	t.Fatalf("process %d has no child with %q", parent, arg)
	return 0
}

// parentOf is the parent of a process, 0 if the process has ended.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
