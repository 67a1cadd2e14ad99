package conform

import (
	"reflect"
	"strings"
	"testing"
)

func TestTheListHasEverySection(t *testing.T) {
	for section, want := range map[string]int{"G": 13, "P": 11, "R": 29, "A": 14, "C": 11, "S": 22, "O": 26, "V": 17, "K": 4, "L": 15, "SEG": 6, "Q": 4, "B": 20, "X": 14} {
		got := 0
		for _, e := range Entries() {
			if strings.TrimRight(e.ID, "0123456789x") == section {
				got++
			}
		}
		if got != want {
			t.Errorf("section %s has %d rows, want %d", section, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, text, wrong string
		want              []Entry
	}{
		{"rows, comments and empty lines", "# about\n\nR1  unit,mpi  one two\nR2 unit three", "", []Entry{{"R1", []string{"unit", "mpi"}, "one two"}, {"R2", []string{"unit"}, "three"}}},
		{"no meaning", "R1 unit", `"R1 unit" is not`, nil},
		{"an unknown pass", "R1 unit,gpu sums", `"gpu" is no pass`, nil},
		{"a row twice", "R1 unit a\nR1 unit b", "R1 is there twice", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(c.text)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("error %v, want %q in it", err, c.wrong)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// recorder is a test that notes what it is told.
type recorder struct {
	testing.TB
	attributes []string
	fatal      string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Attr(key, value string)    { r.attributes = append(r.attributes, key+" "+value) }
func (r *recorder) Fatalf(f string, a ...any) { r.fatal = f }

func TestRowMarksItsTest(t *testing.T) {
	r := new(recorder)
	Row(r, "R1", "O26")
	if want := []string{"conformance R1", "conformance O26"}; !reflect.DeepEqual(r.attributes, want) || r.fatal != "" {
		t.Errorf("attributes %q, failure %q; want %q", r.attributes, r.fatal, want)
	}
	if Row(r, "R99"); r.fatal == "" {
		t.Error("an id that is not on the list did not fail the test")
	}
}
