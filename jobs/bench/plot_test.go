package main

import (
	"bytes"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labels(ticks []plot.Tick) string {
	var texts []string
	for _, t := range ticks {
		if t.Label != "" {
			texts = append(texts, t.Label)
		}
	}
	return strings.Join(texts, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"few sizes", labels(byteTicks(512, 4096)), "512 1 KiB 2 KiB 4 KiB"},
		{"many sizes", labels(byteTicks(1<<10, 16<<20)), "1 KiB 8 KiB 64 KiB 512 KiB 4 MiB"},
		{"few figures", labels(figureTicks(0.15, 12)), "0.2 0.5 1 2 5 10"},
		{"many figures", labels(figureTicks(0.1, 1000)), "0.1 1 10 100 1000"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

// Rows of one size, of one figure, and of one unit alone are pictures too.
func TestPicturesOfFewRows(t *testing.T) {
	row := result{Operation: "all_reduce", Dtype: "float32", Ranks: 2, Bytes: 64, Unit: micros, P50: 3}
	other := row
	other.Bytes = 128
	wide := row
	wide.Unit, wide.Operation = megabytes, "bandwidth"
	for name, rows := range map[string][]result{"one row": {row}, "a level line": {row, other}, "both units": {row, other, wide}, "bandwidth alone": {wide}} {
		for format, begins := range map[string]string{"png": "\x89PNG", "svg": "<?xml", "pdf": "%PDF"} {
			var out bytes.Buffer
			if err := drawn(&out, format, record{Backend: "ring", Results: rows}); err != nil || !strings.HasPrefix(out.String(), begins) {
				t.Errorf("%s as %s: %v, %.10q", name, format, err, out.String())
			}
		}
	}
}

func TestCurvesAreOneForEachTable(t *testing.T) {
	row := func(op, dtype string, ranks, bytes int) result {
		return result{Operation: op, Dtype: dtype, Ranks: ranks, Bytes: bytes, Unit: micros}
	}
	curves := curvesOf(record{Results: []result{
		row("all_reduce", "float32", 2, 8), row("all_reduce", "float32", 2, 64), row("all_reduce", "int8", 2, 8),
		row("all_reduce", "int8", 4, 8), row("gather", "int8", 4, 8), row("barrier", "", 4, 0),
	}}, micros)
	var names []string
	for _, c := range curves {
		names = append(names, c.name)
	}
	if got := strings.Join(names, "; "); got != "all_reduce float32, 2 ranks; all_reduce int8, 2 ranks; all_reduce int8, 4 ranks; gather int8, 4 ranks" || len(curves[0].points) != 2 {
		t.Errorf("curves %s, the first of %d points", got, len(curves[0].points))
	}
}
