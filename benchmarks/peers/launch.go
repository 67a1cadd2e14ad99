package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// launchLimit bounds one launch; a peer that hangs costs no more.
const launchLimit = 3 * time.Minute

// endTime is how long a launcher that is asked to end may take to end its ranks.
const endTime = 5 * time.Second

// figure is one repetition of one size.
type figure struct {
	bytes int
	value float64 // microseconds, or percent
}

// carryOut runs one command to its end and returns what its first rank printed.
func carryOut(ctx context.Context, command []string) ([]figure, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, launchLimit, fmt.Errorf("not done after %v", launchLimit))
	defer cancel()
	var out, errors bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errors
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTime
	if err := cmd.Run(); err != nil {
		return nil, explain(ctx, err, errors.String())
	}
	return readFigures(out.String())
}

func explain(ctx context.Context, err error, stderr string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n"); line != "" {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

func readFigures(output string) ([]figure, error) {
	var all []figure
	lines := bufio.NewScanner(strings.NewReader(output))
	for lines.Scan() {
		f, err := readFigure(lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it printed nothing")
	}
	return all, nil
}

func readFigure(line string) (f figure, err error) {
	size, value, ok := strings.Cut(line, " ")
	if f.bytes, err = strconv.Atoi(size); !ok || err != nil {
		return f, fmt.Errorf("it printed %q, want bytes and a figure", line)
	}
	if f.value, err = strconv.ParseFloat(value, 64); err != nil {
		return f, fmt.Errorf("it printed %q, want bytes and a figure", line)
	}
	return f, nil
}
