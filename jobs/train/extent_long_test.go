//go:build !race && long

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

// How long and wide the training is that all worlds do alike.
const (
	learnSteps = 50
	learnBatch = 16
)

// losses runs a training on one process and returns the loss of every step.
func losses(t *testing.T, args ...string) []float64 {
	t.Helper()
	ends := programtest.Finished(t, nil, append([]string{programtest.Path(t, "train"), "-json"}, args...)...)
	if ends.Code != 0 {
		t.Fatalf("exit code %d, standard error:\n%s", ends.Code, ends.Stderr)
	}
	var all []float64
	for line := range strings.Lines(ends.Stdout) {
		var p progress
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if p.Step > 0 {
			all = append(all, float64(p.Loss))
		}
	}
	return all
}

// A run of 200 steps is the first part of one of 2000.
func TestTextIsLearnt(t *testing.T) {
	for _, seed := range []string{"0", "1"} {
		t.Run("seed "+seed, func(t *testing.T) {
			all := losses(t, "-steps", "2000", "-seed", seed)
			if early, late := all[199], all[1999]; early >= 2.6 || late >= 2.0 {
				t.Errorf("loss is %v after 200 steps and %v after 2000; want less than 2.6 and 2.0", early, late)
			}
		})
	}
}

// What comes next in a text that repeats 40 random letters can only be told from
// several letters before: without attention the loss stays near 1.2.
func TestRepetitionIsLearntByAttention(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 10))
	letters := make([]byte, 40)
	for i := range letters {
		letters[i] = "abcdefghij"[r.IntN(10)]
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, slices.Repeat(letters, 500), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := losses(t, "-steps", "500", "-data", path); all[499] >= 0.1 {
		t.Errorf("loss is %v after 500 steps, want less than 0.1", all[499])
	}
}
