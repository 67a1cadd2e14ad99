package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// onTwoCores are rows that are held against themselves on one core, by the clock
// on the wall.
func onTwoCores() []*workload {
	var all []*workload
	add := func(w *workload, wanted float64) {
		w.wanted = wanted
		all = append(all, w)
	}
	large := sized{16 << 20}
	for _, t := range floats {
		add(product(t, "gemm", 1024, 1024, 1024, 0), 1.6)
		add(vectorProduct(t, "gemv", 4096, 4096, 1), 1.4)
		add(vectorProduct(t, "gevm", 1, 4096, 4096), 1.4)
		add(large.binary(kernel.Add, t), 1.4)
		add(large.unary(kernel.Exp, t), 1.4)
		add(large.row("sum", t, 1, func(a *arena, n int) func() { return reduce(kernel.Sum, t, a, []int{n}, []int{1}) }), 1.4)
		add(large.row("sum_columns", t, 1, func(a *arena, n int) func() {
			return reduce(kernel.Sum, t, a, []int{n / length, length}, []int{length, 1})
		}), 1.4)
		add(large.row("softmax", t, 2, func(a *arena, n int) func() {
			x, y := a.filled(t, n), a.bytes(n*t.Size())
			return func() { kernel.Rows(kernel.Softmax, t, y, x, length) }
		}), 1.4)
	}
	add(large.binary(kernel.Add, dtype.Float16), 1.4)
	return all
}

// busyShare is the share of the machine that others may use beside a row that
// is not called disturbed.
const busyShare = 0.1

// measureCores times a row on one core and on two and writes it.
func (c *workload) measureCores(a *arena, rounds int, w io.Writer) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer a.reset()
	f := c.prepare(a)
	f()
	repeats := repeatsFor(f)
	start, busy, own := time.Now(), machineBusy(), clock()
	var ones, twos, ratios []float64
	for range rounds {
		one := wallTime(f, 1, repeats)
		two := wallTime(f, 2, repeats)
		ones, twos = append(ones, c.speed(one, repeats)), append(twos, c.speed(two, repeats))
		ratios = append(ratios, float64(one)/float64(two))
	}
	mark, result := "", verdict(median(ratios), c.wanted)
	others := machineBusy() - busy - (clock() - own)
	if others > time.Duration(busyShare*float64(time.Since(start))*float64(runtime.NumCPU())) {
		mark = "~"
		if result == "missed" {
			result = "disturbed" // nobody knows
		}
	}
	fmt.Fprintf(w, line, c.name, c.size, c.figure(twos), c.figure(ones), mark+fmt.Sprintf("%.2f", median(ratios)),
		fmt.Sprintf("%.2f", c.wanted), result)
}

// wallTime is that of the fastest batch of n calls.
func wallTime(f func(), cores, n int) time.Duration {
	runtime.GOMAXPROCS(cores)
	return fastest(func(f func(), n int) time.Duration {
		start := time.Now()
		for range n {
			f()
		}
		return time.Since(start)
	}, f, n)
}

// machineBusy is how long all processors together have been at work.
func machineBusy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	var ticks int64
	for i, field := range fields[min(1, len(fields)):] {
		if i < 8 && i != 3 && i != 4 { // idle and waiting; guests are counted as users
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100
}
