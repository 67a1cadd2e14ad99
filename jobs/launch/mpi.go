package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockstep-go/lockstep/internal/env"
)

// becomeMPIRun replaces this process by mpirun, which then owns the ranks, their
// input (Open MPI gives it to rank 0 only), their output and the exit code. It
// returns only if that fails.
func becomeMPIRun(o *options) error {
	path, err := exec.LookPath("mpirun")
	if err != nil {
		return fmt.Errorf("--backend mpi needs mpirun on PATH: install Open MPI, or use --backend ring")
	}
	args := mpirunArgs(o, runtime.NumCPU(), os.Geteuid() == 0)
	if o.verbose {
		fmt.Fprintln(os.Stderr, "launch:", path, strings.Join(args[1:], " "))
	}
	err = syscall.Exec(path, args, jobEnviron(o, os.Environ()))
	return fmt.Errorf("%s: %w", path, err)
}

// mpirunArgs is mpirun's command line on a machine with so many hardware threads.
// mpirun counts cores, of which two threads may share one, and refuses more ranks
// than that unless told otherwise.
func mpirunArgs(o *options, threads int, root bool) []string {
	args := []string{"mpirun", "-np", strconv.Itoa(o.ranks)}
	if root {
		args = append(args, "--allow-run-as-root")
	}
	if 2*o.ranks > threads {
		args = append(args, "--oversubscribe")
	}
	if o.dir != "" {
		args = append(args, "--wdir", o.dir)
	}
	if o.tag {
		args = append(args, "--tag-output")
	}
	for _, assignment := range append([]string{env.Backend}, o.env...) {
		name, _, _ := strings.Cut(assignment, "=")
		args = append(args, "-x", name)
	}
	args = append(args, o.mpiArgs...)
	return append(append(args, o.path), o.command[1:]...)
}
