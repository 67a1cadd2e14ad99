// Kernels measures the loops of internal/kernel against C and OpenBLAS and prints
// a table: what each reaches and the ratio of the reference's time to ours, so
// that 1 is as fast and more is faster.
//
//	go run ./benchmarks/kernels [-rounds 9] [-only WORD] [-write docs/performance.md]
//
// Both run on one thread and by turns. What counts is processor time, as others
// may use the machine; ratios and figures are medians over the rounds. The
// reference lies in src and is compiled for this processor when the run starts;
// without OpenBLAS its rows are skipped.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/internal/kernel"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often each row is measured")
	only := flag.String("only", "", "measure only the rows whose name has this word in it")
	section := flag.String("write", "", "file to write the table into, between its markers")
	flag.Parse()
	if flag.NArg() != 0 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "kernels: want -rounds of 1 or more and no arguments")
		os.Exit(2)
	}
	if err := run(*rounds, *only, *section); err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(rounds int, only, section string) error {
	runtime.GOMAXPROCS(1)
	level, err := kernel.Active()
	if err != nil {
		return err
	}
	ref, err := startReference()
	if err != nil {
		return err
	}
	defer ref.stop()
	var text bytes.Buffer
	w := io.MultiWriter(os.Stdout, &text)
	fmt.Fprintf(w, "%s. Kernels: %s. Reference: %s -march=native; %s. One thread each, %d rounds.\n\n",
		processor(), level, ref.compiler, ref.blasName(), rounds)
	fmt.Fprintf(w, line, "what", "size", "ours", "reference", "ratio", "wanted", "")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, c := range cases() {
		if !strings.Contains(c.name, only) {
			continue
		}
		if err := c.measure(ref, rounds, w); err != nil {
			return err
		}
	}
	if section == "" {
		return nil
	}
	return replaceSection(section, text.String())
}

const line = "| %-9s | %-14s | %11s | %11s | %5s | %6s | %-7s |\n"

// measure times one row and writes it.
func (c *workload) measure(ref *reference, rounds int, w io.Writer) error {
	f := c.prepare()
	f()
	repeats := 1 + int(20*time.Millisecond/max(processorTime(f, 1), 100))
	var ours, theirs, ratios []float64
	for range rounds {
		t, known, err := ref.time(c, repeats)
		if err != nil {
			return err
		}
		own := processorTime(f, repeats)
		ours = append(ours, c.work*float64(repeats)/float64(own))
		if known {
			theirs = append(theirs, c.work*float64(repeats)/float64(t))
			ratios = append(ratios, float64(t)/float64(own))
		}
	}
	figure := func(x []float64) string { return fmt.Sprintf("%.1f %s", median(x), c.unit) }
	wanted := fmt.Sprintf("%.2f", c.wanted)
	if len(ratios) == 0 {
		fmt.Fprintf(w, line, c.name, c.size, figure(ours), "", "", wanted, "skipped")
		return nil
	}
	verdict := "met"
	if median(ratios) < c.wanted {
		verdict = "missed"
	}
	fmt.Fprintf(w, line, c.name, c.size, figure(ours), figure(theirs), fmt.Sprintf("%.2f", median(ratios)), wanted, verdict)
	return nil
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
	return x[len(x)/2]
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

// The lines of a document between which a run writes.
const (
	sectionBegin = "<!-- kernels: begin -->\n"
	sectionEnd   = "<!-- kernels: end -->\n"
)

func replaceSection(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(old), sectionBegin)
	_, after, ended := strings.Cut(rest, sectionEnd)
	if !begun || !ended {
		return fmt.Errorf("%s: no lines %q and %q to write between", file, strings.TrimSpace(sectionBegin), strings.TrimSpace(sectionEnd))
	}
	return os.WriteFile(file, []byte(before+sectionBegin+text+sectionEnd+after), 0o644)
}
