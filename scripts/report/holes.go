package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/conform"
)

// holes prints one line for each entry of the conformance list, with the passes in which tests that cover it
// passed, and returns a failure for each entry without one in a pass that is among passes and that it asks for.
func holes(out io.Writer, entries []conform.Entry, rows []row, passes []string) []row {
	where := map[string][]string{}
	for _, r := range rows {
		if r.status == covers && !slices.Contains(where[r.test], r.pass) {
			where[r.test] = append(where[r.test], r.pass)
		}
	}
	fmt.Fprintln(out, "\nconformance:")
	var missing []row
	for _, e := range entries {
		fmt.Fprintf(out, "  %-4s %s\n", e.ID, strings.Join(shorten(where[e.ID]), ", "))
		for _, kind := range e.Passes {
			if slices.Contains(passes, kind) && !slices.ContainsFunc(where[e.ID], func(pass string) bool { return isOf(pass, kind) }) {
				missing = append(missing, row{fail, "conformance", e.ID, "no test of it passed in the pass " + kind + ": " + e.Meaning})
			}
		}
	}
	return missing
}

// isOf reports whether a pass such as "ring on 2 ranks" is of the kind "ring".
func isOf(pass, kind string) bool { return pass == kind || strings.HasPrefix(pass, kind+" ") }

// shorten joins passes that differ in the number of ranks alone: "ring on 2 ranks", "ring on 3 ranks" become
// "ring on 2 3 ranks".
func shorten(passes []string) []string {
	var joined []string
	for _, pass := range passes {
		kind, ranks, several := strings.Cut(pass, " on ")
		i := slices.IndexFunc(joined, func(s string) bool { return strings.HasPrefix(s, kind+" on ") })
		if !several || i < 0 {
			joined = append(joined, pass)
			continue
		}
		joined[i] = strings.TrimSuffix(joined[i], " ranks") + " " + ranks
	}
	return joined
}
