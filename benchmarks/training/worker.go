package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/array"
)

// work answers every line "steps" on in with a line of figures on out: the fastest
// step of so many, in nanoseconds of processor time, and what all of them took of
// memory.
func work(model string, compiled bool, in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	t, err := newTrainer(model, compiled)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var steps int
		if _, err := fmt.Sscan(lines.Text(), &steps); err != nil {
			return fmt.Errorf("%q is no number of steps", lines.Text())
		}
		f, err := t.measure(steps)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, f.fastest.Nanoseconds(), f.faults, f.allocated, f.loss)
	}
	return lines.Err()
}

// figures are those of some steps together.
type figures struct {
	fastest   time.Duration
	faults    int64 // minor page faults
	allocated int64 // bytes of Go's heap
	loss      float64
}

func (t *trainer) measure(steps int) (f figures, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	faults := minorFaults()
	for i := range steps {
		start := processorTime()
		loss, err := t.run()
		if err != nil {
			return f, err
		}
		f.loss = float64(loss)
		if d := processorTime() - start; i == 0 || d < f.fastest {
			f.fastest = d
		}
	}
	f.faults = minorFaults() - faults
	runtime.ReadMemStats(&after)
	f.allocated = int64(after.TotalAlloc - before.TotalAlloc)
	return f, nil
}

func minorFaults() int64 {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return int64(u.Minflt)
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is for -profile.
func memory() string { return fmt.Sprintf("%+v", array.Memory()) }

func fail(err error) {
	fmt.Fprintln(os.Stderr, "training:", err)
	os.Exit(1)
}
