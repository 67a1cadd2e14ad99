package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// saved writes a model that has learnt nothing and returns its folder.
func saved(t *testing.T, change func(meta map[string]string)) string {
	t.Helper()
	model, err := nn.NewLanguageModel(random.NewKey(5), nn.LanguageModelConfig{Vocab: 5, Context: 16, Dims: 64, Layers: 2, Heads: 4})
	if err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{"model": "gpt", "vocabulary": "\n abñ", "context": "16", "dims": "64", "layers": "2", "heads": "4"}
	change(meta)
	dir := t.TempDir()
	if err := checkpoint.WriteFile(t.Context(), filepath.Join(dir, "checkpoint.safetensors"), nn.Parameters(model), meta); err != nil {
		t.Fatal(err)
	}
	return dir
}

// written is what so many ranks write.
func written(t *testing.T, o options, ranks int) (string, error) {
	t.Helper()
	o.quiet = true
	outs, errs := make([]bytes.Buffer, ranks), make([]error, ranks)
	var wait sync.WaitGroup
	for rank, comm := range grouptest.NewWorld(ranks) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			errs[rank] = write(t.Context(), o, &outs[rank], &outs[rank], g)
		})
	}
	wait.Wait()
	for rank := 1; rank < ranks; rank++ {
		if outs[rank].Len() > 0 || (errs[rank] == nil) != (errs[0] == nil) {
			t.Errorf("rank %d wrote %q, %v", rank, outs[rank].String(), errs[rank])
		}
	}
	return outs[0].String(), errs[0]
}

// With 24 letters after the prompt, a context of 16 is full twice.
func TestTheSameTextOnAnyNumberOfRanks(t *testing.T) {
	dir := saved(t, func(map[string]string) {})
	texts := map[string]bool{}
	for _, o := range []options{
		{prompt: "ab", n: 24, seed: 1, temperature: 0.8},
		{prompt: "ab", n: 24, seed: 2, temperature: 0.8},
		{prompt: "ñ a", n: 24},
		{prompt: strings.Repeat("ab a", 5), n: 24, seed: 1, temperature: 0.8},
		{prompt: "a", n: 24, seed: 3, temperature: 0.8, bits: 4},
		{prompt: "a", n: 24, seed: 3, temperature: 0.8, bits: 8},
	} {
		o.checkpoint = dir
		want, err := written(t, o, 1)
		if n := len([]rune(want)); err != nil || !strings.HasPrefix(want, o.prompt) || n != len([]rune(o.prompt))+o.n+1 {
			t.Fatalf("%+v: %d letters in %q, %v", o, n, want, err)
		}
		texts[want] = true
		for _, ranks := range []int{1, 2, 4} {
			for _, o.cache = range []bool{false, true} {
				if got, err := written(t, o, ranks); err != nil || got != want {
					t.Errorf("%+v on %d ranks: %q, %v; alone without a cache %q", o, ranks, got, err, want)
				}
			}
		}
	}
	if len(texts) != 6 {
		t.Errorf("only %d different texts", len(texts))
	}
}

func TestAShorterTextIsTheBeginningOfALongerOne(t *testing.T) {
	o := options{checkpoint: saved(t, func(map[string]string) {}), prompt: "a", n: 30, temperature: 1, cache: true}
	long, err := written(t, o, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.n = 7
	if short, err := written(t, o, 1); err != nil || !strings.HasPrefix(long, strings.TrimSuffix(short, "\n")) {
		t.Errorf("%q, %v; longer %q", short, err, long)
	}
}

// With the cache each letter after the first takes the model through one position.
func TestTheCacheSavesWork(t *testing.T) {
	model, _, err := load(t.Context(), options{checkpoint: saved(t, func(map[string]string) {})}, group.Single())
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{true, false} {
		w := newWindow(model, []int32{1, 2, 3}, keep)
		for i := range 20 {
			before := len(w.tokens) - w.seen
			if _, err := w.logits(t.Context()); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: len(w.tokens), false: len(w.tokens)}[keep]; w.cache[0].Len() != want || w.seen != want {
				t.Errorf("letter %d: %d in the cache, %d seen, want %d", i, w.cache[0].Len(), w.seen, want)
			}
			// The cache is empty at the beginning, and when 17 letters have become 8.
			if fresh := i == 0 || len(w.tokens) == 8 && i > 8; keep && !fresh && before != 1 {
				t.Errorf("letter %d: %d positions are computed, want 1", i, before)
			}
			w.add(int32(i % 5))
		}
	}
}

// Rank 0 alone draws: what the others would draw does not count.
func TestAllRanksGetWhatRank0Draws(t *testing.T) {
	const ranks = 3
	drawn := make([][]int32, ranks)
	var wait sync.WaitGroup
	for rank, comm := range grouptest.NewWorld(ranks) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			for i := range 32 {
				token, err := draw(t.Context(), array.Zeros(dtype.Float32, 1000), random.NewKey(uint64(rank)).Fold(uint64(i)), 1, g)
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
				drawn[rank] = append(drawn[rank], token)
			}
		})
	}
	wait.Wait()
	for rank := range ranks {
		if !slices.Equal(drawn[rank], drawn[0]) || slices.Min(drawn[rank]) == slices.Max(drawn[rank]) {
			t.Errorf("rank %d has %v, rank 0 %v", rank, drawn[rank], drawn[0])
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	for i, c := range []struct {
		change func(map[string]string)
		prompt string
		says   string
	}{
		{func(map[string]string) {}, "xyz", `'x'`},
		{func(m map[string]string) { m["model"] = "mlp" }, "a", `"mlp"`},
		{func(m map[string]string) { m["dims"] = "many" }, "a", `dims is "many"`},
		{func(m map[string]string) { m["layers"] = "60000" }, "a", "60000 layers"},
		{func(m map[string]string) { m["dims"] = "128" }, "a", "update: "},
		{func(m map[string]string) { m["vocabulary"] = "ab" }, "a", "update: "},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o := options{checkpoint: saved(t, c.change), prompt: c.prompt, n: 3}
			if text, err := written(t, o, 2); err == nil || !strings.Contains(err.Error(), c.says) || text != "" {
				t.Errorf("wrote %q; error is %v, want %q in it", text, err, c.says)
			}
		})
	}
}

func TestWrongFlags(t *testing.T) {
	for args, says := range map[string]string{
		"-prompt a":                               "-checkpoint is missing",
		"-checkpoint a":                           "-prompt is missing",
		"-checkpoint a -prompt a -bits 3":         "-bits is 3",
		"-checkpoint a -prompt a -n -1":           "-n is -1",
		"-checkpoint a -prompt a b":               `"b"`,
		"-checkpoint a -prompt a -temperature=-1": "-temperature is -1",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
