package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/benchmarks/section"
)

// The test binary is a rank when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A whole run of what needs no peers: real ranks, started by launch.
func TestQuickRun(t *testing.T) {
	dir := t.TempDir()
	launch, document, figures := filepath.Join(dir, "launch"), filepath.Join(dir, "document.md"), filepath.Join(dir, "figures.json")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", launch, "../../jobs/launch").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(document, []byte("# Title\n"+section.Begin("peers")+"old\n"+section.End("peers")+"end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-quick", "-launch", launch, "-only", "^(allreduce/f32|pingpong/f32)/2/ring tcp", "-json", figures, "-write", document})
	if err != nil {
		t.Fatal(err)
	}
	o.progress = io.Discard
	r, err := measureAll(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"ring tcp, group", "ring tcp, communicator"} {
		for _, at := range []cell{{two, row, 4}, {two, row, 4 * kib}, {two, row, 16 * kib}, {"pingpong/f32/2", row, 4}} {
			if value, _, ok := r.best(at); !ok || value <= 0 {
				t.Errorf("%v: no figure", at)
			}
		}
	}
	if err := r.publish(io.Discard); err != nil {
		t.Fatal(err)
	}
	checkDocument(t, document)
	checkJSON(t, figures)
}

func checkDocument(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n" + section.Begin("peers"), "All-reduce of float32, two ranks, µs", "| ring tcp, group | ", section.End("peers") + "end\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the document lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Error("the old section is still there")
	}
}

func checkJSON(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows   []row
		Ratios []ratio
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 10 || len(got.Ratios) != len(demands()) {
		t.Errorf("%d rows and %d ratios, want 10 (two doors, three sums and two round trips) and %d", len(got.Rows), len(got.Ratios), len(demands()))
	}
}

// TestDistance asks a program that says what it is told to.
func TestDistance(t *testing.T) {
	program, trips := filepath.Join(t.TempDir(), "limits"), []string{"0.4", "0.1", "0.29", "0.31", "0.05", "0.29"}
	d := distance{program: program}
	for i, near := range []bool{true, true, true, false, true, false} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho 4 "+trips[i]+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := d.near(t.Context()); got != near {
			t.Errorf("after %v µs near is %v, want %v", trips[:i+1], got, near)
		}
	}
	if none := (&distance{}); !none.near(t.Context()) || !none.await(t.Context()) {
		t.Error("without a program cores lie apart")
	}
}

// The limits check their own sums; three ranks make slices that do not divide.
func TestLimitsInC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc to compile the limits with")
	}
	at := folder(t.TempDir())
	missing, err := at.compile(t.Context(), map[string]bool{limitsProgram: true})
	if err != nil || len(missing) > 0 {
		t.Fatal(err, missing)
	}
	for _, c := range []struct {
		name  string
		args  string
		sizes []int
	}{
		{"shared memory, two ranks", "shm 2 allreduce f32 4 40000 600000", []int{4, 40000, 600000}},
		{"shared memory, three ranks", "shm 3 allreduce f32 120000", []int{120000}},
		{"TCP", "tcp 2 allreduce f32 4 600000", []int{4, 600000}},
		{"Unix sockets", "unix 2 allreduce f32 600000", []int{600000}},
		{"round trips in shared memory", "shm 2 pingpong f32 4", []int{4}},
		{"round trips over TCP, spinning", "tcp-spin 2 pingpong f32 4", []int{4}},
		{"streams in shared memory", "shm 2 stream f32 2000000", []int{2000000}},
		{"streams over TCP", "tcp 2 stream f32 65536", []int{65536}},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := append([]string{at.path(limitsProgram), "1", "0.0001"}, strings.Fields(c.args)...)
			figures, err := carryOut(t.Context(), command)
			if err != nil {
				t.Fatal(err)
			}
			checkSizes(t, figures, c.sizes)
		})
	}
}

func TestPeerThatCannotBeBuiltIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	at := folder(t.TempDir())
	missing, err := at.compile(t.Context(), map[string]bool{glooProgram: true, renoLibrary: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newResults(&options{progress: io.Discard}, field("./launch", "./peers", at))
	r.note(missing)
	var text strings.Builder
	r.preface(&text)
	if want := "Left out: " + gloo; strings.Count(text.String(), want) != 1 || !strings.Contains(text.String(), "libgloo-dev") {
		t.Errorf("got %q, want one line with %q and the package to install", text.String(), want)
	}
}

func TestFailedLaunchIsNotedAndTheRunGoesOn(t *testing.T) {
	r := newResults(&options{rounds: 1, quick: true, progress: io.Discard}, []contender{{row: "broken", takes: anything,
		command: func(scenario, effort) ([]string, error) { return []string{"go", "no-such-command"}, nil }}})
	if err := r.round(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	launches := 0
	for _, s := range r.scenarios {
		launches += len(s.bytes)
	}
	if len(r.failures) != launches || !strings.Contains(r.failures[0].Error, "no-such-command") {
		t.Errorf("got failures %v, want one for each of %d launches with what was printed", r.failures, launches)
	}
}

func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"an argument", []string{"all"}},
		{"no rounds", []string{"-rounds", "0"}},
		{"a broken expression", []string{"-only", "("}},
		{"an unknown flag", []string{"-loud"}},
		{"a rank without work", []string{"rank"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code := run(c.args); code != codeUsage {
				t.Errorf("exit code %d, want %d", code, codeUsage)
			}
		})
	}
}

func TestFiguresAreReadStrictly(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         []figure
	}{
		{"two lines", "4 0.5\n16 1e3\n", []figure{{4, 0.5}, {16, 1000}}},
		{"nothing", "", nil},
		{"one column", "4\n", nil},
		{"words", "four 0.5\n", nil},
		{"a figure that is none", "4 fast\n", nil},
		{"something after the figures", "4 0.5\ndone\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readFigures(c.output)
			if (err == nil) != (c.want != nil) || err == nil && len(got) != len(c.want) {
				t.Fatalf("got %v, %v, want %v", got, err, c.want)
			}
			for i := range c.want {
				if got[i] != c.want[i] {
					t.Errorf("line %d is %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}
