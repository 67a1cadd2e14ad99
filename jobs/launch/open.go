package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// interruption is a signal that came before the ranks ran.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return i.verdict().text }

func (i *interruption) verdict() verdict { return interrupted(i.signal) }

// open connects the hosts and starts the ranks. A signal ends it early.
func (j *job) open() error {
	ctx, cancel := context.WithCancelCause(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case s := <-j.signals:
			cancel(&interruption{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	})
	err := j.connect(ctx)
	if err == nil {
		err = j.prepare(ctx)
	}
	if err == nil {
		err = j.each(func(h *host) error { return j.start(ctx, h) })
	}
	cancel(nil)
	watching.Wait()
	if err == nil {
		// The ranks run: a signal that came just now ends them as a later one would.
		var i *interruption
		if errors.As(context.Cause(ctx), &i) {
			j.signals <- i.signal
		}
		j.readInput()
	}
	return err
}

// connect starts an agent on every host.
func (j *job) connect(ctx context.Context) error {
	program, err := j.ownProgram()
	if err != nil {
		return err
	}
	err = j.each(func(h *host) error {
		cmd, err := agentCommand(j.options, h, len(program))
		if err == nil {
			err = h.connect(ctx, cmd, program, j.options.sshTimeout)
		}
		if err == nil {
			j.working.Go(func() { j.hear(h) })
		}
		return err
	})
	go func() { j.working.Wait(); close(j.done) }()
	return err
}

// ownProgram is what a host other than this one is given to run: launch itself.
func (j *job) ownProgram() ([]byte, error) {
	for _, h := range j.hosts {
		if !h.local {
			path, err := os.Executable()
			if err != nil {
				return nil, err
			}
			return os.ReadFile(path)
		}
	}
	return nil, nil
}

// prepare has every host keep the addresses at which its ranks will listen, and
// decides what makes the ranks one job.
func (j *job) prepare(ctx context.Context) error {
	if j.spec.Size == 0 {
		return nil // mpirun does this
	}
	places := j.options.places(j.hosts)
	err := j.each(func(h *host) error {
		r, err := h.ask(ctx, agent.Order{Reserve: h.own(places)})
		if err == nil {
			h.fill(places, r.Addresses)
		}
		return err
	})
	if err != nil {
		return err
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	j.spec.Token = []byte(hex.EncodeToString(secret))
	if len(j.hosts) == 1 {
		j.spec.Coordinator = places[0][0]
		j.say("%d ranks on the ring, meeting at %s", j.spec.Size, j.spec.Coordinator)
		return nil
	}
	j.spec.HostFile, err = json.Marshal(places)
	j.say("%d ranks on the ring, listening at %s", j.spec.Size, j.spec.HostFile)
	return err
}

// start starts a host's ranks.
func (j *job) start(ctx context.Context, h *host) error {
	spec := j.spec
	spec.Ranks = h.ranks
	if !h.local {
		spec.Env = append(settings(os.Environ()), spec.Env...)
	}
	r, err := h.ask(ctx, agent.Order{Start: &spec})
	if err != nil {
		return err
	}
	for i, rank := range h.ranks {
		j.say("%s is process %d: %s", j.name(h, rank), r.Processes[i], strings.Join(spec.Args, " "))
	}
	return nil
}

// each does something with all hosts at once. The error has a line for each host
// that failed.
func (j *job) each(do func(*host) error) error {
	errs := make([]error, len(j.hosts))
	var working sync.WaitGroup
	for i, h := range j.hosts {
		working.Go(func() {
			if errs[i] = do(h); errs[i] != nil && h.name != "" {
				errs[i] = fmt.Errorf("host %s: %w", h.name, errs[i])
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// excuse prints why the job did not start and returns the exit code.
func (j *job) excuse(err error) int {
	var i *interruption
	if errors.As(err, &i) {
		return j.report(i.verdict())
	}
	for line := range strings.Lines(err.Error()) {
		j.stderr.printf("%s", strings.TrimSuffix(line, "\n"))
	}
	var r *refusal
	if errors.As(err, &r) && r.usage {
		return codeUsage
	}
	return codeFailure
}

// settings are lockstep's variables in environ, but for those that announce a world:
// a host that is not this one has them from nowhere else.
func settings(environ []string) []string {
	return slices.DeleteFunc(environ, func(assignment string) bool {
		name, _, _ := strings.Cut(assignment, "=")
		return !strings.HasPrefix(name, "LOCKSTEP_") || slices.Contains(ownVariables, name)
	})
}
