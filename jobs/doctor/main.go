// Doctor says whether programs of many ranks can run here, one line for each check.
//
//	./launch doctor
//	./launch doctor --hosts a,b
//	./launch doctor --hostfile hosts.json
//
// It is a program of its own, beside launch, because it has the backends that other
// programs have: where a library of Open MPI's is missing, launch still starts and
// tells so. With hosts it logs in to each and has ranks on all of them sum; for that
// doctor has to lie at the same path there. Flags are launch's. The exit code is 0 if
// all works, 1 if something does not, and 2 for wrong use.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/internal/hostlist"
	"github.com/lockstep-go/lockstep/internal/program"
)

// rankFlag makes a process a rank of a test.
const rankFlag = "-rank-of-test"

func main() {
	ctx := context.Background()
	if len(os.Args) == 2 && os.Args[1] == rankFlag {
		os.Exit(program.End(ctx, os.Stderr, "doctor", beRank(ctx)))
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(program.End(ctx, os.Stderr, "doctor", err))
	}
	r := &report{w: os.Stdout}
	o.examine(r)
	os.Exit(r.code())
}

// options are what doctor was asked for: flags of launch, most of which it hands on.
type options struct {
	hosts    []hostlist.Host
	hostFlag []string // --hosts or --hostfile as given
	ssh      []string // flags that lead to hosts, as given
	port     []string // --starting-port as given
	timeout  time.Duration
	launch   string // the path of launch
	self     string
}

func parse(args []string) (*options, error) {
	o := &options{}
	return o, program.Parse(newFlags(o), "usage: launch doctor [flags]", args, o.check)
}

func newFlags(o *options) *flag.FlagSet {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.Func("hosts", "look at hosts `H`, such as a,b", func(list string) (err error) {
		o.hosts, err = hostlist.Parse(list)
		o.hostFlag = append(o.hostFlag, "--hosts", list)
		return err
	})
	flags.Func("hostfile", "look at the hosts of file `F`", func(path string) error {
		file, err := hostlist.Read(path)
		o.hosts = file.Hosts
		o.hostFlag = append(o.hostFlag, "--hostfile", path)
		return err
	})
	for _, f := range []struct {
		name, usage string
		to          *[]string
	}{
		{"ssh", "reach other hosts by program `S`", &o.ssh},
		{"ssh-arg", "pass one argument `A` to ssh; may be repeated", &o.ssh},
		{"ssh-timeout", "a host that does not answer for time `T` has failed", &o.ssh},
		{"starting-port", "the ranks on hosts listen at port `P` and those after it", &o.port},
	} {
		flags.Func(f.name, f.usage, func(value string) error {
			*f.to = append(*f.to, "--"+f.name, value)
			return nil
		})
	}
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "a test that takes longer than `T` has failed")
	return flags
}

// check also finds launch, which lies beside doctor.
func (o *options) check() error {
	if len(o.hostFlag) > 2 {
		return errors.New("give --hosts or --hostfile, and once")
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout is %v; want a time above zero", o.timeout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.self, o.launch = self, filepath.Join(filepath.Dir(self), "launch")
	if _, err := os.Stat(o.launch); err != nil {
		return fmt.Errorf("doctor needs the program launch beside it; make builds both: %w", err)
	}
	return nil
}
