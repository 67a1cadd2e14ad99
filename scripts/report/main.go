// Command report counts what the passes of the test run did.
//
//	go test -json ./... | report tally PASS RESULTS
//	report rows RESULTS PASS...
//	report sum RESULTS
//
// tally reads test events, shows one line per package and the output of what failed, and appends one line per
// test to the file RESULTS. rows prints where each row of the conformance list passed, and appends a failure for
// each that no test covers in one of the named passes in which it has to pass. sum names what was skipped and what
// failed, and closes with one line of counts; its exit code is 1 when something failed or nothing passed.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func main() {
	failed, err := run(os.Args[1:], os.Stdin, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) (failed bool, err error) {
	switch {
	case len(args) == 3 && args[0] == "tally":
		return appendTally(in, out, args[1], args[2])
	case len(args) >= 2 && args[0] == "rows":
		return appendHoles(out, args[1], args[2:])
	case len(args) == 2 && args[0] == "sum":
		rows, err := readFile(args[1])
		return err == nil && sum(out, rows), err
	}
	return false, fmt.Errorf("usage: report tally PASS RESULTS, report rows RESULTS PASS..., or report sum RESULTS; got %q", args)
}

func appendTally(events io.Reader, out io.Writer, pass, path string) (failed bool, err error) {
	rows, err := tally(events, out)
	if err != nil {
		return false, err
	}
	for i := range rows {
		rows[i].pass = pass
	}
	return appendRows(path, rows)
}

func appendHoles(out io.Writer, path string, passes []string) (failed bool, err error) {
	rows, err := readFile(path)
	if err != nil {
		return false, err
	}
	return appendRows(path, holes(out, conform.Entries(), rows, passes))
}

// appendRows adds rows to a file of results and says whether one of them failed.
func appendRows(path string, rows []row) (failed bool, err error) {
	results, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return false, err
	}
	defer results.Close()
	for _, r := range rows {
		failed = failed || r.status == fail
		if _, err := fmt.Fprintln(results, r); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

func readFile(path string) ([]row, error) {
	results, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer results.Close()
	rows, err := readRows(results)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
