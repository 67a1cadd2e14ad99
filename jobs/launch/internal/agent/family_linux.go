package agent

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes processes whose parents ended, daemons among them, children of this
// one, where they can be found.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// collect takes note of the ends of adopted processes, so that none stays in the
// process table. The ranks are collected by those who wait for them.
func collect(ranks []int) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			time.Sleep(time.Second) // one look for many ends
			for _, p := range family() {
				if p.ended && p.parent == os.Getpid() && !slices.Contains(ranks, p.id) {
					syscall.Wait4(p.id, nil, syscall.WNOHANG, nil)
				}
			}
		}
	}()
}

// endFamily ends every process that descends from this one: by SIGTERM and, after
// grace, by SIGKILL.
func endFamily(grace time.Duration) {
	const step = 10 * time.Millisecond
	started := time.Now()
	asked := map[int]bool{}
	for time.Since(started) < grace+reaping {
		left := false
		for _, p := range family() {
			if p.ended {
				continue
			}
			left = true
			switch {
			case time.Since(started) >= grace:
				syscall.Kill(p.id, syscall.SIGKILL)
			case !asked[p.id]:
				asked[p.id] = true
				syscall.Kill(p.id, syscall.SIGTERM)
			}
		}
		if !left {
			return
		}
		time.Sleep(step)
	}
}

// process is a line of /proc.
type process struct {
	id, parent int
	ended      bool // nobody has collected it yet
}

// family lists the descendants of this process.
func family() []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]process{}
	for _, entry := range entries {
		if id, err := strconv.Atoi(entry.Name()); err == nil {
			if p, ok := look(id); ok {
				children[p.parent] = append(children[p.parent], p)
			}
		}
	}
	found := children[os.Getpid()]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].id]...)
	}
	return found
}

func look(id int) (p process, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return p, false
	}
	// The name before the last bracket may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return p, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return process{id, parent, fields[0][0] == 'Z' || fields[0][0] == 'X'}, err == nil
}
