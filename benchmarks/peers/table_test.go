package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	r := fixture(&options{})
	r.put(cell{"stream/f32/2", ringTCP, 64 * kib}, "", 10)
	r.put(cell{two, ringTCP, 4}, "", 12.345)
	r.put(cell{two, ringTCP, 64 * mib}, "", 23456)
	r.put(cell{two, gloo, 4}, "bcube", 0.5)
	for _, c := range []struct {
		name     string
		scenario scenario
		want     string
	}{
		{"times", scenario{op: "allreduce", kind: "f32", ranks: 2, bytes: []int{4, 4 * kib, 64 * mib}, heading: "sums"},
			"\nSums, µs\n\n| | 4 B | 4 KiB | 64 MiB |\n|---|---|---|---|\n" +
				"| ring tcp, group | 12.3 | – | 23,500 |\n| Gloo, best algorithm | 0.5 bcube | – | – |\n"},
		{"bandwidth", scenario{op: "stream", kind: "f32", ranks: 2, bytes: []int{64 * kib}, heading: "stream", unit: bandwidth},
			"\nStream, GB/s\n\n| | 64 KiB |\n|---|---|\n| ring tcp, group | 6.55 |\n"},
		{"nothing measured", scenario{op: "pingpong", kind: "f32", ranks: 2, bytes: []int{4}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			r.table(&text, c.scenario)
			if text.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", text.String(), c.want)
			}
		})
	}
}

func TestShort(t *testing.T) {
	for value, want := range map[float64]string{0.0614: "0.0614", 9.876: "9.88", 123.4: "123", 999.4: "999", 999.96: "1,000", 1234: "1,230", 99950: "100,000", 1234567: "1,230,000"} {
		if got := short(value); got != want {
			t.Errorf("%v is shown as %q, want %q", value, got, want)
		}
	}
}

func TestCompanyIsNotHidden(t *testing.T) {
	for _, c := range []struct {
		name             string
		foreign          float64
		disturbed, apart int // of nine launches
		want             string
	}{
		{"quiet", 0.02, 0, 0, "Other processes used 2 % of the cores meanwhile."},
		{"busy", 0.5, 7, 0, "disturbed 7 of 9 launches"},
		{"apart", 0.02, 0, 5, "apart in 5 of 9 launches: **figures"},
		{"not known", -1, 0, 0, "not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fixture(&options{})
			r.foreign, r.launches, r.disturbed, r.apart = c.foreign, 9, c.disturbed, c.apart
			if got := r.company(); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		share float64
		near  bool
		want  string
	}{{0, true, "5"}, {0.5, true, "~5"}, {0, false, "~5"}} {
		r := fixture(&options{})
		r.add(scenarios[0], r.field[0], []figure{{4, 5}}, c.share, c.near)
		if got := r.shown(scenarios[0], ringTCP, 4); got != c.want {
			t.Errorf("a figure beside a share of %g, near %v, is shown as %q, want %q", c.share, c.near, got, c.want)
		}
	}
}

func TestTicks(t *testing.T) {
	// user nice system idle iowait irq softirq steal
	if got := busyTicks("cpu  1 20 300 4000 50000 600000 7000000 80000000"); got != 7600321 {
		t.Errorf("got %d ticks, want 7600321", got)
	}
}
