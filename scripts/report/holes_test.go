package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
)

// attribute is the event by which a test names a row that it covers.
func attribute(test, id string) string {
	return `{"Action":"attr","Package":"github.com/lockstep-go/lockstep/ring","Test":"` + test + `","Key":"conformance","Value":"` + id + `"}` + "\n"
}

func TestTallyOfRows(t *testing.T) {
	cases := []struct {
		name, stream string
		want         []string
	}{
		{"a test that passes covers its rows", events("run A") + attribute("A", "R1") + attribute("A", "R2") + events("pass A", "pass"), []string{"R1 ring A", "R2 ring A"}},
		{"a test that fails covers nothing", events("run A") + attribute("A", "R1") + events("fail A", "fail"), nil},
		{"a test that is skipped covers nothing", events("run A") + attribute("A", "R1") + events("skip A", "pass"), nil},
		{"a test whose subtests are all skipped covers nothing", events("run A") + attribute("A", "R1") + events("run A/x", "skip A/x", "pass A", "pass"), nil},
		{"one subtest that ran is enough", events("run A") + attribute("A", "R1") + events("run A/x", "run A/x/y", "pass A/x/y", "pass A/x", "run A/z", "skip A/z", "pass A", "pass"), []string{"R1 ring A"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rows, err := tally(strings.NewReader(c.stream), new(strings.Builder))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows {
				if r.status == covers {
					got = append(got, r.test+" "+r.why)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("covered %q, want %q", got, c.want)
			}
		})
	}
}

func TestHoles(t *testing.T) {
	entries := []conform.Entry{{ID: "R1", Passes: []string{"unit", "mpi"}, Meaning: "sums"}, {ID: "R2", Passes: []string{"unit"}, Meaning: "maxima"}}
	rows := []row{
		{covers, "unit", "R1", "a"}, {covers, "unit", "R1", "b"}, {covers, "race", "R1", "a"},
		{covers, "mpi on 2 ranks", "R1", "c"}, {covers, "mpi on 3 ranks", "R1", "c"}, {pass, "unit", "R2", ""},
	}
	var out strings.Builder
	missing := holes(&out, entries, rows, []string{"unit", "mpi"})
	if want := []row{{fail, "conformance", "R2", "no test of it passed in the pass unit: maxima"}}; !slices.Equal(missing, want) {
		t.Errorf("holes %v, want %v", missing, want)
	}
	if want := "\nconformance:\n  R1   unit, race, mpi on 2 3 ranks\n  R2   \n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if missing := holes(&out, entries, rows[:3], []string{"mpi"}); len(missing) != 1 || missing[0].test != "R1" {
		t.Errorf("a row that passed everywhere but where it has to: %v", missing)
	}
	if missing := holes(&out, entries, nil, nil); missing != nil {
		t.Errorf("no pass asked for, yet holes: %v", missing)
	}
	if failed := sum(&out, rows); failed || !strings.HasSuffix(out.String(), "\n1 passed, 0 failed, 0 skipped\n") {
		t.Errorf("covered rows counted as tests: %q", out.String())
	}
}
