package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-go/lockstep/array"
)

func ints(t *testing.T, x *array.Array) []int32 {
	t.Helper()
	values, err := array.Values[int32](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestWindows(t *testing.T) {
	tokens := make([]int32, contextLength+5)
	for i := range tokens {
		tokens[i] = int32(100 + i)
	}
	inputs := windows(tokens, []int{4, 0}) // the last window and the first
	for i, x := range inputs {
		if shape := []int{2, contextLength}; !slices.Equal(x.Shape(), shape) {
			t.Fatalf("input %d has shape %v, want %v", i, x.Shape(), shape)
		}
		for j, token := range ints(t, x) {
			start := []int{4, 0}[j/contextLength]
			if want := int32(100 + start + j%contextLength + i); token != want {
				t.Fatalf("input %d has %d at %d, want %d", i, token, j, want)
			}
		}
	}
}

func TestEveryWindowIsAnExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(strings.Repeat("añ", contextLength)), 0o600); err != nil {
		t.Fatal(err)
	}
	task, err := newLanguageModel(options{data: path})
	if err != nil {
		t.Fatal(err)
	}
	if want := contextLength; task.examples != want {
		t.Errorf("%d examples in %d characters, want %d", task.examples, 2*contextLength, want)
	}
	last := task.inputs([]int{task.examples - 1})
	if next := ints(t, last[1]); next[contextLength-1] != 1 { // ñ
		t.Errorf("the last window ends before %d, not before the last character", next[contextLength-1])
	}
}

func TestSampleIsTheSameEachTime(t *testing.T) {
	task, err := newLanguageModel(options{seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	one, err := task.sample(t.Context())
	two, err2 := task.sample(t.Context())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if n := utf8.RuneCountInString(one); n != sampleLength || one != two {
		t.Errorf("%d characters, want %d; samples %q and %q", n, sampleLength, one, two)
	}
}
