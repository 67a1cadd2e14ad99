// Kernels measures the loops of internal/kernel against C and OpenBLAS and prints
// a table: what each reaches and the ratio of the reference's time to ours, so
// that 1 is as fast and more is faster. A second table holds large operations on
// two cores against themselves on one.
//
//	go run ./benchmarks/kernels [-rounds 9] [-only EXPRESSION] [-write docs/performance.md]
//
// Both run on one thread, on one processor and by turns. What counts is processor time, and in each
// round the fastest of eight batches of calls, as others may use the machine;
// ratios and figures are medians over the rounds. Both have their arrays in large
// pages that have been touched before. The reference lies in src and is compiled for this processor when the run starts;
// without OpenBLAS its rows are skipped.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/benchmarks/section"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often each row is measured")
	only := flag.String("only", "", "measure only the rows whose name and size match this regular expression")
	document := flag.String("write", "", "file to write the table into, between its markers")
	flag.Parse()
	if flag.NArg() != 0 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "kernels: want -rounds of 1 or more and no arguments")
		os.Exit(2)
	}
	expression, err := regexp.Compile(*only)
	if err == nil {
		err = run(*rounds, expression, *document)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(rounds int, only *regexp.Regexp, document string) error {
	runtime.GOMAXPROCS(1)
	level, err := kernel.Active()
	if err != nil {
		return err
	}
	release, err := pin()
	if err != nil {
		return err
	}
	ref, err := startReference()
	if err != nil {
		return err
	}
	defer ref.stop()
	arrays, err := newArena()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	w := io.MultiWriter(os.Stdout, &text)
	fmt.Fprintf(w, "%s. Kernels: %s. Reference: %s -march=native; %s. One thread each, %d rounds.\n\n",
		processor(), level, ref.compiler, ref.blasName(), rounds)
	header(w, "ours", "reference")
	lists := lists{}
	for _, c := range cases() {
		if !only.MatchString(c.label()) {
			continue
		}
		if err := c.measure(ref, arrays, rounds, lists, w); err != nil {
			return err
		}
	}
	lists.write(w)
	release()
	fmt.Fprintf(w, "\nThe same on two cores, by the clock on the wall; ~ where other programs used more than a tenth of the machine.\n\n")
	header(w, "two cores", "one core")
	for _, c := range onTwoCores() {
		if only.MatchString(c.label()) && runtime.NumCPU() > 1 {
			c.measureCores(arrays, rounds, w)
		}
	}
	if document == "" {
		return nil
	}
	return section.Replace(document, "kernels", text.String())
}

const line = "| %-20s | %-14s | %11s | %11s | %5s | %6s | %-9s |\n"

func header(w io.Writer, ours, theirs string) {
	fmt.Fprintf(w, line, "what", "size", ours, theirs, "ratio", "wanted", "")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
}

// label is what expressions are matched with.
func (c *workload) label() string { return c.name + " " + c.size }

// measure times one row and writes it.
func (c *workload) measure(ref *reference, a *arena, rounds int, lists lists, w io.Writer) error {
	defer a.reset()
	f := c.prepare(a)
	f()
	repeats := repeatsFor(f)
	var ours, theirs, ratios []float64
	for range rounds {
		t, known, err := ref.time(c, repeats)
		if err != nil {
			return err
		}
		own := fastest(processorTime, f, repeats)
		ours = append(ours, c.speed(own, repeats))
		if known {
			theirs = append(theirs, c.speed(t, repeats))
			ratios = append(ratios, float64(t)/float64(own))
		}
	}
	wanted := fmt.Sprintf("%.2f", c.wanted)
	if len(ratios) == 0 {
		fmt.Fprintf(w, line, c.name, c.size, c.figure(ours), "", "", wanted, "skipped")
		return nil
	}
	ratio := median(ratios)
	lists[c.list] = append(lists[c.list], ratio)
	fmt.Fprintf(w, line, c.name, c.size, c.figure(ours), c.figure(theirs), fmt.Sprintf("%.2f", ratio), wanted, verdict(ratio, c.wanted))
	return nil
}

// A round measures so many batches of calls and counts the fastest, which others
// have disturbed the least.
const (
	batches   = 8
	batchTime = 2 * time.Millisecond
)

// repeatsFor is how many calls of f make a batch.
func repeatsFor(f func()) int { return 1 + int(batchTime/max(fastest(processorTime, f, 1), 100)) }

// fastest is the time of the fastest batch of n calls.
func fastest(timed func(f func(), n int) time.Duration, f func(), n int) time.Duration {
	f()
	best := timed(f, n)
	for range batches - 1 {
		best = min(best, timed(f, n))
	}
	return best
}

func (c *workload) speed(t time.Duration, repeats int) float64 {
	return c.work * float64(repeats) / float64(t)
}

func (c *workload) figure(x []float64) string { return fmt.Sprintf("%.1f %s", median(x), c.unit) }

func verdict(ratio, wanted float64) string {
	if ratio < wanted {
		return "missed"
	}
	return "met"
}

// lists are the ratios of the rows of each list.
type lists map[string][]float64

const wantedOfList = 0.85

func (l lists) write(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if name != "" {
			m := median(l[name])
			fmt.Fprintf(w, line, name, "median of list", "", "", fmt.Sprintf("%.2f", m), fmt.Sprintf("%.2f", wantedOfList), verdict(m, wantedOfList))
		}
	}
}

// processorTime is what this process spends on n calls of f.
func processorTime(f func(), n int) time.Duration {
	start := clock()
	for range n {
		f()
	}
	return clock() - start
}

func clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // the clock is there on every system that this is built for
	}
	return time.Duration(t.Nano())
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// processor names the one at hand.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	var name []string
	for _, field := range []string{"model name", "cpu family", "model"} {
		for l := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == field {
				name = append(name, strings.TrimSpace(value))
				break
			}
		}
	}
	if len(name) < 3 {
		return runtime.GOARCH
	}
	return fmt.Sprintf("%s (family %s, model %s)", name[0], name[1], name[2])
}
