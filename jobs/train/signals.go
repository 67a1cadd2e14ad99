package main

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/lockstep-go/lockstep/internal/program"
)

// request is what signals ask of a training that has a checkpoint. That of the ranks'
// which is greatest counts.
type request uint8

const (
	nothing request = iota
	saveAndGoOn
	saveAndEnd
)

// signals keeps what SIGTERM and SIGUSR1 ask for. SIGUSR1 alone never ends a training: a
// scheduler may send it before the first step.
type signals struct {
	saving atomic.Bool
	wanted atomic.Uint32 // a request
}

// context returns one that SIGINT ends, and SIGTERM when nothing is to be saved or it comes a
// second time.
func (s *signals) context() (context.Context, func()) {
	return program.UntilSignal(s.note, syscall.SIGUSR1)
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
