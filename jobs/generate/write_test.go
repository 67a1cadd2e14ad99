package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array/random"
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
	outs, errs := make([]bytes.Buffer, ranks), make([]error, ranks)
	var wait sync.WaitGroup
	for rank, comm := range grouptest.NewWorld(ranks) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			errs[rank] = write(t.Context(), o, &outs[rank], g)
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

func TestTheSameTextOnAnyNumberOfRanks(t *testing.T) {
	dir := saved(t, func(map[string]string) {})
	texts := map[string]bool{}
	for _, o := range []options{
		{prompt: "ab", n: 24, seed: 1, temperature: 0.8},
		{prompt: "ab", n: 24, seed: 2, temperature: 0.8},
		{prompt: "ñ a", n: 24},
		{prompt: "a", n: 12, seed: 3, temperature: 0.8, bits: 4},
		{prompt: "a", n: 12, seed: 3, temperature: 0.8, bits: 8},
	} {
		o.checkpoint = dir
		want, err := written(t, o, 1)
		if n := len([]rune(want)); err != nil || !strings.HasPrefix(want, o.prompt) || n != len([]rune(o.prompt))+o.n+1 {
			t.Fatalf("%+v: %d letters in %q, %v", o, n, want, err)
		}
		texts[want] = true
		for _, ranks := range []int{2, 4} {
			got, err := written(t, o, ranks)
			if o.bits != 0 && ranks == 4 { // 16 inputs of a rank are no group of 32
				if err == nil || !strings.Contains(err.Error(), "whole groups of 32") {
					t.Errorf("%+v on 4 ranks: %v", o, err)
				}
				continue
			}
			if err != nil || got != want {
				t.Errorf("%+v on %d ranks: %q, %v; alone %q", o, ranks, got, err, want)
			}
		}
	}
	if len(texts) < 4 {
		t.Errorf("only %d different texts", len(texts))
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

func TestWrongUse(t *testing.T) {
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
