// Generate writes text with a model that train has saved, on one process or with the model
// divided over many.
//
//	./generate -checkpoint run -prompt "The rays of light" -n 200
//	./launch -n 2 ./generate -checkpoint run -prompt "The rays of light"
//
// Rank 0 draws each character and gives it to the others, so the same seed gives the same
// text on any number of ranks, unless rounding happens to decide. The model sees the last letters, as
// many as its context has at most and half as many at least. Wrong use is one line and exit code 2; a
// failure is one line and exit code 1.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/internal/program"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := program.UntilSignal(nil)
	defer stop()
	o, err := parse(args)
	if err == nil {
		err = generate(ctx, o, os.Stdout, os.Stderr)
	}
	return program.End(ctx, os.Stderr, "generate", err)
}

// generate does everything between the flags and the exit code.
func generate(ctx context.Context, o options, out, log io.Writer) error {
	if err := program.UseEnvironment(); err != nil {
		return err
	}
	g, err := program.Init(ctx, o.backend)
	if err != nil {
		return err
	}
	if err := program.Agree(ctx, g, o.settings()); err != nil {
		return err
	}
	if err := write(ctx, o, out, log, g); err != nil {
		return fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	if err := g.Close(); err != nil {
		return fmt.Errorf("rank %d: close: %w", g.Rank(), err)
	}
	return nil
}
