package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// contender is a process that answers a number of repeats with figures.
type contender struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	clean   func()
}

// figures are those of some repeats together: the fastest one, minor page faults and
// bytes allocated.
type figures struct{ nanoseconds, faults, bytes, result float64 }

func start(command *exec.Cmd, environment ...string) (*contender, error) {
	command.Env = append(os.Environ(), environment...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &contender{command: command, in: in, out: bufio.NewScanner(out), clean: func() {}}, command.Start()
}

func (c *contender) run(repeats int) (f figures, err error) {
	if _, err := fmt.Fprintln(c.in, repeats); err != nil {
		return f, fmt.Errorf("%s: %w", filepath.Base(c.command.Path), err)
	}
	if !c.out.Scan() {
		return f, fmt.Errorf("%s ended without figures", filepath.Base(c.command.Path))
	}
	_, err = fmt.Sscan(c.out.Text(), &f.nanoseconds, &f.faults, &f.bytes, &f.result)
	return f, err
}

func (c *contender) stop() {
	c.in.Close()
	c.command.Wait()
	c.clean()
}

// self is this program as a contender.
func self(what string, environment ...string) (*contender, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(exec.Command(program, "-worker", what), environment...)
}

// source is a file beside the program's own.
func source(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "src", name)
}

// keptHeap are glibc's settings under which freed memory stays with the process, as it
// does with ours.
var keptHeap = []string{"MALLOC_TRIM_THRESHOLD_=100000000000", "MALLOC_MMAP_THRESHOLD_=100000000000", "MALLOC_TOP_PAD_=100000000", "OMP_NUM_THREADS=1"}

// torch is nil without torch.
func torch(model string) (*contender, error) {
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import torch").Run() == nil {
			return start(exec.Command(python, source("torch_steps.py"), model), keptHeap...)
		}
	}
	return nil, nil
}

// compiledC is a program of src, nil without a compiler.
func compiledC(name, arguments string) (*contender, error) {
	dir, err := os.MkdirTemp("", "training")
	if err != nil {
		return nil, err
	}
	clean := func() { os.RemoveAll(dir) }
	program := filepath.Join(dir, "program")
	build := exec.Command("gcc", "-O3", "-march=native", "-ffast-math", "-o", program, source(name), "-lm")
	if build.Run() != nil {
		clean()
		return nil, nil
	}
	c, err := start(exec.Command(program, strings.Fields(arguments)...))
	if err != nil {
		clean()
		return nil, err
	}
	c.clean = clean
	return c, nil
}

// processor names the machine's processor.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
