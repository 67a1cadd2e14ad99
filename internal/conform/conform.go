// Package conform names the rows of the conformance list, rows.txt, and lets tests say which of them they cover.
//
//	func TestSumOfNegativeZeros(t *testing.T) {
//		conform.Row(t, "R15")
//		…
//	}
//
// A run of all tests prints where each row passed and fails where a test of one is missing.
package conform

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Attribute is the key under which the events of `go test -json` carry a row's id.
const Attribute = "conformance"

//go:embed rows.txt
var list string

// Entry is one row of the list.
type Entry struct {
	ID      string
	Passes  []string // in each of which a test of the row has to pass: unit, ring, mpi
	Meaning string
}

var entries = must(parse(list))

// Entries are the rows in the order of the list.
func Entries() []Entry { return slices.Clone(entries) }

// Row says at the start of a test or subtest that it covers the rows with these ids: they passed if it
// passes. A test in which all subtests are skipped covers nothing. An id that is not on the list fails the test.
func Row(t testing.TB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if !slices.ContainsFunc(entries, func(e Entry) bool { return e.ID == id }) {
			t.Fatalf("internal/conform/rows.txt has no row %q", id)
		}
		t.Attr(Attribute, id)
	}
}

// parse reads one row a line: id, passes apart by commas, meaning. Empty lines and lines that begin with # are left out.
func parse(text string) ([]Entry, error) {
	var rows []Entry
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		passes, meaning, _ := strings.Cut(strings.TrimSpace(rest), " ")
		e := Entry{id, strings.Split(passes, ","), strings.TrimSpace(meaning)}
		switch {
		case e.Meaning == "":
			return nil, fmt.Errorf("row %q is not id, passes and meaning", line)
		case slices.ContainsFunc(rows, func(other Entry) bool { return other.ID == id }):
			return nil, fmt.Errorf("row %s is there twice", id)
		}
		for _, pass := range e.Passes {
			if !slices.Contains([]string{"unit", "ring", "mpi"}, pass) {
				return nil, fmt.Errorf("row %s: %q is no pass: unit, ring, mpi", id, pass)
			}
		}
		rows = append(rows, e)
	}
	return rows, nil
}

// must is for the list that the program was built with, which a test has read.
func must(rows []Entry, err error) []Entry {
	if err != nil {
		panic(err)
	}
	return rows
}
