package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/hostlist"
	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// mostRanks is more than any job has; it catches a slip of the finger before
// memory goes into it.
const mostRanks = 1 << 14

// check completes the options by what the host file says and refuses those that
// make no job. given are the flags that were set.
func (o *options) check(given map[string]bool) error {
	if given["hosts"] && given["hostfile"] {
		return errors.New("--hosts and --hostfile exclude each other")
	}
	if given["hostfile"] {
		if err := o.readHostFile(); err != nil {
			return err
		}
	}
	o.backend = cmp.Or(o.backend, "ring")
	if err := o.checkFlags(given); err != nil {
		return err
	}
	o.seats = seatsOn(o.hosts, o.perHost)
	switch {
	case len(o.seats) > mostRanks:
		return fmt.Errorf("the hosts have %d ranks; want at most %d", len(o.seats), mostRanks)
	case len(o.command) == 0 || o.command[0] == "":
		return fmt.Errorf("no program to run; want launch -n %d program arguments", o.perHost)
	}
	if err := o.findSSH(); err != nil {
		return err
	}
	if given["cwd"] {
		if err := o.checkDir(); err != nil {
			return err
		}
	}
	return o.findProgram()
}

// readHostFile takes over what the file says, under what the command line says.
func (o *options) readHostFile() error {
	file, err := hostlist.Read(o.hostFile)
	if err != nil {
		return fmt.Errorf("--hostfile: %w", err)
	}
	var vars []string
	for _, assignment := range file.Env {
		if vars, err = addEnv(vars, assignment); err != nil {
			return fmt.Errorf("--hostfile: %s: envs: %w", o.hostFile, err)
		}
	}
	if file.Backend != "" && file.Backend != "ring" && file.Backend != "mpi" {
		return fmt.Errorf("--hostfile: %s: backend is %q; want ring or mpi", o.hostFile, file.Backend)
	}
	o.hosts, o.env = file.Hosts, append(vars, o.env...)
	o.backend = cmp.Or(o.backend, file.Backend)
	return nil
}

func (o *options) checkFlags(given map[string]bool) error {
	slotted := slices.ContainsFunc(o.hosts, func(h hostlist.Host) bool { return h.Slots > 0 })
	switch {
	case o.perHost < 1 || o.perHost > mostRanks:
		return fmt.Errorf("-n is %d; want 1 to %d ranks", o.perHost, mostRanks)
	case given["n"] && slotted:
		return errors.New("-n and numbers of ranks of the hosts' own exclude each other")
	case o.backend != "ring" && o.backend != "mpi":
		return fmt.Errorf("--backend is %q; want ring or mpi", o.backend)
	case given["mpi-arg"] && o.backend != "mpi":
		return errors.New("--mpi-arg needs --backend mpi")
	case given["starting-port"] && o.backend != "ring":
		return errors.New("--starting-port needs --backend ring")
	case given["starting-port"] && (o.port < 1 || o.port > 65535):
		return fmt.Errorf("--starting-port is %d; want a port from 1 to 65535", o.port)
	case given["stdin"] && o.input != "all" && o.input != "0" && o.input != "none":
		return fmt.Errorf("--stdin is %q; want all, 0 or none", o.input)
	case given["log-dir"] && o.logDir == "":
		return errors.New("--log-dir is empty; want a directory")
	case o.sshTimeout <= 0:
		return fmt.Errorf("--ssh-timeout is %v; want a time above zero", o.sshTimeout)
	}
	return nil
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	ownVariables = []string{env.Rank, env.Size, env.Coordinator, env.HostFile, env.TokenFile, env.Backend}
)

func addEnv(vars []string, assignment string) ([]string, error) {
	name, value, _ := strings.Cut(assignment, "=")
	switch {
	case !variableName.MatchString(name):
		return vars, fmt.Errorf("%q is no variable name; want letters, digits and _, not a digit first", name)
	case slices.Contains(ownVariables, name):
		return vars, fmt.Errorf("launch sets %s itself", name)
	case strings.Contains(value, "\x00"):
		return vars, fmt.Errorf("the value of %s has a zero byte", name)
	}
	return append(vars, name+"="+value), nil
}

// elsewhere reports whether a rank runs on another machine, and here whether one
// runs on this.
func (o *options) elsewhere() bool {
	return slices.ContainsFunc(o.seats, func(s seat) bool { return !isHere(s.host) })
}

func (o *options) here() bool {
	return slices.ContainsFunc(o.seats, func(s seat) bool { return isHere(s.host) })
}

// findSSH needs ssh only where another machine is to be reached.
func (o *options) findSSH() error {
	fromEnv, err := env.LookupSSH()
	if err != nil {
		return err
	}
	o.ssh = cmp.Or(o.ssh, fromEnv, "ssh")
	if !o.elsewhere() || o.backend == "mpi" {
		return nil
	}
	path, err := exec.LookPath(o.ssh)
	if err != nil {
		return fmt.Errorf("cannot reach other hosts by %s: %w", o.ssh, agent.Reason(err))
	}
	o.ssh = path
	return nil
}

// checkDir looks at the directory where this machine has ranks; other hosts look
// themselves. A relative one is relative to launch's, on every host.
func (o *options) checkDir() (err error) {
	if o.dir == "" {
		return errors.New("--cwd is empty; want a directory")
	}
	if o.here() {
		if err := agent.CheckDir(o.dir); err != nil {
			return fmt.Errorf("--cwd: %s on this machine: %w", o.dir, agent.Reason(err))
		}
	}
	o.dir, err = filepath.Abs(o.dir)
	return err
}

// findProgram looks from launch's own directory, so that --cwd moves the data and
// not the program. A name without a folder is looked for on every host.
func (o *options) findProgram() error {
	name := o.command[0]
	o.program = name
	if o.here() {
		path, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("cannot run %s: %w", name, agent.Reason(err))
		}
		if !o.elsewhere() {
			o.program = path
		}
	}
	if !strings.Contains(o.program, "/") {
		return nil
	}
	path, err := filepath.Abs(o.program)
	o.program = path
	return err
}
