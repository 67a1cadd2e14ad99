// Training measures whole training steps, and what the engine costs beside its
// kernels, against others, and prints a table: the ratio of the reference's
// time to ours, so that 1 is as fast and more is faster.
//
//	go run ./benchmarks/training [-rounds 5] [-steps 1000] [-only WORD] [-write docs/performance.md]
//
// References: torch, where python3 has it (Debian: python3-torch); C, where there is gcc;
// the same step computed by plain loops and gonum's products (LOCKSTEP_KERNEL=portable);
// and objects of two pointers, for the collector. Every contender is a process of one
// thread. They run by turns; in each round the fastest step counts, in processor time, as
// others may use the machine.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/benchmarks/section"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each row is measured")
	steps := flag.Int("steps", 1000, "steps over which page faults and memory are counted")
	only := flag.String("only", "", "measure only the rows whose name has this word in it")
	document := flag.String("write", "", "file to write the table into, between its markers")
	worker := flag.String("worker", "", "be a contender: what it does, for the program itself")
	flag.Parse()
	if *worker != "" {
		if err := work(*worker, os.Stdin, os.Stdout); err != nil {
			fail(err)
		}
		return
	}
	if flag.NArg() != 0 || *rounds < 1 || *steps < 1 {
		fmt.Fprintln(os.Stderr, "training: want -rounds and -steps of 1 or more and no arguments")
		os.Exit(2)
	}
	if err := run(*rounds, *steps, *only, *document); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "training:", err)
	os.Exit(1)
}

const line = "| %-38s | %12s | %12s | %8s | %9s | %-7s |\n"

func run(rounds, steps int, only, document string) error {
	var text bytes.Buffer
	w := io.MultiWriter(os.Stdout, &text)
	fmt.Fprintf(w, "%s. One thread each, %d rounds.\n\n", processor(), rounds)
	fmt.Fprintf(w, line, "what", "ours", "reference", "", "wanted", "")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, r := range comparisons() {
		if !strings.Contains(r.name, only) {
			continue
		}
		if err := r.measure(rounds, w); err != nil {
			return err
		}
	}
	for _, model := range []string{"mlp", "transformer"} {
		if !strings.Contains("memory of "+model, only) {
			continue
		}
		if err := measureMemory(model, steps, w); err != nil {
			return err
		}
	}
	if document == "" {
		return nil
	}
	return section.Replace(document, "training", text.String())
}

// comparison is a row: two contenders by turns.
type comparison struct {
	name    string
	ours    func() (*contender, error)
	theirs  func() (*contender, error) // nil, nil if it is not there
	repeats int                        // of a round
	wanted  float64                    // least ratio; a negative number is the most that ours may take longer, in ns
}

func comparisons() []comparison {
	var rows []comparison
	for _, model := range []struct {
		name    string
		repeats int
	}{{"mlp", 40}, {"transformer", 3}} {
		step := func() (*contender, error) { return self("compiled " + model.name) }
		rows = append(rows,
			comparison{name: model.name + " step, torch", ours: step, theirs: func() (*contender, error) { return torch(model.name) }, repeats: model.repeats, wanted: 1},
			comparison{name: model.name + " step, plain loops", ours: step, theirs: func() (*contender, error) { return self("compiled "+model.name, "LOCKSTEP_KERNEL=portable") }, repeats: max(1, model.repeats/10), wanted: 8},
		)
	}
	for _, size := range []struct {
		size    string
		repeats int
	}{{"64 256", 3000}, {"4096 1024", 20}} {
		rows = append(rows, comparison{
			name:    "compiled gelu(x·w+b) of " + strings.Replace(size.size, " ", "×", 1) + ", C",
			ours:    func() (*contender, error) { return self("chain " + size.size) },
			theirs:  func() (*contender, error) { return compiledC("chain.c", size.size) },
			repeats: size.repeats, wanted: 0.7,
		})
	}
	return append(rows,
		comparison{name: "small operation in a chain, its kernel", ours: func() (*contender, error) { return self("small lazy") },
			theirs: func() (*contender, error) { return self("small kernel") }, repeats: 300, wanted: -120},
		comparison{name: "collection with 1M nodes, 1M objects", ours: func() (*contender, error) { return self("collect nodes") },
			theirs: func() (*contender, error) { return self("collect objects") }, repeats: 5, wanted: 1 / 1.5},
	)
}

// measure runs both by turns and writes the row.
func (r *comparison) measure(rounds int, w io.Writer) error {
	ours, err := r.ours()
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := r.theirs()
	if err != nil {
		return err
	}
	if theirs == nil {
		fmt.Fprintf(w, line, r.name, "", "", "", "", "skipped")
		return nil
	}
	defer theirs.stop()
	var own, other, ratios, more []float64
	for range rounds {
		a, err := ours.run(r.repeats)
		if err != nil {
			return err
		}
		b, err := theirs.run(r.repeats)
		if err != nil {
			return err
		}
		own, other = append(own, a.nanoseconds), append(other, b.nanoseconds)
		ratios = append(ratios, b.nanoseconds/a.nanoseconds)
		more = append(more, a.nanoseconds-b.nanoseconds)
	}
	if r.wanted < 0 {
		extra := median(more)
		fmt.Fprintf(w, line, r.name, duration(median(own)), duration(median(other)), fmt.Sprintf("+%.0f ns", extra), fmt.Sprintf("≤ %.0f ns", -r.wanted), verdict(extra <= -r.wanted))
		return nil
	}
	ratio := median(ratios)
	fmt.Fprintf(w, line, r.name, duration(median(own)), duration(median(other)), fmt.Sprintf("%.2f", ratio), fmt.Sprintf("≥ %.2f", r.wanted), verdict(ratio >= r.wanted))
	return nil
}

// measureMemory counts what many steps take beside their storage, which is used again.
func measureMemory(model string, steps int, w io.Writer) error {
	var f [2]figures
	for i, kind := range []string{"compiled ", "plain "} {
		c, err := self(kind + model)
		if err != nil {
			return err
		}
		defer c.stop()
		if _, err := c.run(10); err != nil {
			return err
		}
		n := steps
		if i == 1 {
			n = min(steps, 20)
		}
		if f[i], err = c.run(n); err != nil {
			return err
		}
		f[i].faults /= float64(n)
		f[i].bytes /= float64(n)
	}
	fmt.Fprintf(w, line, "page faults of a "+model+" step", fmt.Sprintf("%.2f", f[0].faults), "", "", "< 20", verdict(f[0].faults < 20))
	share := f[0].bytes / f[1].bytes
	fmt.Fprintf(w, line, "memory of "+model+" steps, not compiled", fmt.Sprintf("%.0f KiB", f[0].bytes/1024), fmt.Sprintf("%.0f KiB", f[1].bytes/1024),
		fmt.Sprintf("%.2f %%", 100*share), "< 1 %", verdict(share < 0.01))
	return nil
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

func duration(ns float64) string {
	switch {
	case ns < 1e4:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e7:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}
