package main

import (
	"io"
	"os"
	"slices"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// spread reads in to its end, for the ranks of hosts. It reads ahead of the fastest
// rank by one piece and no more; taken gets how many pieces a host's fastest rank
// has. spread ends when done is closed; a read in progress cannot be called back and
// ends with the process.
func spread(in io.Reader, hosts []*host, taken <-chan int, done <-chan struct{}) {
	for sent := 0; ; {
		buf := make([]byte, 64<<10)
		n, err := in.Read(buf)
		if n > 0 {
			sent++
			if !pass(hosts, agent.Order{Input: buf[:n]}, done) || !await(taken, sent, done) {
				return
			}
		}
		if err != nil {
			pass(hosts, agent.Order{EndInput: true}, done)
			return
		}
	}
}

func pass(hosts []*host, o agent.Order, done <-chan struct{}) bool {
	for _, h := range hosts {
		select {
		case h.pieces <- o:
		case <-h.closed:
		case <-done:
			return false
		}
	}
	return true
}

func await(taken <-chan int, sent int, done <-chan struct{}) bool {
	for {
		select {
		case n := <-taken:
			if n >= sent {
				return true
			}
		case <-done:
			return false
		}
	}
}

// readInput passes launch's input on to the ranks that read it.
func (j *job) readInput() {
	readers := slices.DeleteFunc(slices.Clone(j.hosts), func(h *host) bool {
		return !slices.ContainsFunc(h.ranks, func(rank int) bool { return slices.Contains(j.spec.Input, rank) })
	})
	if len(readers) > 0 {
		go spread(os.Stdin, readers, j.taken, j.done)
	}
}
