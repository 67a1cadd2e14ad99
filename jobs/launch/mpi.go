package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// mpiGrace is the time that mpirun has for ending its ranks, which it asks first,
// too, and kills after a second.
const mpiGrace = 5 * time.Second

// runMPI runs mpirun, which then owns the ranks, and returns its exit code. The
// agent of this machine ends what mpirun leaves.
func runMPI(o *options) int {
	for _, s := range o.seats {
		if net.ParseIP(s.host) != nil && strings.Contains(s.host, ":") {
			return fail(fmt.Errorf("mpirun takes no IPv6 addresses for hosts, and %s is one; give names", s.host), codeUsage)
		}
	}
	path, version, err := findMPIRun()
	if err != nil {
		return fail(err, codeFailure)
	}
	if version < 5 && o.input == "all" {
		return fail(fmt.Errorf("--stdin all: mpirun of Open MPI %d then gives no rank anything; want 0 or none", version), codeUsage)
	}
	here := machine{threads: runtime.NumCPU(), root: os.Geteuid() == 0}
	if o.elsewhere() {
		here.settings = settings(os.Environ())
	}
	spec := o.spec()
	spec.Program, spec.Args, spec.Dir = path, mpirunArgs(o, version, here), ""
	if o.input != "none" {
		spec.Input = []int{0}
	}
	j := newJob(o, []*host{newHost("")}, spec, 1)
	j.hosts[0].ranks = []int{0}
	j.grace = mpiGrace
	return j.run()
}

// machine is what mpirun's command line depends on besides the job.
type machine struct {
	threads  int // of the hardware
	root     bool
	settings []string // lockstep's, which ranks on other hosts have to be given
}

// mpirunArgs is the command line of an Open MPI's mpirun, by its major version.
// mpirun counts cores, of which two threads may share one, and refuses more ranks
// than that unless told otherwise.
func mpirunArgs(o *options, version int, here machine) []string {
	w := wordsOf(version)
	args := []string{"mpirun", "-np", strconv.Itoa(len(o.seats))}
	if here.root {
		args = append(args, "--allow-run-as-root")
	}
	if hosts := hostList(o.seats); hosts != "" {
		args = append(args, "--host", hosts)
	}
	if 2*len(o.seats) > here.threads && o.here() {
		args = append(args, w.oversubscribe...)
	}
	if o.elsewhere() && (len(o.sshArgs) > 0 || o.ssh != "ssh") {
		args = append(args, w.setting, w.agent, strings.Join(append([]string{o.ssh}, o.sshArgs...), " "))
	}
	if o.dir != "" {
		args = append(args, "--wdir", o.dir)
	}
	if o.input != "" {
		args = append(args, "--stdin", o.input)
	}
	args = append(args, w.output(o.tag, o.logDir)...)
	for _, assignment := range append(append([]string{env.Backend}, here.settings...), o.env...) {
		name, _, _ := strings.Cut(assignment, "=")
		args = append(args, "-x", name)
	}
	args = append(args, o.mpiArgs...)
	return append(append(args, o.program), o.command[1:]...)
}

// hostList is the hosts of seats with their numbers of ranks, each once.
func hostList(seats []seat) string {
	var hosts []string
	for _, h := range hostsOf(seats) {
		if h.name != "" {
			hosts = append(hosts, fmt.Sprintf("%s:%d", h.name, len(h.ranks)))
		}
	}
	return strings.Join(hosts, ",")
}

// words are what versions of Open MPI call by different names.
type words struct {
	oversubscribe  []string
	setting, agent string
	output         func(tag bool, dir string) []string
}

// wordsOf is for Open MPI 4 and before, or 5 and later, whose mpirun is PRRTE's.
func wordsOf(version int) words {
	if version < 5 {
		return words{[]string{"--oversubscribe"}, "--mca", "plm_rsh_agent", output4}
	}
	return words{[]string{"--map-by", ":OVERSUBSCRIBE"}, "--prtemca", "plm_ssh_agent", output5}
}

func output4(tag bool, dir string) (args []string) {
	if tag {
		args = append(args, "--tag-output")
	}
	if dir != "" {
		args = append(args, "--output-filename", dir)
	}
	return args
}

func output5(tag bool, dir string) []string {
	var wanted []string
	if tag {
		wanted = append(wanted, "tag")
	}
	if dir != "" {
		wanted = append(wanted, "dir="+dir)
	}
	if wanted == nil {
		return nil
	}
	return []string{"--output", strings.Join(wanted, ",")}
}

// findMPIRun returns the mpirun on PATH, which has to be Open MPI's, and its major
// version.
func findMPIRun() (path string, version int, err error) {
	path, err = exec.LookPath("mpirun")
	if err != nil {
		return "", 0, fmt.Errorf("--backend mpi needs mpirun on PATH: install Open MPI, or use --backend ring")
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		return "", 0, fmt.Errorf("%s --version: %w: %s", path, err, line)
	}
	version, err = openMPI(line)
	if err != nil {
		return "", 0, fmt.Errorf("%s is not Open MPI's, which --backend mpi needs: it calls itself %q", path, line)
	}
	return path, version, nil
}

// versionTime is more than mpirun takes to say what it is.
const versionTime = 30 * time.Second

// openMPI is the major version in the first line of mpirun --version.
func openMPI(line string) (version int, err error) {
	_, number, found := strings.Cut(line, "(Open MPI) ")
	major, _, _ := strings.Cut(number, ".")
	if !found {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(major)
}
