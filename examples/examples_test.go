//go:build !race

// Package examples_test runs the programs of this folder as processes, which the race
// detector would not see into.
//
// An example is a folder with a main.go and a want.txt. That holds what the program prints,
// under a headline for each number of ranks that it is run with:
//
//	-- 2 ranks --
//	rank 0 of 2 on BACKEND: 3
//	rank 1 of 2 on BACKEND: 3
//
// Lines may come in any order, since ranks do. BACKEND stands for the name of the backend: a
// program with several ranks runs on the ring, under launch, and on Open MPI, under mpirun,
// where the tests are built with that.
package examples_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

func TestMain(m *testing.M) {
	for _, v := range env.Variables {
		os.Unsetenv(v.Name) // a world around the tests is not the programs' world
	}
	os.Exit(m.Run())
}

func TestExamplesPrintWhatTheyShould(t *testing.T) {
	programs := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-tags", buildTags, "-o", programs, "./...", "../jobs/launch")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("%d examples (%v)", len(mains), err)
	}
	for _, file := range mains {
		name := filepath.Dir(file)
		program := filepath.Join(programs, name)
		for n, want := range wanted(t, name) {
			for backend, start := range starts(programs, n) {
				t.Run(fmt.Sprintf("%s/%d/%s", name, n, backend), func(t *testing.T) {
					got := sorted(run(t, append(start, program)))
					if want := sorted(strings.ReplaceAll(want, "BACKEND", backend)); got != want {
						t.Errorf("printed\n%s\nwant, in any order,\n%s", got, want)
					}
				})
			}
		}
	}
}

// starts are the commands that a program follows to run as n ranks, by backend.
func starts(programs string, n int) map[string][]string {
	if n == 1 {
		return map[string][]string{"single": nil}
	}
	all := map[string][]string{"ring": {filepath.Join(programs, "launch"), "-n", strconv.Itoa(n), "--backend", "ring", "--"}}
	if buildTags == "mpi" {
		all["mpi"] = []string{"mpirun", "--oversubscribe", "-np", strconv.Itoa(n)}
		if os.Geteuid() == 0 {
			all["mpi"] = append(all["mpi"], "--allow-run-as-root")
		}
	}
	return all
}

var headline = regexp.MustCompile(`(?m)^-- ([0-9]+) ranks? --\n`)

// wanted is what an example prints, by the number of ranks.
func wanted(t *testing.T, name string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name, "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]string{}
	at := headline.FindAllSubmatchIndex(text, -1)
	for i, m := range at {
		n, _ := strconv.Atoi(string(text[m[2]:m[3]]))
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all[n] = string(text[m[1]:end])
	}
	if len(all) == 0 || len(all) != len(at) || at[0][0] != 0 {
		t.Fatalf("%s/want.txt has %d headlines for %d numbers of ranks, or begins without one", name, len(at), len(all))
	}
	return all
}

// run returns what a command prints on standard output.
func run(t *testing.T, command []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, output, stderr.String())
	}
	return string(output)
}

func sorted(text string) string {
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}
