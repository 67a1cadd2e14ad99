package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/hostlist"
)

// examine makes all checks.
func (o *options) examine(r *report) {
	backends(r)
	choice(r)
	variables(r)
	system(r)
	o.test(r, "ring", "-n", "2", "--backend", "ring")
	if group.IsAvailable("mpi") {
		mpiVersion(r)
		o.test(r, "mpi", "-n", "2", "--backend", "mpi")
	}
	o.lookAtHosts(r)
}

func backends(r *report) {
	has := slices.DeleteFunc(group.Backends(), func(name string) bool { return !group.IsAvailable(name) })
	text := strings.Join(has, ", ")
	if !slices.Contains(has, "mpi") {
		text += "; not mpi, as the programs were built without Open MPI"
	}
	r.ok("backends", "%s", text)
}

func choice(r *report) {
	backend, why, err := group.Choice()
	switch {
	case err != nil:
		r.fail("choice", "%v", err)
	case backend == "":
		r.ok("choice", "a program started here as it is runs alone, because %s", why)
	case !group.IsAvailable(backend):
		r.fail("choice", "%s, because %s, but this program was built without it", backend, why)
	default:
		r.ok("choice", "%s, because %s", backend, why)
	}
}

// variables lists those of launchers and of lockstep's own that are set.
func variables(r *report) {
	var set []string
	for _, v := range env.Variables {
		if value, ok := os.LookupEnv(v.Name); ok {
			set = append(set, v.Name+"="+value)
		}
	}
	if len(set) == 0 {
		r.ok("variables", "none of launchers or of lockstep is set")
		return
	}
	if _, _, err := env.LookupWorld(); err != nil {
		r.fail("variables", "%v (set: %s)", err, strings.Join(set, ", "))
		return
	}
	r.ok("variables", "%s", strings.Join(set, ", "))
}

func mpiVersion(r *report) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "mpirun", "--version").Output()
	if err != nil {
		r.fail("mpirun", "%v", err)
		return
	}
	first, _, _ := strings.Cut(string(out), "\n")
	r.ok("mpirun", "%s", first)
}

// test has ranks started by launch sum.
func (o *options) test(r *report, name string, flags ...string) {
	began := time.Now()
	out, err := o.launched(append(flags, "--", o.self, rankFlag)...)
	if err != nil {
		r.fail(name, "%v", err)
		return
	}
	r.ok(name, "%s, in %v with their start", firstLine(out), time.Since(began).Round(time.Millisecond))
}

// launched runs launch and returns what its ranks print.
func (o *options) launched(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.launch, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it took more than %v: %s", o.timeout, complaint(complaints.String()))
	case err != nil:
		return "", fmt.Errorf("%s (%w)", complaint(complaints.String()), err)
	}
	return out.String(), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// complaint is what explains a failure in what launch and its ranks print: their first
// line, as what follows is a consequence as a rule, without mpirun's frames.
func complaint(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.Trim(line, "-") != "" {
			return strings.TrimPrefix(line, "launch: ")
		}
	}
	return "it says nothing"
}

// lookAtHosts logs in to every host, then has one rank on each sum.
func (o *options) lookAtHosts(r *report) {
	if len(o.hosts) == 0 {
		return
	}
	var names []string
	failed := r.failed
	for _, h := range o.hosts {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
			o.lookAt(r, h)
		}
	}
	if r.failed > failed {
		r.fail("hosts", "no test of all hosts, as not all of them can be used")
		return
	}
	o.test(r, "hosts", slices.Concat(o.ssh, o.hostFlag, o.port, []string{"--backend", "ring"})...)
}

// lookAt logs in to a host and looks for doctor there.
func (o *options) lookAt(r *report, h hostlist.Host) {
	began := time.Now()
	name := h.Name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	flags := slices.Concat(o.ssh, []string{"--hosts", name, "--stdin", "none", "--"})
	if _, err := o.launched(append(flags, o.self, "-h")...); err != nil {
		r.fail("host", "%s: %v", h.Name, err)
		return
	}
	r.ok("host", "%s: a program starts in %v", h.Name, time.Since(began).Round(time.Millisecond))
}
