package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

type status string

const (
	pass status = "pass"
	skip status = "skip"
	fail status = "fail"
	// covers says that a test which passed covers a row of the conformance list: test is the row's id, why the test.
	covers status = "covers"
)

// row is the outcome of one test, in one pass. A file of results has one per line, fields apart by tabs, so that
// a shell script can add its own.
type row struct {
	status          status
	pass, test, why string
}

func (r row) String() string {
	return strings.Join([]string{string(r.status), r.pass, r.test, strings.ReplaceAll(r.why, "\t", " ")}, "\t")
}

func readRows(in io.Reader) ([]row, error) {
	var rows []row
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "\t", 4)
		if len(fields) != 4 || !slices.Contains([]status{pass, skip, fail, covers}, status(fields[0])) {
			return nil, fmt.Errorf("line %d: %q is not status, pass, test and reason", len(rows)+1, lines.Text())
		}
		rows = append(rows, row{status(fields[0]), fields[1], fields[2], fields[3]})
	}
	return rows, lines.Err()
}

// merge keeps one row per pass and test, the worst: a test that runs as several processes counts
// once, and passed only where all of them did.
func merge(rows []row) []row {
	type key struct{ pass, test string }
	at := make(map[key]int)
	var merged []row
	for _, r := range rows {
		i, known := at[key{r.pass, r.test}]
		switch {
		case !known:
			at[key{r.pass, r.test}] = len(merged)
			merged = append(merged, r)
		case worse(r.status, merged[i].status):
			merged[i] = r
		}
	}
	return merged
}

func worse(a, b status) bool {
	order := []status{pass, skip, fail}
	return slices.Index(order, a) > slices.Index(order, b)
}

// sum prints skipped and failed tests by name and the closing line; it says whether the run failed.
func sum(out io.Writer, rows []row) (failed bool) {
	count := map[status]int{}
	rows = merge(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.status == covers }))
	for _, r := range rows {
		count[r.status]++
	}
	list(out, rows, skip, "skipped:")
	list(out, rows, fail, "failed:")
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", count[pass], count[fail], count[skip])
	return count[fail] > 0 || count[pass] == 0
}

// list names the tests of one status: a line for each test and reason, with the passes it happened in.
func list(out io.Writer, rows []row, which status, title string) {
	type line struct{ test, why string }
	passes := map[line][]string{}
	var lines []line
	for _, r := range rows {
		if r.status != which {
			continue
		}
		l := line{r.test, r.why}
		if passes[l] == nil {
			lines = append(lines, l)
		}
		passes[l] = append(passes[l], r.pass)
	}
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s\n", title)
	}
	for _, l := range lines {
		text := strings.Join(passes[l], ", ") + ": " + l.test
		if l.why != "" {
			text += " (" + l.why + ")"
		}
		fmt.Fprintln(out, " ", text)
	}
}
