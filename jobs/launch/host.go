package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// host is one machine of the job and launch's end of the agent that runs its ranks.
type host struct {
	name  string // as the user gave it; empty where this machine is all there is
	local bool
	ranks []int

	process *exec.Cmd // the agent, or ssh, which leads to it; nil until it answers
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	says    complaints
	urgent  chan agent.Order  // signals and what prepares a job
	pieces  chan agent.Order  // of input
	answers chan agent.Report // to what prepares a job
	taken   int64             // pieces of input that a rank has
	closed  chan struct{}     // closed when launch has no more to say
	close   func()
}

func newHost(name string) *host {
	closed := make(chan struct{})
	return &host{
		name:    name,
		local:   isHere(name),
		urgent:  make(chan agent.Order, 16),
		pieces:  make(chan agent.Order),
		answers: make(chan agent.Report, 4),
		closed:  closed,
		close:   sync.OnceFunc(func() { close(closed) }),
	}
}

// agentCommand starts a host's agent: this program again, beside it or, given so many
// bytes of it, over ssh.
func agentCommand(o *options, h *host, size int) (*exec.Cmd, error) {
	if !h.local {
		return sshCommand(o, h.name, size), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, agent.Word)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// connect starts the host's agent by cmd, first giving it program over its input if
// there is one, and returns when the agent answers. No progress for as long as
// patience is an error.
func (h *host) connect(ctx context.Context, cmd *exec.Cmd, program []byte, patience time.Duration) error {
	// The terminal's signals go to launch alone, which passes them on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// What ssh leaves behind, such as a connection for others to use, is not waited for.
	cmd.WaitDelay = time.Second
	if h.local {
		program = nil
	} else {
		cmd.Stderr = &h.says
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, agent.Reason(err))
	}
	h.stdin, h.stdout = stdin, bufio.NewReaderSize(stdout, 64<<10)
	if err := h.meet(ctx, program, patience); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return h.explain(err)
	}
	h.process = cmd
	go h.send()
	return nil
}

// meet sends the program and waits for the agent's greeting.
func (h *host) meet(ctx context.Context, program []byte, patience time.Duration) error {
	progress := make(chan struct{})
	met := make(chan error, 1)
	go func() { met <- h.greeted() }()
	over := make(chan struct{})
	defer close(over)
	go h.give(program, progress, over)
	clock := time.NewTimer(patience)
	for {
		select {
		case <-progress:
			clock.Reset(patience)
		case err := <-met:
			return err
		case <-clock.C:
			return fmt.Errorf("no answer in %v", patience)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// give writes program to the agent in pieces and tells of each. An error shows as
// the end of the agent's output.
func (h *host) give(program []byte, progress chan<- struct{}, over <-chan struct{}) {
	const piece = 64 << 10
	for len(program) > 0 {
		n, err := h.stdin.Write(program[:min(piece, len(program))])
		if err != nil {
			return
		}
		program = program[n:]
		select {
		case progress <- struct{}{}:
		case <-over:
			return
		}
	}
}

// greeted reads to the end of the agent's greeting. What stands before it was
// printed by the login.
func (h *host) greeted() error {
	const most = 1 << 20
	var seen []byte
	for !bytes.HasSuffix(seen, []byte(agent.Greeting)) {
		b, err := h.stdout.ReadByte()
		if err != nil {
			return errEnded
		}
		if seen = append(seen, b); len(seen) > most {
			return errors.New("the login prints without end")
		}
	}
	return nil
}

// errEnded stands for whatever the process says of its end.
var errEnded = errors.New("the connection ended before the host answered")

// explain puts what ssh or the remote side printed last behind err, or in its place
// where err says nothing else.
func (h *host) explain(err error) error {
	said := h.says.last()
	switch {
	case said == "":
		return err
	case errors.Is(err, errEnded):
		return errors.New(said)
	}
	return fmt.Errorf("%w (%s)", err, said)
}

// send passes orders on until launch has no more to say, then ends the agent's
// input. A host that is not this one gets a sign of life now and then.
func (h *host) send() {
	defer h.stdin.Close()
	beat := time.NewTicker(agent.Beat)
	defer beat.Stop()
	orders := gob.NewEncoder(h.stdin)
	for {
		var o agent.Order
		select {
		case o = <-h.urgent:
		case o = <-h.pieces:
		case <-beat.C:
			if h.local {
				continue
			}
		case <-h.closed:
			return
		}
		if orders.Encode(o) != nil {
			return
		}
	}
}

// tell gives the agent an order without waiting. One that has not taken sixteen is
// not there any more.
func (h *host) tell(o agent.Order) {
	select {
	case h.urgent <- o:
	default:
	}
}

// ask gives an order and waits for its answer.
func (h *host) ask(ctx context.Context, o agent.Order) (agent.Report, error) {
	h.tell(o)
	select {
	case r, ok := <-h.answers:
		switch {
		case !ok:
			return r, h.lost()
		case r.Kind == agent.Failed:
			return r, &refusal{r.Text, r.Usage}
		}
		return r, nil
	case <-ctx.Done():
		return agent.Report{}, context.Cause(ctx)
	}
}

// lost says why the agent does not answer any more.
func (h *host) lost() error {
	text := "the connection was lost"
	if h.local {
		text = "the process that watches over its ranks has ended"
	}
	return h.explain(errors.New(text))
}

// abandon ends the connection if there is one. The agent of this machine ends itself.
func (h *host) abandon() {
	if h.process != nil && !h.local {
		h.process.Process.Kill()
	}
}

// title names the host in a message.
func (h *host) title() string { return cmp.Or(h.name, "localhost") }

// refusal is what an agent cannot do.
type refusal struct {
	text  string
	usage bool
}

func (r *refusal) Error() string { return r.text }

// complaints keeps the end of what ssh prints.
type complaints struct {
	mu   sync.Mutex
	text []byte
}

func (c *complaints) Write(data []byte) (int, error) {
	const most = 4 << 10
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, data...)
	c.text = c.text[max(0, len(c.text)-most):]
	return len(data), nil
}

// last is the last line that is not empty.
func (c *complaints) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.TrimSpace(string(c.text))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
