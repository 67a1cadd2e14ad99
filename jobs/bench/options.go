package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
)

// options is what the flags say.
type options struct {
	only       []operation
	sizes      []int // bytes; empty for those of each operation
	dtypes     []dtype.Type
	ranks      []int         // how many ranks take part, a round for each; empty for all of them
	iterations int           // 0: as many as fill the time
	time       time.Duration // for each row
	local      int           // ranks in this process; 0 for what started it
	backend    string
	json, plot string // files
	quiet      bool
}

// The most of each that a run takes.
const (
	maxIterations = 1_000_000
	maxTime       = time.Hour
	maxLocal      = 256
	maxListed     = 64
)

func newFlags(o *options) *flag.FlagSet {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Func("only", "`names` of what to measure, by commas: "+strings.Join(names(catalogue), ", ")+" (default all)", o.setOnly)
	flags.Func("sizes", "`list` of bytes by commas, such as 8,1KiB,16MiB, or 1KiB:16MiB for each power of two times the first (default: some for each operation)", o.setSizes)
	flags.Func("dtypes", "`names` of element types, by commas (default float32)", o.setDtypes)
	flags.Func("ranks", "`numbers` of ranks that take part, by commas, a round for each (default all)", o.setRanks)
	flags.IntVar(&o.iterations, "iterations", 0, "calls that are timed in each row, `N` (default: as many as fill -time)")
	flags.DurationVar(&o.time, "time", 250*time.Millisecond, "how long about each row is measured")
	flags.IntVar(&o.local, "local", 0, "`N` ranks as goroutines of this process, over the ring")
	flags.StringVar(&o.backend, "backend", "any", "`name` of the backend: any, ring or mpi")
	flags.StringVar(&o.json, "json", "", "write all figures to `file`")
	flags.StringVar(&o.plot, "plot", "", "draw latency and bandwidth over size to `file`, a .png, .svg or .pdf")
	flags.BoolVar(&o.quiet, "quiet", false, "no progress bar where standard error is a terminal")
	return flags
}

func parse(args []string) (options, error) {
	o := options{only: catalogue, dtypes: []dtype.Type{dtype.Float32}}
	flags := newFlags(&o)
	err := program.Parse(flags, "bench measures messages and collectives on what started it:", args, func() error {
		set := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
		return o.check(set)
	})
	return o, err
}

func (o *options) setOnly(text string) error {
	o.only = nil
	return each(text, func(word string) error {
		at := slices.IndexFunc(catalogue, func(op operation) bool { return op.name == word })
		if at < 0 {
			return fmt.Errorf("no operation %q; want some of %s", word, strings.Join(names(catalogue), ", "))
		}
		o.only = append(o.only, catalogue[at])
		return nil
	})
}

func (o *options) setSizes(text string) (err error) {
	o.sizes, err = parseSizes(text)
	return err
}

func (o *options) setDtypes(text string) error {
	o.dtypes = nil
	return each(text, func(word string) error {
		t, err := dtype.Parse(word)
		o.dtypes = append(o.dtypes, t)
		return err
	})
}

func (o *options) setRanks(text string) error {
	o.ranks = nil
	return each(text, func(word string) error {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of ranks; want 1 or more", word)
		}
		o.ranks = append(o.ranks, n)
		return nil
	})
}

// each hands on the words of a list by commas, of which none comes twice.
func each(text string, add func(word string) error) error {
	words := strings.Split(text, ",")
	if len(words) > maxListed {
		return fmt.Errorf("%d entries; want at most %d", len(words), maxListed)
	}
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			return fmt.Errorf("%q twice", word)
		}
		if err := add(word); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) check(set map[string]bool) error {
	switch {
	case set["iterations"] && set["time"]:
		return errors.New("-iterations and -time: want one of them")
	case set["iterations"] && (o.iterations < 1 || o.iterations > maxIterations):
		return fmt.Errorf("-iterations is %d; want 1 to %d", o.iterations, maxIterations)
	case o.time <= 0 || o.time > maxTime:
		return fmt.Errorf("-time is %v; want more than 0 and at most %v", o.time, maxTime)
	case set["local"] && (o.local < 1 || o.local > maxLocal):
		return fmt.Errorf("-local is %d; want 1 to %d", o.local, maxLocal)
	case set["local"] && set["backend"]:
		return errors.New("-local and -backend: want one of them")
	case o.plot != "" && !slices.Contains(formats, filepath.Ext(o.plot)):
		return fmt.Errorf("-plot is %q; want a file that ends in %s", o.plot, strings.Join(formats, ", "))
	case o.plot != "" && !slices.ContainsFunc(o.only, func(op operation) bool { return !op.empty() }):
		return errors.New("-plot draws over sizes, and nothing that is measured has any")
	case o.plot != "" && o.plot == o.json:
		return fmt.Errorf("-json and -plot are both %q", o.plot)
	}
	if found := env.Launchers(); set["local"] && len(found) > 0 {
		return fmt.Errorf("-local is for a process on its own, but a launcher started this one: %s", strings.Join(found, ", "))
	}
	for _, t := range o.dtypes {
		for _, n := range o.sizes {
			if n%t.Size() != 0 {
				return fmt.Errorf("-sizes has %d, which is no multiple of the %d bytes of %v", n, t.Size(), t)
			}
		}
	}
	return nil
}

// sizesOf are the sizes in bytes that an operation is measured with.
func (o *options) sizesOf(op operation, t dtype.Type) []int {
	if op.empty() {
		return []int{0}
	}
	if len(o.sizes) > 0 {
		return o.sizes
	}
	return slices.DeleteFunc(slices.Clone(op.sizes), func(n int) bool { return n%t.Size() != 0 })
}

// dtypesOf are the element types that an operation is measured with.
func (o *options) dtypesOf(op operation) []dtype.Type {
	if op.empty() {
		return o.dtypes[:1]
	}
	return o.dtypes
}

// settings is what must be the same on all ranks.
func (o *options) settings() string {
	return fmt.Sprintf("-only %s -sizes %d -dtypes %v -ranks %d -iterations %d -time %v", strings.Join(names(o.only), ","), o.sizes, o.dtypes, o.ranks, o.iterations, o.time)
}
