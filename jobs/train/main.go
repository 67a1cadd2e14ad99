// Train fits one of two models on one process or on many, with the same flags
// and the same result.
//
//	./train -steps 200
//	./launch -n 4 ./train -steps 200
//	mpirun -np 4 ./train -steps 200
//
// The default model is a character-level transformer on the text in the program;
// -model mlp classifies handwritten digits. The batch is divided over the ranks.
// Every rank draws the same order of examples from the seed and takes its own part
// of each batch; gradients are averaged over all ranks. With -tp N each N ranks share
// one model, of which each holds a part, and see the same examples; the batch is
// divided over these groups. With -json each step and
// the outcome are one JSON object a line on rank 0. Wrong use is one line and exit
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
	s := newSignals()
	ctx, stop := s.context()
	defer stop()
	err := train(ctx, args, s)
	var usage *usageError
	var sig *signalError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(context.Cause(ctx), &sig), errors.As(err, &sig):
		fmt.Fprintln(os.Stderr, "train: ended by", sig)
		return 128 + int(sig.signal)
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "train:", err)
		return codeUsage
	}
	fmt.Fprintln(os.Stderr, "train:", err)
	return codeFailure
}

// train does everything between the flags and the exit code.
func train(ctx context.Context, args []string, s *signals) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := useEnvironment(); err != nil {
		return &usageError{err}
	}
	t, err := o.task()
	if err != nil {
		return &usageError{err}
	}
	g, err := group.Init(ctx, group.Config{Backend: o.backend})
	if err != nil {
		return initError(err)
	}
	l, err := o.arrange(ctx, t, g)
	if err != nil {
		g.Close() // what it may say comes from the mistake
		return err
	}
	r := newReport(os.Stdout, o, t, g)
	if o.checkpoint != "" {
		r.asked = s.save()
	}
	err = fit(ctx, o, t, l, r)
	if sig := (*signalError)(nil); errors.As(err, &sig) {
		return errors.Join(err, l.close(), g.Close()) // all ranks have ended together
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	if err := errors.Join(l.close(), g.Close()); err != nil {
		return fmt.Errorf("rank %d: close: %w", g.Rank(), err)
	}
	return nil
}

// arrange makes sure that the ranks can do together what they were started for, and
// gives each its part of the model.
func (o options) arrange(ctx context.Context, t *task, g *group.Group) (*layout, error) {
	if err := agree(ctx, o, t, g); err != nil {
		return nil, err
	}
	if err := o.checkRanks(g.Size()); err != nil {
		return nil, err
	}
	l, err := o.layout(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := t.divide(l.shards); err != nil {
		l.close() // what it may say comes from the mistake
		return nil, err
	}
	return l, nil
}

// useEnvironment sets how much is logged, and finds mistakes that would show only
// once the ranks compute.
func useEnvironment() error {
	level, err := env.LookupLog()
	if err != nil {
		return err
	}
	slog.SetLogLoggerLevel(level)
	_, err = env.LookupKernel()
	return err
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
