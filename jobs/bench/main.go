// Bench measures messages and collectives on whatever started it, and prints a
// table in the layout of the OSU micro-benchmarks on rank 0.
//
//	./launch -n 2 ./bench
//	mpirun -np 2 ./bench -only latency,bandwidth
//	./bench -local 4 -only all_reduce -sizes 16KiB,128KiB -dtypes float32,bfloat16
//
// Messages go between the first and the last rank, back and forth for latency and in
// windows for bandwidth. Before each call of a collective all ranks meet in a barrier,
// and a call takes as long as the slowest rank says. Every operation is first run
// once on known values and its result checked. Rank 0 decides how many calls are timed.
//
// A size is the bytes that a rank gives: to all_reduce and broadcast, for its own part in
// all_gather and gather, and for each rank's part in reduce_scatter, all_to_all and
// scatter. A percentile of a bandwidth is what so many percent of the windows reach.
//
// -json FILE and -plot FILE keep the figures. Wrong use is one line and exit
// code 2; a failure is one line and exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/internal/env"
)

const (
	codeFailure = 1
	codeUsage   = 2
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := withSignals()
	defer stop()
	err := bench(ctx, args)
	var usage *usageError
	var sig *signalError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(context.Cause(ctx), &sig):
		fmt.Fprintln(os.Stderr, "bench: ended by", sig)
		return 128 + int(sig.signal)
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "bench:", err)
		return codeUsage
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	return codeFailure
}

// bench does everything between the flags and the exit code.
func bench(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	level, err := env.LookupLog()
	if err != nil {
		return &usageError{err}
	}
	slog.SetLogLoggerLevel(level)
	if o.local > 0 {
		return local(ctx, o)
	}
	g, err := group.Init(ctx, group.Config{Backend: o.backend})
	if err != nil {
		return initError(err)
	}
	if err := measureAll(ctx, o, g, os.Stdout); err != nil {
		return err
	}
	if err := g.Close(); err != nil {
		return fmt.Errorf("rank %d: close: %w", g.Rank(), err)
	}
	return nil
}

// initError tells a wrong environment, which is wrong use, from a world that did
// not come together.
func initError(err error) error {
	var peer *group.PeerError
	var broken *group.BrokenError
	var network *net.OpError
	if errors.As(err, &peer) || errors.As(err, &broken) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return &usageError{err}
}

// usageError is a mistake of whoever started the program.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return e.signal.String() }

// withSignals returns a context that SIGINT or SIGTERM ends. A second signal ends
// the process.
func withSignals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // a second one ends what does not look at the context
			cancel(&signalError{s.(syscall.Signal)})
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}
