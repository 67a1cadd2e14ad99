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
	Detail    string    `json:"detail,omitempty"`
	Values    []float64 `json:"values"`
	Disturbed []float64 `json:"disturbed,omitempty"` // of launches beside which others worked, or whose cores lay apart
}

// quiet is up to what share of the cores other processes may use for a figure to
// count as undisturbed.
const quiet = 0.1

// median is that of the undisturbed values if there are any.
func (a *attempt) median() float64 {
	if len(a.Values) == 0 {
		return median(a.Disturbed)
	}
	return median(a.Values)
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
	launches  int
	disturbed int // of the launches, by other processes
	apart     int // of the launches, whose cores lay apart
	distance  distance
}

// failure is a launch that came to nothing.
type failure struct {
	Scenario  string `json:"scenario"`
	Contender string `json:"contender"`
	Bytes     []int  `json:"bytes"`
	Error     string `json:"error"`
}

func newResults(o *options, field []contender) *results {
	return &results{
		machine: thisMachine(), foreign: -1, began: time.Now(), options: o,
		scenarios: o.chosen(), field: field, cells: map[cell][]*attempt{},
	}
}

// add takes the figures of one launch, during which other processes used a share
// of the cores, and these were near each other or not.
func (r *results) add(s scenario, c contender, figures []figure, foreign float64, near bool) {
	r.launches++
	if foreign > quiet {
		r.disturbed++
	}
	if !near {
		r.apart++
	}
	for _, f := range figures {
		a := r.attempt(cell{s.name(), c.row, f.bytes}, c.detail)
		if foreign > quiet || !near {
			a.Disturbed = append(a.Disturbed, f.value)
		} else {
			a.Values = append(a.Values, f.value)
		}
	}
}

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
	r.failures = append(r.failures, failure{s.name(), c.name(), s.bytes, err.Error()})
}

// best is the lowest median among the contenders of a cell.
func (r *results) best(at cell) (value float64, best *attempt, ok bool) {
	for _, a := range r.cells[at] {
		if m := a.median(); !ok || m < value {
			value, best, ok = m, a, true
		}
	}
	return value, best, ok
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
