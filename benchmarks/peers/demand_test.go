package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fixture has one contender of ours and one peer, without a run.
func fixture(o *options) *results {
	return newResults(o, []contender{{row: ringTCP, takes: anything}, {row: gloo, detail: "ring", takes: anything}, {row: gloo, detail: "bcube", takes: anything}})
}

func (r *results) put(at cell, detail string, values ...float64) {
	for _, v := range values {
		a := r.attempt(at, detail)
		a.Values = append(a.Values, v)
	}
}

func TestVerdicts(t *testing.T) {
	ours, theirs := cell{two, ringTCP, 4}, cell{two, gloo, 4}
	half := demand{part: "TCP", ours: ours, than: theirs, factor: 0.5}
	more := demand{part: "TCP", ours: ours, than: theirs, factor: 1, plus: 3}
	alone := demand{part: "TCP", ours: ours, plus: 5}
	for _, c := range []struct {
		name    string
		options options
		demand  demand
		mine    []float64
		other   []float64
		want    string
		reached string
	}{
		{"half the time", options{}, half, []float64{5}, []float64{10}, met, "0.50× (5 to 10 µs)"},
		{"a little more than half", options{}, half, []float64{5.1}, []float64{10}, missed, "0.51× (5.1 to 10 µs)"},
		{"the median counts", options{}, half, []float64{1, 9, 8}, []float64{10}, missed, "0.80× (8 to 10 µs)"},
		{"within the allowance", options{}, more, []float64{12.5}, []float64{10}, met, "2.5 µs more"},
		{"above the allowance", options{}, more, []float64{14}, []float64{10}, missed, "4 µs more"},
		{"under a limit", options{}, alone, []float64{4.5}, nil, met, "4.5 %"},
		{"over a limit", options{}, alone, []float64{6}, nil, missed, "6 %"},
		{"ours is not there", options{}, half, nil, []float64{10}, missed, "not measured"},
		{"ours was not asked for", options{only: regexp.MustCompile("x")}, half, nil, []float64{10}, open, "not measured"},
		{"ours was left out of a trial run", options{quick: true}, half, nil, nil, open, "not measured"},
		{"the peer is not there", options{}, half, []float64{5}, nil, open, "5 µs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fixture(&c.options)
			r.put(ours, "", c.mine...)
			r.put(theirs, "ring", c.other...)
			v := r.judgeOne(c.demand)
			if v.status != c.want || v.reached() != c.reached {
				t.Errorf("got %s, %s, want %s, %s", v.status, v.reached(), c.want, c.reached)
			}
		})
	}
}

func TestBestOfAlternatives(t *testing.T) {
	r := fixture(&options{})
	at := cell{two, gloo, 4}
	r.put(at, "ring", 1, 20, 30)
	r.put(at, "bcube", 14, 16)
	if value, a, ok := r.best(at); !ok || value != 15 || a.Detail != "bcube" {
		t.Errorf("got %v of %v, want the median 15 of bcube", value, a)
	}
}

func TestDisturbedFiguresCountWhereThereAreNoOthers(t *testing.T) {
	s, at := scenarios[0], cell{two, ringTCP, 4}
	for _, c := range []struct {
		name   string
		shares []float64 // of other processes during launches that took 10, 20, 30 ...
		want   float64
		mark   string
	}{
		{"all quiet", []float64{0, 0.05, 0.1}, 20, met},
		{"one disturbed", []float64{0.5, 0, 0}, 25, met},
		{"all disturbed", []float64{0.2, 0.9, 1}, 20, "~" + met},
		{"not known", []float64{-1}, 10, met},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fixture(&options{})
			for i, share := range c.shares {
				r.add(s, r.field[0], []figure{{4, float64(10 * (i + 1))}}, share, true)
			}
			v := r.judgeOne(demand{ours: at, plus: 100})
			if v.got != c.want || v.mark() != c.mark {
				t.Errorf("got %v, %s, want %v, %s", v.got, v.mark(), c.want, c.mark)
			}
		})
	}
}

// A demand that names no scenario, row or size that exists could never be met.
func TestDemandsNameWhatIsMeasured(t *testing.T) {
	known := map[cell]bool{}
	rows := []string{ringShared} // joins the field with shared memory
	for _, c := range field("./launch", "./peers", "") {
		rows = append(rows, c.row)
	}
	for _, s := range scenarios {
		for _, n := range s.bytes {
			for _, row := range rows {
				known[cell{s.name(), row, n}] = true
			}
		}
	}
	var parts []string
	for _, d := range demands() {
		if !known[d.ours] || d.than.row != "" && !known[d.than] {
			t.Errorf("nobody measures %v or %v", d.ours, d.than)
		}
		if !slices.Contains(parts, d.part) {
			parts = append(parts, d.part)
		}
	}
	if want := "shared memory, TCP, halves, messages, more ranks than cores, over Open MPI"; strings.Join(parts, ", ") != want {
		t.Errorf("parts %q, want %q", strings.Join(parts, ", "), want)
	}
}

func TestNamesAreUnique(t *testing.T) {
	var names []string
	for _, s := range scenarios {
		for _, c := range field("./launch", "./peers", "") {
			names = append(names, s.name()+"/"+c.name())
		}
	}
	slices.Sort(names)
	if n := len(slices.Compact(slices.Clone(names))); n != len(names) {
		t.Errorf("%d of %d names of scenario and contender differ", n, len(names))
	}
}
