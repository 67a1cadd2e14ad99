// Generate writes text with a model that train has saved, on one process or with the model
// divided over many.
//
//	./generate -checkpoint run -prompt "The rays of light" -n 200
//	./launch -n 2 ./generate -checkpoint run -prompt "The rays of light"
//
// Rank 0 draws each character and gives it to the others, so the same seed gives the same
// text on any number of ranks, unless rounding happens to decide. Wrong use is one line and exit code 2; a
// failure is one line and exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "generate:", err)
		return 2
	}
	if err := generate(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		return 1
	}
	return 0
}

// options is what the flags say.
type options struct {
	checkpoint, prompt, backend string
	bits, n                     int
	seed                        uint64
	temperature                 float64
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.checkpoint, "checkpoint", "", "`folder` of a checkpoint of train")
	flags.StringVar(&o.prompt, "prompt", "", "`text` to go on from, in letters that the model has seen")
	flags.IntVar(&o.bits, "bits", 0, "`bits` of each weight, 4 or 8; default: as they are")
	flags.IntVar(&o.n, "n", 200, "number of characters to write")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of what is drawn")
	flags.Float64Var(&o.temperature, "temperature", 0.8, "0 takes what is most likely; more is more surprising")
	flags.StringVar(&o.backend, "backend", "any", "`name` of the backend: any, ring or mpi")
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		fmt.Println("generate writes text with a trained model:")
		flags.PrintDefaults()
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.checkpoint == "":
		err = errors.New("-checkpoint is missing")
	case o.prompt == "":
		err = errors.New("-prompt is missing")
	case o.bits != 0 && o.bits != 4 && o.bits != 8:
		err = fmt.Errorf("-bits is %d; want 4 or 8", o.bits)
	case o.n < 0 || o.n > 1<<24:
		err = fmt.Errorf("-n is %d; want 0 to %d", o.n, 1<<24)
	case !(o.temperature >= 0 && o.temperature < 1e3):
		err = fmt.Errorf("-temperature is %v; want 0 or more", o.temperature)
	}
	return o, err
}

// generate does everything between the flags and the exit code.
func generate(ctx context.Context, o options, out io.Writer) error {
	g, err := group.Init(ctx, group.Config{Backend: o.backend})
	if err != nil {
		return err
	}
	if err := write(ctx, o, out, g); err != nil {
		return fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	return g.Close()
}
