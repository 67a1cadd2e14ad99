package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/lockstep-go/lockstep/internal/program"
)

// options is what the flags say.
type options struct {
	checkpoint, prompt, backend string
	bits, n                     int
	seed                        uint64
	temperature                 float64
	cache, quiet                bool
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.StringVar(&o.checkpoint, "checkpoint", "", "`folder` of a checkpoint of train")
	flags.StringVar(&o.prompt, "prompt", "", "`text` to go on from, in letters that the model has seen")
	flags.IntVar(&o.bits, "bits", 0, "`bits` of each weight, 4 or 8; default: as they are")
	flags.IntVar(&o.n, "n", 200, "number of characters to write")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of what is drawn")
	flags.Float64Var(&o.temperature, "temperature", 0.8, "0 takes what is most likely; more is more surprising")
	flags.BoolVar(&o.cache, "cache", true, "keep what attention needs of earlier letters; without it the same text takes longer")
	flags.BoolVar(&o.quiet, "quiet", false, "do not say at the end on standard error how long it took")
	flags.StringVar(&o.backend, "backend", "any", "`name` of the backend: any, ring or mpi")
	err := program.Parse(flags, "generate writes text with a trained model:", args, func() error { return o.check() })
	return o, err
}

func (o options) check() error {
	switch {
	case o.checkpoint == "":
		return errors.New("-checkpoint is missing")
	case o.prompt == "":
		return errors.New("-prompt is missing or empty")
	case o.bits != 0 && o.bits != 4 && o.bits != 8:
		return fmt.Errorf("-bits is %d; want 4 or 8", o.bits)
	case o.n < 0 || o.n > 1<<24:
		return fmt.Errorf("-n is %d; want 0 to %d", o.n, 1<<24)
	case !(o.temperature >= 0 && o.temperature < 1e3):
		return fmt.Errorf("-temperature is %v; want 0 or more", o.temperature)
	}
	return nil
}

// settings is what must be the same on all ranks.
func (o options) settings() string {
	return fmt.Sprintf("-prompt %q -n %d -bits %d -seed %d -temperature %v -cache=%t", o.prompt, o.n, o.bits, o.seed, o.temperature, o.cache)
}
