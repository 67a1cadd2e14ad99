package main

import (
	"slices"
	"time"
)

// cell is the place of a figure: a scenario, a row and a size.
type cell struct {
	scenario string
	row      string
	bytes    int
}

// attempt is one contender's repetitions in one cell, over all rounds.
type attempt struct {
	Detail string    `json:"detail,omitempty"`
	Values []float64 `json:"values"`
}

// results is everything that a run has measured.
type results struct {
	machine machine
	foreign float64 // share of the cores that other processes used; below 0 if unknown
	began   time.Time
	options *options

	scenarios []scenario
	field     []contender
	cells     map[cell][]*attempt
	failures  []failure
}

// failure is a launch that came to nothing.
type failure struct {
	Scenario  string `json:"scenario"`
	Contender string `json:"contender"`
	Error     string `json:"error"`
}

func newResults(o *options, field []contender) *results {
	return &results{
		machine: thisMachine(), foreign: -1, began: time.Now(), options: o,
		scenarios: o.chosen(), field: field, cells: map[cell][]*attempt{},
	}
}

func (r *results) add(s scenario, c contender, figures []figure) {
	for _, f := range figures {
		at := cell{s.name(), c.row, f.bytes}
		r.attempt(at, c.detail).add(f.value)
	}
}

func (a *attempt) add(value float64) { a.Values = append(a.Values, value) }

func (r *results) attempt(at cell, detail string) *attempt {
	for _, a := range r.cells[at] {
		if a.Detail == detail {
			return a
		}
	}
	a := &attempt{Detail: detail}
	r.cells[at] = append(r.cells[at], a)
	return a
}

func (r *results) fail(s scenario, c contender, err error) {
	r.failures = append(r.failures, failure{s.name(), c.name(), err.Error()})
}

// best is the lowest median among the contenders of a cell.
func (r *results) best(at cell) (value float64, detail string, ok bool) {
	for _, a := range r.cells[at] {
		if m := median(a.Values); !ok || m < value {
			value, detail, ok = m, a.Detail, true
		}
	}
	return value, detail, ok
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// rows lists a scenario's rows that have a figure, in the field's order.
func (r *results) rows(s scenario) []string {
	var rows []string
	for _, c := range r.field {
		has := slices.ContainsFunc(s.bytes, func(n int) bool { return len(r.cells[cell{s.name(), c.row, n}]) > 0 })
		if has && !slices.Contains(rows, c.row) {
			rows = append(rows, c.row)
		}
	}
	return rows
}
