package main

import (
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// spread reads in to its end, for the ranks of hosts. It reads ahead of the fastest
// rank by one piece and no more. spread ends when done is closed; a read in progress cannot be called back and
// ends with the process.
func spread(in io.Reader, hosts []*host, taken *progress, done <-chan struct{}) {
	for sent := int64(0); ; {
		buf := make([]byte, 64<<10)
		n, err := in.Read(buf)
		if n > 0 {
			sent++
			if !pass(hosts, agent.Order{Input: buf[:n]}, done) || !taken.await(sent, done) {
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

// progress is how many pieces of input the fastest rank has.
type progress struct {
	pieces atomic.Int64
	moved  chan struct{} // has room for one
}

// reach notes that a host's fastest rank has so many.
func (p *progress) reach(pieces int64) {
	for before := p.pieces.Load(); before < pieces && !p.pieces.CompareAndSwap(before, pieces); before = p.pieces.Load() {
	}
	select {
	case p.moved <- struct{}{}:
	default:
	}
}

func (p *progress) await(pieces int64, done <-chan struct{}) bool {
	for p.pieces.Load() < pieces {
		select {
		case <-p.moved:
		case <-done:
			return false
		}
	}
	return true
}

// readInput passes launch's input on to the ranks that read it.
func (j *job) readInput() {
	readers := slices.DeleteFunc(slices.Clone(j.hosts), func(h *host) bool {
		return !slices.ContainsFunc(h.ranks, func(rank int) bool { return slices.Contains(j.spec.Input, rank) })
	})
	if len(readers) > 0 {
		go spread(os.Stdin, readers, &j.taken, j.done)
	}
}
