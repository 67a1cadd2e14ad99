package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// signalError is what a signal ended.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return e.signal.String() }

// request is what signals ask of a training that has a checkpoint. That of the ranks'
// which is greatest counts.
type request uint8

const (
	nothing request = iota
	saveAndGoOn
	saveAndEnd
)

// signals hears SIGINT, SIGTERM and SIGUSR1, which alone never ends a training: a scheduler may
// send it before the first step.
type signals struct {
	heard  chan os.Signal
	saving atomic.Bool
	wanted atomic.Uint32 // a request
}

func newSignals() *signals {
	s := &signals{heard: make(chan os.Signal, 4)}
	signal.Notify(s.heard, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	return s
}

// context returns one that SIGINT ends, and SIGTERM when nothing is to be saved or it comes a
// second time. One more signal ends the process.
func (s *signals) context() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		for {
			select {
			case heard := <-s.heard:
				if s.note(heard) {
					continue
				}
				signal.Stop(s.heard) // the next one ends what does not look at the context
				cancel(&signalError{heard.(syscall.Signal)})
				return
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(s.heard); close(done); cancel(nil) }
}

// note keeps a request to save, and reports whether the signal was one.
func (s *signals) note(heard os.Signal) bool {
	switch {
	case heard == syscall.SIGUSR1:
		s.wanted.CompareAndSwap(uint32(nothing), uint32(saveAndGoOn))
		return true
	case heard == syscall.SIGTERM && s.saving.CompareAndSwap(true, false):
		s.wanted.Store(uint32(saveAndEnd))
		return true
	}
	return false
}

// save makes SIGTERM a request, and returns what takes them.
func (s *signals) save() func() request {
	s.saving.Store(true)
	return func() request { return request(s.wanted.Swap(uint32(nothing))) }
}
