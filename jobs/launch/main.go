// Launch starts a program as several ranks, on this machine or on hosts that ssh
// reaches, and ends them together.
//
//	./launch -n 4 ./train -steps 200
//	./launch --hosts a:2,b:2 ./train -steps 200
//	./launch -n 2 --backend mpi ./train
//	./launch doctor
//
// On the ring every rank gets its number, the number of ranks, where they meet and a
// shared secret through LOCKSTEP_ variables; variables by which another launcher
// announced a world are taken away. With mpi, mpirun does that in its own way.
//
// On every host, this machine included, an agent runs the ranks: launch itself, which
// it sends over ssh to hosts that are not this one. Nothing of launch has to be
// installed there; the program has to lie at the same path. The agent ends with launch
// or with the connection, however they end, and takes along every process that the
// ranks started, daemons included.
//
// What the ranks write passes unchanged, standard output and standard error
// apart. What launch reads goes to every rank. When a rank fails, the others get
// SIGTERM and, two seconds later, SIGKILL; launch exits with the failed rank's
// code, or 128 plus the signal that killed it, and names the rank. SIGINT, SIGTERM,
// SIGHUP and SIGQUIT are passed on and end the job. What a rank leaves behind in its
// process group ends with it. Wrong use is one line and exit code 2.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

const (
	codeFailure = 1
	codeUsage   = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == agent.Word {
		os.Exit(agent.Main(os.Args[2:]))
	}
	os.Exit(launch(os.Args[1:]))
}

// launch runs one job and returns the exit code. Messages are one line each on
// standard error.
func launch(args []string) int {
	if len(args) > 0 && args[0] == "doctor" {
		return becomeDoctor(args[1:])
	}
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage())
		return 0
	}
	if err != nil {
		return fail(err, codeUsage)
	}
	if o.backend == "mpi" {
		return runMPI(o)
	}
	return runRing(o)
}

func fail(err error, code int) int {
	fmt.Fprintln(os.Stderr, "launch:", err)
	return code
}

// runRing runs the ranks of o and returns the exit code.
func runRing(o *options) int {
	hosts := hostsOf(o.seats)
	if err := o.findAddresses(hosts); err != nil {
		return fail(err, codeUsage)
	}
	spec := o.spec()
	spec.Size = len(o.seats)
	for rank := range o.seats {
		if o.input != "none" && (rank == 0 || o.input != "0") {
			spec.Input = append(spec.Input, rank)
		}
	}
	return newJob(o, hosts, spec, len(o.seats)).run()
}

// spec is what all processes of o are told.
func (o *options) spec() agent.Spec {
	home, _ := os.Getwd() // where it is gone, the ranks start where the agent is
	return agent.Spec{
		Program: o.program,
		Args:    o.command,
		Dir:     o.dir,
		Home:    home,
		Env:     append(slices.Clone(o.env), env.Backend+"="+o.backend),
	}
}
