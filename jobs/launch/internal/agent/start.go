package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// start starts the ranks of s, and what carries their input and output. After an
// error some ranks may run.
func (a *agent) start(s *Spec) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	environ := s.environ(os.Environ(), dir)
	path, err := find(s.Program, environ)
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", s.Args[0], Reason(err))
	}
	m, err := a.arrange(s)
	if err != nil {
		return err
	}
	input := newChunk()
	a.input = input
	var pids []int
	for _, number := range s.Ranks {
		cmd := &exec.Cmd{Path: path, Args: s.Args, Dir: dir, Env: append(slices.Clip(environ), s.place(number, m)...)}
		r, err := start(number, cmd, a.talk)
		if err != nil {
			return fmt.Errorf("starting rank %d: %w", number, err)
		}
		a.ranks = append(a.ranks, r)
		pids = append(pids, cmd.Process.Pid)
		first := input
		if !slices.Contains(s.Input, number) {
			first = ended()
		}
		a.working.Go(func() { r.wait(first) })
	}
	collect(pids)
	a.report(Report{Kind: Started, Processes: pids})
	return nil
}

// dir is where the ranks start: the folder that was asked for, else launch's own if
// this host has it, else where the agent is.
func (s *Spec) dir() (string, error) {
	if s.Dir == "" {
		if info, err := os.Stat(s.Home); err == nil && info.IsDir() {
			return s.Home, nil
		}
		return "", nil
	}
	return s.Dir, CheckDir(s.Dir)
}

// CheckDir says why ranks cannot start in a folder.
func CheckDir(dir string) error {
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("--cwd: %s: %w", dir, Reason(err))
	case !info.IsDir():
		return fmt.Errorf("--cwd: %s: %w", dir, errNoDirectory)
	}
	return nil
}

// find looks for a program on the PATH that the ranks will have. A path is taken as
// it is.
func find(program string, environ []string) (string, error) {
	if !strings.Contains(program, "/") {
		for _, assignment := range environ {
			if path, ok := strings.CutPrefix(assignment, "PATH="); ok {
				os.Setenv("PATH", path)
			}
		}
	}
	return exec.LookPath(program)
}

// Reason is err without the path and the system call, which the message names in
// the user's words.
func Reason(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// meeting is what the ranks of a job share to find and to trust each other.
type meeting struct {
	hostFile  string
	tokenFile string
}

func (a *agent) arrange(s *Spec) (m meeting, err error) {
	if s.Token != nil {
		if m.tokenFile, err = a.keep(s.Token); err != nil {
			return m, fmt.Errorf("the job's secret: %w", err)
		}
	}
	if s.HostFile != nil {
		if m.hostFile, err = a.keep(s.HostFile); err != nil {
			return m, fmt.Errorf("the job's host file: %w", err)
		}
	}
	return m, nil
}

func (a *agent) keep(content []byte) (path string, err error) {
	path, end, err := keepPrivate(content)
	if err == nil {
		a.kept = append(a.kept, end)
	}
	return path, err
}
