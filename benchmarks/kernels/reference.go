package main

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed src
var sources embed.FS

// reference is the C program at work.
type reference struct {
	command  *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	compiler string
	blas     string // the kernel that OpenBLAS chose; empty without it
}

// startReference compiles the program and starts it with OpenBLAS free to choose
// the best kernel of the processor, on one thread.
func startReference() (*reference, error) {
	folder, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) // a program at work keeps its file
	program, err := compile(folder)
	if err != nil {
		return nil, err
	}
	r := &reference{command: exec.Command(program), compiler: "gcc -O3"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENBLAS_") {
			r.command.Env = append(r.command.Env, v)
		}
	}
	r.command.Env = append(r.command.Env, "OPENBLAS_NUM_THREADS=1")
	r.command.Stderr = os.Stderr
	out, err := r.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if r.in, err = r.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := r.command.Start(); err != nil {
		return nil, err
	}
	r.out = bufio.NewReader(out)
	r.blas, err = r.out.ReadString('\n')
	r.blas = strings.TrimSpace(r.blas)
	return r, err
}

// compile builds the program, with OpenBLAS where that can be linked.
func compile(folder string) (program string, err error) {
	if err := os.CopyFS(folder, sources); err != nil {
		return "", err
	}
	src, program := filepath.Join(folder, "src"), filepath.Join(folder, "reference")
	var objects []string
	object := func(name string, flags ...string) error {
		o := filepath.Join(src, name+".o")
		objects = append(objects, o)
		return gcc(append(flags, "-O3", "-march=native", "-fno-math-errno", "-c", "-o", o, filepath.Join(src, name+".c"))...)
	}
	for _, name := range []string{"arithmetic", "halves"} {
		if err := object(name); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"functions", "reductions", "rows"} {
		if err := object(name, "-ffast-math"); err != nil {
			return "", err
		}
	}
	all := append([]string{"-o", program, filepath.Join(src, "main.c"), filepath.Join(src, "products.c")}, objects...)
	if gcc(append(all, "-DOPENBLAS", "-lopenblas", "-lm")...) == nil {
		return program, nil
	}
	return program, gcc(append(all, "-lm")...)
}

func gcc(arguments ...string) error {
	if out, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("gcc %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// blasName says which kernels the rows of products are held against.
func (r *reference) blasName() string {
	if r.blas == "" {
		return "OpenBLAS is not there (Debian: libopenblas-dev), its rows are skipped"
	}
	return "OpenBLAS with its kernels for " + r.blas
}

func (r *reference) stop() {
	r.in.Close()
	r.command.Wait()
}

// time is the processor time of the reference for a batch of a row; known is false for one
// that it does not have.
func (r *reference) time(c *workload, repeats int) (t time.Duration, known bool, err error) {
	if _, err := fmt.Fprintln(r.in, c.reference, c.element, c.m, c.k, c.n, repeats, batches); err != nil {
		return 0, false, err
	}
	if _, err := fmt.Fscan(r.out, &t); err != nil {
		return 0, false, fmt.Errorf("reading the answer of %s: %w", r.command.Path, err)
	}
	return t, t >= 0, nil
}
