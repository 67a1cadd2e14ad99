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
	"fmt"
	"os"

	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/internal/program"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	s := &signals{}
	ctx, stop := s.context()
	defer stop()
	return program.End(ctx, os.Stderr, "train", train(ctx, args, s))
}

// train does everything between the flags and the exit code.
func train(ctx context.Context, args []string, s *signals) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := program.UseEnvironment(); err != nil {
		return err
	}
	t, err := o.task()
	if err != nil {
		return program.WrongUse(err)
	}
	g, err := program.Init(ctx, o.backend)
	if err != nil {
		return err
	}
	l, err := o.arrange(ctx, t, g)
	if err != nil {
		g.Close() // what it may say comes from the mistake
		return err
	}
	r := newReport(os.Stdout, o, t, g)
	defer r.close()
	if err := program.Together(ctx, g, r.open()); err != nil {
		l.close()
		g.Close() // what they may say comes from the mistake
		return err
	}
	if o.checkpoint != "" {
		r.asked = s.save()
	}
	err = fit(ctx, o, t, l, r)
	if sig := (*program.SignalError)(nil); errors.As(err, &sig) {
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
	if err := program.Agree(ctx, g, o.settings(t)); err != nil {
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
