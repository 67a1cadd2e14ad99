// Launch starts a program as several ranks on this machine, and ends them
// together.
//
//	./launch -n 4 ./train -steps 200
//	./launch -n 2 --backend mpi ./train
//
// On the ring every rank gets its number, the number of ranks, a meeting place
// on loopback and a shared secret through LOCKSTEP_ variables; variables by which
// another launcher announced a world are taken away. With mpi, launch becomes
// mpirun, which does the rest in its own way and gives input to rank 0 only.
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
)

const (
	codeFailure = 1
	codeUsage   = 2
)

func main() { os.Exit(launch(os.Args[1:])) }

// launch runs one job and returns the exit code. Messages are one line each on
// standard error.
func launch(args []string) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage())
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "launch:", err)
		return codeUsage
	}
	if o.backend == "mpi" {
		err = becomeMPIRun(o)
		fmt.Fprintln(os.Stderr, "launch:", err)
		return codeFailure
	}
	return runRing(o)
}
