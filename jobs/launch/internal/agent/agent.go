// Package agent runs the ranks of a job that share a host. Launch starts one agent
// on each host, its own included, and talks to it over the agent's standard input
// and output; an agent whose input ends, because launch or the connection died,
// ends its ranks and everything that they started.
package agent

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Word is the first argument of a process that is to be an agent.
const Word = "--lockstep-agent"

const (
	// Grace is the time between the request to end and the end by force.
	Grace = 2 * time.Second
	// Beat is how often launch gives a sign of life over a network.
	Beat = 5 * time.Second
	// silence is how long an agent behind a network waits for one.
	silence = 8 * Beat
)

// Main is an agent's whole life. The arguments are those after Word: none for an
// agent beside launch; for one that came over a network, the folder that holds the
// program it runs from, which is removed.
func Main(args []string) int {
	// The kernel ends ranks with the thread that started them.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	// A write to a reader that has left is then an error and not the agent's end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	adopt()
	patience := time.Duration(0)
	if len(args) > 0 {
		patience = silence
		removeOwn(args[0])
	}
	a := &agent{talk: newTalk(os.Stdout), done: make(chan struct{})}
	return a.serve(receive(os.Stdin), signals, patience)
}

// removeOwn removes the folder that ssh's script made, and nothing else.
func removeOwn(dir string) {
	if strings.HasPrefix(filepath.Base(dir), "lockstep-") {
		os.Remove(filepath.Join(dir, "agent"))
		os.Remove(dir)
	}
}

// agent is the ranks of one host.
type agent struct {
	*talk
	ranks   []*rank
	input   *chunk // the piece that launch fills next
	working sync.WaitGroup
	kept    []func()      // ends of what is kept for the ranks
	done    chan struct{} // closed when nothing is left
	started bool
}

// receive decodes orders until there is none.
func receive(in io.Reader) <-chan Order {
	orders := make(chan Order)
	go func() {
		defer close(orders)
		dec := gob.NewDecoder(in)
		for {
			var o Order
			if dec.Decode(&o) != nil {
				return
			}
			orders <- o
		}
	}()
	return orders
}

// serve obeys orders until the ranks are over, launch has left or a signal ends it.
// patience bounds the time between two orders; 0 is any time.
func (a *agent) serve(orders <-chan Order, signals <-chan os.Signal, patience time.Duration) int {
	defer a.release()
	clock := time.NewTimer(time.Hour)
	for {
		var late <-chan time.Time
		if patience > 0 {
			clock.Reset(patience)
			late = clock.C
		}
		select {
		case o, ok := <-orders:
			if !ok {
				return a.abandon()
			}
			a.obey(o)
		case <-late:
			return a.abandon()
		case <-signals:
			return a.abandon()
		case <-a.done:
			return 0
		}
	}
}

func (a *agent) obey(o Order) {
	switch {
	case o.Reserve != nil:
		a.reserve(o.Reserve)
	case o.Start != nil && !a.started:
		a.started = true
		if err := a.start(o.Start); err != nil {
			a.signal(syscall.SIGKILL)
			a.report(Report{Kind: Failed, Text: err.Error(), Usage: isUsage(err)})
		}
		go a.finish()
	case a.input != nil && o.Input != nil:
		a.input.fill(o.Input)
		go a.acknowledge(a.input)
		a.input = a.input.next
	case a.input != nil && o.EndInput:
		a.input.end()
		a.input = nil
	case o.Signal != 0:
		a.signal(o.Signal)
	}
}

// acknowledge reports that a rank has the piece c, or that none will.
func (a *agent) acknowledge(c *chunk) {
	select {
	case <-c.taken:
		a.report(Report{Kind: Taken})
	case <-a.done:
	}
}

func (a *agent) reserve(addresses []string) {
	var kept []string
	for _, address := range addresses {
		got, err := reserve(address)
		if err != nil {
			a.report(Report{Kind: Failed, Text: fmt.Sprintf("no place for a rank to listen at: %v", err)})
			return
		}
		kept = append(kept, got)
	}
	a.report(Report{Kind: Reserved, Addresses: kept})
}

// finish waits for the end of the ranks, then ends what they left behind.
func (a *agent) finish() {
	a.working.Wait()
	endFamily(Grace)
	a.report(Report{Kind: Over})
	close(a.done)
}

// abandon ends everything without launch.
func (a *agent) abandon() int {
	a.signal(syscall.SIGTERM)
	if !a.within(Grace) {
		a.signal(syscall.SIGKILL)
		endFamily(0)
		a.within(reaping)
	}
	return 1
}

// within reports whether all is over before limit has passed.
func (a *agent) within(limit time.Duration) bool {
	if !a.started {
		return true
	}
	select {
	case <-a.done:
		return true
	case <-time.After(limit):
		return false
	}
}

func (a *agent) signal(s syscall.Signal) {
	for _, r := range a.ranks {
		r.signal(s)
	}
}

func (a *agent) release() {
	for _, end := range a.kept {
		end()
	}
}

// isUsage tells a program or folder that is not there, which is wrong use, from a
// system that cannot start more.
func isUsage(err error) bool {
	return errors.Is(err, syscall.ENOEXEC) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) ||
		errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
}
