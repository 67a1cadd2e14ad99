// Peers measures lockstep's collectives against what else there is on this
// machine: Open MPI, Gloo, and the limits that the simplest C reaches. Everything
// is launched by turns, round after round, so that all rows of a table have seen
// the same moods of the machine; the figures are medians over rounds and
// repetitions.
//
//	make bench-peers
//	peers -launch ./launch [-rounds 5] [-quick] [-only regexp] [-json file] [-write docs/performance.md]
//
// The C programs are compiled when it starts; a peer that cannot be built is
// named and left out. After the tables every ratio that lockstep has set itself is
// printed with what was reached, met or missed.
//
// The same program is a rank of ours (peers rank ...), started by launch or mpirun.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	codeFailure = 1
	codeUsage   = 2
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, args)
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		newFlags(&options{}, os.Stdout).PrintDefaults()
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "peers:", err)
		return codeUsage
	}
	fmt.Fprintln(os.Stderr, "peers:", err)
	return codeFailure
}

func start(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "rank" {
		return runRank(ctx, args[1:])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	r, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	return r.publish(os.Stdout)
}

// usageError is wrong use of the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// options is the command line, checked.
type options struct {
	rounds  int
	quick   bool
	only    *regexp.Regexp // nil for everything
	json    string
	section string
	launch  string
	wait    time.Duration
	work    bool // print what is started

	progress io.Writer
}

func newFlags(o *options, out io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {}
	flags.IntVar(&o.rounds, "rounds", 5, "launch everything `N` times by turns")
	flags.BoolVar(&o.quick, "quick", false, "one round of sizes up to 16 KiB: a trial run, whose figures mean nothing")
	flags.Func("only", "measure only what matches `REGEXP`: scenario, row, detail and size as in \"allreduce/f32/2/ring tcp, group/4 KiB\"", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	flags.StringVar(&o.json, "json", "", "write all figures to `FILE`")
	flags.StringVar(&o.section, "write", "", "put tables and ratios between the markers of the document `FILE`")
	flags.StringVar(&o.launch, "launch", "./launch", "the launcher `PROGRAM` that starts ranks of the ring and of Gloo")
	flags.DurationVar(&o.wait, "wait", 0, "before each launch wait up to `TIME` for a quiet machine")
	flags.BoolVar(&o.work, "x", false, "print what is started")
	return flags
}

func parse(args []string) (*options, error) {
	o := &options{progress: os.Stderr}
	flags := newFlags(o, io.Discard)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, &usageError{err}
	}
	switch {
	case flags.NArg() > 0:
		return nil, &usageError{fmt.Errorf("unexpected argument %q", strings.Join(flags.Args(), " "))}
	case o.rounds < 1:
		return nil, &usageError{fmt.Errorf("-rounds is %d; want 1 or more", o.rounds)}
	}
	if o.quick {
		o.rounds = 1
	}
	return o, nil
}

// effort is how long a launch measures each size.
type effort struct {
	repetitions int
	seconds     float64
}

func (o *options) effort() effort {
	if o.quick {
		return effort{1, 0.002}
	}
	return effort{3, 0.04}
}
