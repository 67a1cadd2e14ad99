package main

import (
	"flag"
	"io"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/hostlist"
)

// options is a job as the command line describes it, checked.
type options struct {
	perHost    int // ranks on each host that names no number of its own
	hosts      []hostlist.Host
	hostFile   string
	seats      []seat   // of all ranks
	backend    string   // ring or mpi
	env        []string // NAME=value, for every rank
	dir        string   // absolute where it is one of this machine; empty for launch's own
	port       int      // the first of those at which ranks listen; 0 for any that are free
	input      string   // all, 0 or none: the ranks that read launch's input
	mpiArgs    []string
	ssh        string // the program
	sshArgs    []string
	sshTimeout time.Duration
	logDir     string // empty for no logs
	tag        bool
	verbose    bool
	program    string   // absolute path, or a name to look for on every host
	command    []string // as given: the program and its arguments
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
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return o, o.check(given)
}

func newFlags(o *options) *flag.FlagSet {
	flags := flag.NewFlagSet("launch", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.IntVar(&o.perHost, "n", 1, "start `N` ranks, on each host if there are several")
	flags.Func("hosts", "start ranks on hosts `H`, such as a,b or a:2,b:4 with their numbers of ranks", func(list string) (err error) {
		o.hosts, err = hostlist.Parse(list)
		return err
	})
	flags.StringVar(&o.hostFile, "hostfile", "", "start ranks on the hosts of file `F`: MLX's JSON, or lines such as a slots=2")
	flags.StringVar(&o.backend, "backend", "", "connect the ranks by `B`: ring (the default) or mpi")
	flags.Func("env", "set a variable in every rank, as `K=V`; K alone is empty; may be repeated", func(assignment string) (err error) {
		o.env, err = addEnv(o.env, assignment)
		return err
	})
	flags.StringVar(&o.dir, "cwd", "", "start the ranks in directory `D`")
	flags.IntVar(&o.port, "starting-port", 0, "the ranks meet on port `P` of loopback or, on several hosts, listen at it and those after it (ring; free ones if not given)")
	flags.StringVar(&o.input, "stdin", "", "give launch's input to `R`: all, 0 or none (all if not given; with mpi as mpirun does)")
	flags.StringVar(&o.logDir, "log-dir", "", "also write what each rank prints to a file of its own in directory `D`, such as rank-0.log (with mpi, mpirun's own files)")
	flags.Func("mpi-arg", "pass one argument `A` to mpirun; may be repeated (mpi)", collect(&o.mpiArgs))
	flags.StringVar(&o.ssh, "ssh", "", "reach other hosts by program `S`; "+env.SSH+" or ssh if not given")
	flags.Func("ssh-arg", "pass one argument `A` to ssh; may be repeated", collect(&o.sshArgs))
	flags.DurationVar(&o.sshTimeout, "ssh-timeout", 30*time.Second, "a host that does not answer for time `T` is an error")
	flags.BoolVar(&o.tag, "tag-output", false, "begin every line of output with [rank] (with mpi, mpirun's own form)")
	flags.BoolVar(&o.verbose, "verbose", false, "say on standard error what is started")
	return flags
}

func collect(args *[]string) func(string) error {
	return func(arg string) error {
		*args = append(*args, arg)
		return nil
	}
}

// usage is the help text: one line, then the flags.
func usage() string {
	var text strings.Builder
	flags := newFlags(&options{})
	flags.SetOutput(&text)
	text.WriteString("usage: launch [flags] [--] program [arguments]\n       launch doctor [flags]\n")
	flags.PrintDefaults()
	return text.String()
}
