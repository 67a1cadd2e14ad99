package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// work answers every line "repeats" on in with a line of figures on out.
func work(what string, in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	f, unit, err := job(strings.Fields(what))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var repeats int
		if _, err := fmt.Sscan(lines.Text(), &repeats); err != nil {
			return fmt.Errorf("%q is no number of repeats", lines.Text())
		}
		f, err := measure(f, repeats, unit)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, f.nanoseconds, f.faults, f.bytes, f.result)
	}
	return lines.Err()
}

// job is what a contender repeats, and how many units of work that is.
func job(what []string) (f func() (float64, error), unit float64, err error) {
	name := what[len(what)-1]
	switch what[0] {
	case "compiled", "plain":
		t, err := newTrainer(name, what[0] == "compiled")
		if err != nil {
			return nil, 0, err
		}
		return t.run, 1, nil
	case "chain":
		var rows, cols int
		if _, err := fmt.Sscan(strings.Join(what[1:], " "), &rows, &cols); err != nil {
			return nil, 0, err
		}
		f, err := chain(rows, cols)
		return f, 1, err
	case "small":
		f, err := small(name == "lazy")
		return f, chainLength, err
	case "collect":
		kept := million(name == "nodes")
		debug.SetGCPercent(-1)
		return func() (float64, error) { runtime.GC(); runtime.KeepAlive(kept); return 0, nil }, 1, nil
	}
	return nil, 0, fmt.Errorf("no contender %q", what)
}

func measure(f func() (float64, error), repeats int, unit float64) (m figures, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	faults := usage().Minflt
	m.nanoseconds = math.Inf(1)
	for range repeats {
		start := processorTime()
		if m.result, err = f(); err != nil {
			return m, err
		}
		m.nanoseconds = min(m.nanoseconds, float64(processorTime()-start)/unit)
	}
	m.faults = float64(usage().Minflt - faults)
	runtime.ReadMemStats(&after)
	m.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return m, nil
}

func usage() (u unix.Rusage) {
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// chain is a compiled gelu(x·w + b).
func chain(rows, cols int) (func() (float64, error), error) {
	ctx := context.Background()
	f := transform.Compile(func(xs ...*array.Array) []*array.Array {
		z := xs[0].Mul(xs[1]).Add(xs[2])
		return []*array.Array{z.MulScalar(0.5).Mul(z.MulScalar(math.Sqrt2 / 2).Erf().AddScalar(1))}
	})
	x := array.Linspace(-2, 2, rows*cols, dtype.Float32).Reshape(rows, cols)
	b := array.Linspace(-2, 2, cols, dtype.Float32)
	y := x.AddScalar(0)
	return func() (float64, error) { return 0, f(x, y, b)[0].Eval(ctx) }, array.Eval(ctx, x, y, b)
}

const chainLength = 1000

// small adds 64 numbers a thousand times, as a graph or by the kernel alone.
func small(lazy bool) (func() (float64, error), error) {
	ctx := context.Background()
	if !lazy {
		loop, _ := kernel.Binary(kernel.Add, dtype.Float32)
		z, in := make([]byte, 256), [][]byte{make([]byte, 256), make([]byte, 256)}
		return func() (float64, error) {
			for range chainLength {
				loop(z, in)
			}
			return 0, nil
		}, nil
	}
	x, y := array.Arange(0, 64, 1, dtype.Float32), array.Arange(0, 64, 1, dtype.Float32)
	return func() (float64, error) {
		z := x
		for range chainLength {
			z = z.Add(y)
		}
		return 0, z.Eval(ctx)
	}, array.Eval(ctx, x, y)
}

// pair is an object of two pointers.
type pair struct{ a, b *pair }

// million is a chain of as many nodes, or objects.
func million(nodes bool) any {
	if nodes {
		x, y := array.Scalar(float32(1)), array.Scalar(float32(1))
		for range 1_000_000 {
			x = x.Add(y)
		}
		return x
	}
	p, q := new(pair), new(pair)
	for range 1_000_000 {
		p = &pair{p, q}
	}
	return p
}
