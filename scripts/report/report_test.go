package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// events spells a stream of one package: "action test" or "output test text" per item.
func events(items ...string) string {
	var stream strings.Builder
	for _, item := range items {
		action, rest, _ := strings.Cut(item, " ")
		test, text, _ := strings.Cut(rest, " ")
		stream.WriteString(`{"Action":"` + action + `","Package":"github.com/lockstep-go/lockstep/ring","Test":"` + test + `","Output":"` + text + `"}` + "\n")
	}
	return stream.String()
}

func TestTally(t *testing.T) {
	cases := []struct {
		name, stream string
		want         []string // status and test of each row
		shown        []string
	}{
		{"a passing test", events("run A", "pass A", "pass"), []string{"pass ring A"}, []string{"pass ring  0.0s  1 passed, 0 failed, 0 skipped"}},
		{"a test that holds others counts through them", events("run A", "run A/x", "pass A/x", "run A/y", "pass A/y", "pass A", "pass"),
			[]string{"pass ring A/x", "pass ring A/y"}, nil},
		{"a test that fails beside its subtests counts itself", events("run A", "run A/x", "pass A/x", "output A broken", "fail A", "fail"),
			[]string{"fail ring A", "pass ring A/x"}, []string{"--- ring A\nbroken"}},
		{"a test that fails through a subtest does not", events("run A", "run A/x", "output A/x broken", "fail A/x", "fail A", "fail"),
			[]string{"fail ring A/x"}, []string{"--- ring A/x\nbroken"}},
		{"a process that dies fails the test that ran", events("run A", "pass A", "run B", "output  panic", "fail"),
			[]string{"pass ring A", "fail ring B"}, []string{"panic"}},
		{"a package that fails without a test fails by name", events("output  exit", "fail"), []string{"fail ring"}, []string{"--- ring\nexit"}},
		{"a stream cut short fails", events("run A", "pass A"), []string{"pass ring A", "fail ring"}, []string{"the events end before the package does"}},
		{"a package without tests counts nothing", events("output  [no-test-files]", "skip"), nil, nil},
		{"a build that fails shows the compiler's words",
			`{"ImportPath":"p [p.test]","Action":"build-output","Output":"a.go:1: undefined\n"}` + "\n" +
				`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}` + "\n", []string{"fail p"}, []string{"a.go:1: undefined"}},
		{"lines that are no events are shown", "mpirun: no such file\n", nil, []string{"mpirun: no such file"}},
		{"a last line without its end is read", strings.TrimSuffix(events("run A", "pass A", "pass"), "\n"), []string{"pass ring A"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			rows, err := tally(strings.NewReader(c.stream), &out)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows {
				got = append(got, string(r.status)+" "+r.test)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("rows %q, want %q", got, c.want)
			}
			for _, text := range c.shown {
				if !strings.Contains(out.String(), text) {
					t.Errorf("shown %q, want %q in it", out.String(), text)
				}
			}
		})
	}
}

func TestSkipsKeepTheirReason(t *testing.T) {
	rows, err := tally(strings.NewReader(events("run A", `output A \u0020   a_test.go:7: needs four ranks\n`, "skip A", "pass")), new(strings.Builder))
	if err != nil || len(rows) != 1 || rows[0].why != "needs four ranks" {
		t.Errorf("rows %v, error %v", rows, err)
	}
}

func TestSum(t *testing.T) {
	cases := []struct {
		name   string
		rows   []row
		failed bool
		want   string
	}{
		{"all pass", []row{{pass, "unit", "a", ""}, {pass, "race", "a", ""}}, false, "\n2 passed, 0 failed, 0 skipped\n"},
		{"nothing ran", nil, true, "\n0 passed, 0 failed, 0 skipped\n"},
		{"all skipped", []row{{skip, "mpi", "2 ranks", "no mpicc"}}, true, "\nskipped:\n  mpi: 2 ranks (no mpicc)\n\n0 passed, 0 failed, 1 skipped\n"},
		{"a skip in two passes is one line and counts twice", []row{{pass, "unit", "a", ""}, {skip, "unit", "b", "why"}, {skip, "race", "b", "why"}, {skip, "race", "b2", ""}}, false,
			"\nskipped:\n  unit, race: b (why)\n  race: b2\n\n1 passed, 0 failed, 3 skipped\n"},
		{"ranks of one test count once, the worst", []row{{pass, "mpi", "a", ""}, {fail, "mpi", "a", ""}, {skip, "mpi", "a", ""}, {pass, "mpi", "b", ""}}, true,
			"\nfailed:\n  mpi: a\n\n1 passed, 1 failed, 0 skipped\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if failed := sum(&out, c.rows); failed != c.failed || out.String() != c.want {
				t.Errorf("failed %v, %q; want %v, %q", failed, out.String(), c.failed, c.want)
			}
		})
	}
}

func TestRunAppendsAndSums(t *testing.T) {
	results := filepath.Join(t.TempDir(), "results")
	var out strings.Builder
	for _, name := range []string{"unit", "race"} {
		if failed, err := run([]string{"tally", name, results}, strings.NewReader(events("run A", "pass A", "pass")), &out); failed || err != nil {
			t.Fatalf("failed %v, error %v", failed, err)
		}
	}
	if failed, err := run([]string{"sum", results}, nil, &out); failed || err != nil || !strings.HasSuffix(out.String(), "\n2 passed, 0 failed, 0 skipped\n") {
		t.Errorf("failed %v, error %v, %q", failed, err, out.String())
	}
}

func TestRunRefuses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("pass\tunit\ta\t\nperhaps\tunit\tb\t\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		args []string
		want string
	}{
		{"no arguments", nil, "usage"},
		{"an unknown verb", []string{"count", "x"}, "usage"},
		{"missing results", []string{"sum", broken + "-not"}, "no such file"},
		{"a status that is none", []string{"sum", broken}, `line 2: "perhaps`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := run(c.args, strings.NewReader(""), new(strings.Builder)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
