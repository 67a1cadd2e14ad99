package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

// options is a job as the command line describes it, checked.
type options struct {
	ranks   int
	backend string   // ring or mpi
	env     []string // NAME=value, for every rank
	dir     string   // absolute; empty for launch's own
	port    int      // of the coordinator; 0 for any that is free
	mpiArgs []string
	tag     bool
	verbose bool
	path    string   // absolute path of the program
	command []string // as given: the program and its arguments
}

// parse reads the arguments after the program's name. Every error is wrong use
// and one line long; flag.ErrHelp asks for the usage text.
func parse(args []string) (*options, error) {
	o := &options{}
	flags := newFlags(o)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	o.command = flags.Args()
	return o, o.check(flags)
}

func newFlags(o *options) *flag.FlagSet {
	flags := flag.NewFlagSet("launch", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.IntVar(&o.ranks, "n", 1, "start `N` ranks")
	flags.StringVar(&o.backend, "backend", "ring", "connect the ranks by `B`: ring or mpi")
	flags.Func("env", "set a variable in every rank, as `K=V`; K alone is empty; may be repeated", o.addEnv)
	flags.StringVar(&o.dir, "cwd", "", "start the ranks in directory `D`")
	flags.IntVar(&o.port, "starting-port", 0, "the ranks meet on port `P` of loopback (ring; a free one if not given)")
	flags.Func("mpi-arg", "pass one argument `A` to mpirun; may be repeated (mpi)", func(arg string) error {
		o.mpiArgs = append(o.mpiArgs, arg)
		return nil
	})
	flags.BoolVar(&o.tag, "tag-output", false, "begin every line of output with [rank] (with mpi, mpirun's own form)")
	flags.BoolVar(&o.verbose, "verbose", false, "say on standard error what is started")
	return flags
}

// usage is the help text: one line, then the flags.
func usage() string {
	var text strings.Builder
	flags := newFlags(&options{})
	flags.SetOutput(&text)
	text.WriteString("usage: launch [flags] [--] program [arguments]\n")
	flags.PrintDefaults()
	return text.String()
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	ownVariables = []string{env.Rank, env.Size, env.Coordinator, env.HostFile, env.TokenFile, env.Backend}
)

func (o *options) addEnv(assignment string) error {
	name, value, _ := strings.Cut(assignment, "=")
	if !variableName.MatchString(name) {
		return fmt.Errorf("%q is no variable name; want letters, digits and _, not a digit first", name)
	}
	if slices.Contains(ownVariables, name) {
		return fmt.Errorf("launch sets %s itself", name)
	}
	o.env = append(o.env, name+"="+value)
	return nil
}

// mostRanks is more than one machine can run; it catches a slip of the finger
// before its memory goes into it.
const mostRanks = 1 << 14

func (o *options) check(flags *flag.FlagSet) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case o.ranks < 1 || o.ranks > mostRanks:
		return fmt.Errorf("-n is %d; want 1 to %d ranks", o.ranks, mostRanks)
	case o.backend != "ring" && o.backend != "mpi":
		return fmt.Errorf("--backend is %q; want ring or mpi", o.backend)
	case given["mpi-arg"] && o.backend != "mpi":
		return fmt.Errorf("--mpi-arg needs --backend mpi")
	case given["starting-port"] && o.backend != "ring":
		return fmt.Errorf("--starting-port needs --backend ring")
	case given["starting-port"] && (o.port < 1 || o.port > 65535):
		return fmt.Errorf("--starting-port is %d; want a port from 1 to 65535", o.port)
	case len(o.command) == 0 || o.command[0] == "":
		return fmt.Errorf("no program to run; want launch -n %d program arguments", o.ranks)
	}
	if given["cwd"] {
		if err := o.checkDir(); err != nil {
			return err
		}
	}
	return o.findProgram()
}

func (o *options) checkDir() error {
	info, err := os.Stat(o.dir)
	if err != nil {
		return fmt.Errorf("--cwd: %s on this machine: %w", o.dir, reason(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("--cwd: %s on this machine is not a directory", o.dir)
	}
	o.dir, err = filepath.Abs(o.dir)
	return err
}

// findProgram looks from launch's own directory, so that --cwd moves the data
// and not the program.
func (o *options) findProgram() error {
	path, err := exec.LookPath(o.command[0])
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", o.command[0], reason(err))
	}
	o.path, err = filepath.Abs(path)
	return err
}

// reason is err without the path and the system call, which the message names in
// the user's words.
func reason(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}
