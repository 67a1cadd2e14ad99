package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// SignalError is what a signal ended.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return e.Signal.String() }

// UntilSignal returns a context that SIGINT or SIGTERM ends, with a SignalError as its cause. One
// more signal ends the process, in case it does not look at the context. take, which may be nil, is
// asked about these signals and others first, and reports whether it has dealt with one. The
// function that is returned ends the listening.
func UntilSignal(take func(os.Signal) bool, others ...os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	heard, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(heard, append([]os.Signal{syscall.SIGINT, syscall.SIGTERM}, others...)...)
	go func() {
		for {
			select {
			case s := <-heard:
				if take != nil && take(s) {
					continue
				}
				signal.Stop(heard)
				cancel(&SignalError{s.(syscall.Signal)})
				return
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(heard); close(done); cancel(nil) }
}
