package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// contender is one way to carry out scenarios: a program of ours or of a peer,
// with its settings. Contenders that share a row are alternatives, such as a
// peer's algorithms, of which a table shows the best for each size.
type contender struct {
	row    string
	detail string
	takes  func(scenario) bool
	needs  []string // sources of the programs that it is made of
	// missing is why it cannot be had here; empty when it can.
	missing string
	// command is what starts all its ranks. They print lines of bytes and figure.
	command func(s scenario, e effort) ([]string, error)
}

// name is unique among contenders.
func (c contender) name() string {
	if c.detail == "" {
		return c.row
	}
	return c.row + " (" + c.detail + ")"
}

// The rows, in the tables' order and as the ratios name them.
const (
	ringShared = "ring shm, group"
	ringTCP    = "ring tcp, group"
	overMPI    = "mpi, group"

	openMPIShared = "Open MPI, shared memory"
	openMPITCP    = "Open MPI, TCP"
	gloo          = "Gloo, best algorithm"
	limitShared   = "limit: shared memory in C"
	limitTCP      = "limit: TCP in C"
	limitUnix     = "limit: Unix socket in C"
)

// field lists the contenders, whether or not they can be had. Their programs will
// lie in a folder.
func field(launch, self string, at folder) []contender {
	ours := []struct {
		row     string
		missing string
		start   func(ranks int) []string
	}{
		{"ring shm", "", func(n int) []string { return launched(launch, n) }},
		{"ring tcp", "", func(n int) []string { return launched(launch, n, "--env", env.SharedMem+"=0") }},
		{"mpi", missingMPI(), func(n int) []string { return mpirun(n, sharedMemory...) }},
	}
	var all []contender
	for _, o := range ours {
		for _, via := range []string{viaGroup, viaCommunicator} {
			all = append(all, contender{row: o.row + ", " + via, takes: anything, missing: o.missing,
				command: func(s scenario, e effort) ([]string, error) {
					return slices.Concat(o.start(s.ranks), []string{self, "rank", "-via", via}, e.arguments(), s.arguments()), nil
				}})
		}
	}
	all = append(all, openMPIs(at)...)
	all = append(all, gloos(launch, at)...)
	return append(all, limits(at)...)
}

func missingMPI() string {
	if !group.IsAvailable("mpi") {
		return "built without the tag mpi"
	}
	return ""
}

func openMPIs(at folder) []contender {
	make := func(row string, takes func(scenario) bool, needs []string, settings ...string) contender {
		return contender{row: row, needs: needs, takes: takes,
			command: func(s scenario, e effort) ([]string, error) {
				return slices.Concat(mpirun(s.ranks, settings...), []string{at.path(openMPIProgram)}, e.numbers(), s.arguments()), nil
			}}
	}
	working := func(s scenario) bool { return s.op != idleOp }
	floats := func(s scenario) bool { return working(s) && s.kind == "f32" && s.ranks <= 4 }
	tcp := []string{"--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo", "-x", "LD_PRELOAD=" + at.path(renoLibrary)}
	return []contender{
		make(openMPIShared, working, []string{openMPIProgram}, sharedMemory...),
		make(openMPITCP, floats, []string{openMPIProgram, renoLibrary}, tcp...),
	}
}

// sharedMemory is what makes Open MPI quick between the ranks of one host.
var sharedMemory = []string{"--mca", "btl_vader_single_copy_mechanism", "none"}

func gloos(launch string, at folder) []contender {
	var all []contender
	for _, algorithm := range []string{"ring", "bcube", "halving", "chunked", "busy"} {
		all = append(all, contender{row: gloo, detail: algorithm, needs: []string{glooProgram, renoLibrary},
			takes: func(s scenario) bool { return s.op == "allreduce" && s.kind == "f32" && s.ranks <= 4 },
			command: func(s scenario, e effort) ([]string, error) {
				meeting, err := os.MkdirTemp(string(at), "gloo-")
				return slices.Concat(launched(launch, s.ranks, "--env", "LD_PRELOAD="+at.path(renoLibrary)),
					[]string{at.path(glooProgram)}, e.numbers(), []string{algorithm, meeting}, s.arguments()), err
			}})
	}
	return all
}

func limits(at folder) []contender {
	make := func(row, mode string, takes func(scenario) bool) contender {
		return contender{row: row, detail: mode, takes: takes, needs: []string{limitsProgram},
			command: func(s scenario, e effort) ([]string, error) {
				return slices.Concat([]string{at.path(limitsProgram)}, e.numbers(), []string{mode, strconv.Itoa(s.ranks)}, s.arguments()), nil
			}}
	}
	shared := func(s scenario) bool { return s.kind == "f32" && s.op != idleOp }
	pair := func(s scenario) bool { return s.kind == "f32" && s.ranks == 2 }
	trip := func(s scenario) bool { return s.op == "pingpong" }
	return []contender{
		make(limitShared, "shm", shared),
		make(limitTCP, "tcp", pair), make(limitTCP, "tcp-spin", trip),
		make(limitUnix, "unix", pair), make(limitUnix, "unix-spin", trip),
	}
}

func anything(scenario) bool { return true }

// launched starts ranks that meet on the ring's terms.
func launched(launch string, ranks int, flags ...string) []string {
	return slices.Concat([]string{launch, "-n", strconv.Itoa(ranks)}, flags, []string{"--"})
}

// mpirun starts ranks of Open MPI whose C library keeps freed memory, and which
// yield when they outnumber the cores.
func mpirun(ranks int, settings ...string) []string {
	command := []string{"mpirun", "--oversubscribe", "-np", strconv.Itoa(ranks),
		"-x", "MALLOC_MMAP_MAX_=0", "-x", "MALLOC_TRIM_THRESHOLD_=1099511627776"}
	if os.Geteuid() == 0 {
		command = append(command, "--allow-run-as-root")
	}
	if ranks > runtime.NumCPU() {
		command = append(command, "--mca", "mpi_yield_when_idle", "1")
	}
	return append(command, settings...)
}

// arguments is the tail that every program understands.
func (s scenario) arguments() []string {
	all := []string{s.op, s.kind}
	for _, n := range s.bytes {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

func (e effort) numbers() []string {
	return []string{strconv.Itoa(e.repetitions), fmt.Sprint(e.seconds)}
}

func (e effort) arguments() []string {
	n := e.numbers()
	return []string{"-repetitions", n[0], "-seconds", n[1]}
}
