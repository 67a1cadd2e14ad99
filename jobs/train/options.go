package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/program"
)

// options is what the flags say.
type options struct {
	model      string
	data       string // file; empty for what is in the program
	steps      int
	batch      int // examples a step, over all ranks
	rate       float64
	seed       uint64
	tensor     int // ranks that share a model
	accumulate int // of each rank's part of a batch, one after the other
	dtype      string
	backend    string
	json       bool
	quiet      bool

	evalEvery int    // steps; 0 for never
	plot      string // file

	checkpoint string // folder; empty for none
	saveEvery  int    // steps; 0 for at the end alone
	resume     bool
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.StringVar(&o.model, "model", "gpt", "`name` of the model: gpt, a character-level transformer, or mlp, a classifier of images")
	flags.StringVar(&o.data, "data", "", "`file` to learn: UTF-8 text for gpt, MNIST images (IDX) for mlp; default: data in the program")
	flags.IntVar(&o.steps, "steps", 500, "number of optimizer steps")
	flags.IntVar(&o.batch, "batch", 16, "examples a step, over all ranks")
	flags.Float64Var(&o.rate, "lr", 3e-3, "learning rate")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the model and of the order of examples")
	flags.IntVar(&o.tensor, "tp", 1, "`ranks` that each model is divided over (tensor parallelism); the batch is divided over the groups of so many ranks")
	flags.StringVar(&o.dtype, "dtype", "f32", "`type` that the model computes in and gradients travel in: f32, bf16 or f16; parameters stay float32")
	flags.IntVar(&o.accumulate, "accumulate", 1, "`parts` that each rank's part of a batch is computed in, one after the other, which takes less memory; the gradient is that of the batch")
	flags.StringVar(&o.backend, "backend", "any", "`name` of the backend: any, ring or mpi")
	flags.BoolVar(&o.json, "json", false, "one JSON object a line")
	flags.BoolVar(&o.quiet, "quiet", false, "tell the outcome alone")
	flags.IntVar(&o.evalEvery, "eval-every", 0, "`steps` from one evaluation to the next; the last tenth of the text is then held back for them, as one image in ten always is; 0: never")
	flags.StringVar(&o.plot, "plot", "", "draw the loss over steps to `file`, a .png, .svg or .pdf")
	flags.StringVar(&o.checkpoint, "checkpoint", "", "`folder` for the checkpoint, written at the end, on SIGUSR1 and on SIGTERM, which then ends the training")
	flags.IntVar(&o.saveEvery, "save-every", 0, "`steps` from one checkpoint to the next; 0: only the others")
	flags.BoolVar(&o.resume, "resume", false, "go on from the checkpoint in the folder, on any number of ranks; from the beginning if there is none yet")
	err := program.Parse(flags, "train fits a model on one process or on many:", args, func() error { return o.check() })
	return o, err
}

// The most steps and examples a step: their product is a position that an int
// holds.
const (
	maxSteps = 1 << 40
	maxBatch = 1 << 20
)

func (o options) check() error {
	if _, err := parseComputing(o.dtype); err != nil {
		return err
	}
	switch {
	case o.model != "gpt" && o.model != "mlp":
		return fmt.Errorf("-model is %q; want gpt or mlp", o.model)
	case o.steps < 1:
		return fmt.Errorf("-steps is %d; want 1 or more", o.steps)
	case o.steps > maxSteps:
		return fmt.Errorf("-steps is %d; want at most %d", o.steps, maxSteps)
	case o.batch < 1:
		return fmt.Errorf("-batch is %d; want 1 or more", o.batch)
	case o.batch > maxBatch:
		return fmt.Errorf("-batch is %d; want at most %d", o.batch, maxBatch)
	case o.tensor < 1:
		return fmt.Errorf("-tp is %d; want 1 or more", o.tensor)
	case o.accumulate < 1:
		return fmt.Errorf("-accumulate is %d; want 1 or more", o.accumulate)
	case o.evalEvery < 0:
		return fmt.Errorf("-eval-every is %d; want 0 or more", o.evalEvery)
	case o.plot != "" && !slices.Contains(formats, filepath.Ext(o.plot)):
		return fmt.Errorf("-plot is %q; want a file that ends in %s", o.plot, strings.Join(formats, ", "))
	case o.saveEvery < 0:
		return fmt.Errorf("-save-every is %d; want 0 or more", o.saveEvery)
	case o.checkpoint == "" && (o.resume || o.saveEvery > 0):
		return errors.New("-resume and -save-every need -checkpoint")
	case !(o.rate > 0 && o.rate < 1e3):
		return fmt.Errorf("-lr is %v; want a number above 0", o.rate)
	}
	return nil
}

// checkRanks makes sure that every rank gets as large a part of the model and as many
// examples as the others.
func (o options) checkRanks(n int) error {
	if n%o.tensor != 0 {
		return program.WrongUse(fmt.Errorf("-tp is %d, which does not divide %s evenly", o.tensor, program.Ranks(n)))
	}
	groups := n / o.tensor
	if o.batch%groups != 0 {
		who := program.Ranks(n)
		if o.tensor > 1 {
			who = fmt.Sprintf("%d groups of %s", groups, program.Ranks(o.tensor))
		}
		return program.WrongUse(fmt.Errorf("-batch is %d, which %s do not divide evenly", o.batch, who))
	}
	if each := o.batch / groups; each%o.pieces() != 0 {
		return program.WrongUse(fmt.Errorf("-accumulate is %d, which does not divide the %d examples of a rank evenly", o.accumulate, each))
	}
	return nil
}

// pieces are the parts that a rank computes its part of a batch in.
func (o options) pieces() int { return max(1, o.accumulate) }

// task loads the data and makes the model.
func (o options) task() (*task, error) {
	if o.model == "mlp" {
		return newClassifier(o)
	}
	return newLanguageModel(o)
}
