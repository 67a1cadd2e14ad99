package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/program"
)

func TestDefaultOptions(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := options{model: "gpt", steps: 500, batch: 16, rate: o.rate, tensor: 1, accumulate: 1, dtype: "f32", backend: "any"}
	if o != want || o.rate <= 0 {
		t.Errorf("defaults are %+v, want %+v", o, want)
	}
}

func TestOptionsFromFlags(t *testing.T) {
	o, err := parse(strings.Fields("-model mlp -data x -steps 7 -batch 12 -lr 0.5 -seed 18446744073709551615 -tp 3 -dtype bf16 -accumulate 2 -backend ring -json -quiet -eval-every 3 -plot a.png"))
	if err != nil {
		t.Fatal(err)
	}
	want := options{model: "mlp", data: "x", steps: 7, batch: 12, rate: 0.5, seed: 1<<64 - 1, tensor: 3, accumulate: 2, dtype: "bf16", backend: "ring", json: true, quiet: true, evalEvery: 3, plot: "a.png"}
	if o != want {
		t.Errorf("options are %+v, want %+v", o, want)
	}
}

// wrongUse checks that err is a usage error of one line that says what is wanted.
func wrongUse(t *testing.T, err error, says string) {
	t.Helper()
	var usage *program.UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("%v is no usage error", err)
	}
	if s := err.Error(); !strings.Contains(s, says) || strings.ContainsAny(s, "\n") {
		t.Errorf("message %q; want one line with %q", s, says)
	}
}

func TestWrongFlags(t *testing.T) {
	for name, c := range map[string]struct{ args, says string }{
		"unknown flag":           {"-nosuch", "-nosuch"},
		"left over argument":     {"-steps 5 extra", `"extra"`},
		"unknown model":          {"-model cnn", `"cnn"; want gpt or mlp`},
		"steps not a number":     {"-steps many", `"many"`},
		"no steps":               {"-steps 0", "-steps is 0; want 1 or more"},
		"endless steps":          {"-steps 9223372036854775807", "want at most 1099511627776"},
		"batch beyond memory":    {"-batch 9223372036854775807", "want at most 1048576"},
		"negative batch":         {"-batch -4", "-batch is -4; want 1 or more"},
		"no ranks for a model":   {"-tp 0", "-tp is 0; want 1 or more"},
		"unknown type":           {"-dtype float16", `-dtype is "float16"; want one of f32, bf16, f16`},
		"no parts of a batch":    {"-accumulate 0", "-accumulate is 0; want 1 or more"},
		"negative evaluation":    {"-eval-every -1", "-eval-every is -1; want 0 or more"},
		"picture of no kind":     {"-plot loss", `-plot is "loss"; want a file that ends in .png, .svg, .pdf`},
		"picture of one unknown": {"-plot loss.gif", `-plot is "loss.gif"`},
		"rate zero":              {"-lr 0", "-lr is 0"},
		"rate not a number":      {"-lr NaN", "-lr is NaN"},
		"rate infinite":          {"-lr Inf", "-lr is +Inf"},
		"negative seed":          {"-seed -1", `"-1"`},
		"seed above 64 bits":     {"-seed 18446744073709551616", "18446744073709551616"},
		"flag without its value": {"-batch", "-batch"},
		"json not a bool":        {"-json=perhaps", `"perhaps"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(strings.Fields(c.args))
			wrongUse(t, err, c.says)
		})
	}
}

func TestHelpIsNoMistake(t *testing.T) {
	if code := run([]string{"-h"}); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if _, err := parse([]string{"-help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v, want flag.ErrHelp", err)
	}
}

func TestRanksMustDivide(t *testing.T) {
	for _, c := range []struct {
		batch, tensor, ranks int
		says                 string
	}{
		{16, 1, 1, ""}, {16, 1, 4, ""}, {3, 1, 3, ""}, {1, 4, 4, ""}, {2, 2, 4, ""}, {6, 2, 6, ""},
		{16, 1, 3, "-batch is 16, which 3 ranks do not divide evenly"},
		{2, 1, 4, "-batch is 2, which 4 ranks do not divide evenly"},
		{3, 2, 4, "-batch is 3, which 2 groups of 2 ranks do not divide evenly"},
		{16, 2, 1, "-tp is 2, which does not divide 1 rank evenly"},
		{16, 2, 3, "-tp is 2, which does not divide 3 ranks evenly"},
		{16, 8, 4, "-tp is 8, which does not divide 4 ranks evenly"},
	} {
		err := options{batch: c.batch, tensor: c.tensor}.checkRanks(c.ranks)
		if c.says == "" && err != nil {
			t.Errorf("batch %d, -tp %d, on %d ranks: %v", c.batch, c.tensor, c.ranks, err)
		} else if c.says != "" {
			wrongUse(t, err, c.says)
		}
	}
}

func TestPartsOfABatchMustDivide(t *testing.T) {
	for _, c := range []struct {
		batch, tensor, ranks, accumulate int
		says                             string
	}{
		{16, 1, 1, 16, ""}, {16, 1, 4, 4, ""}, {16, 2, 4, 8, ""},
		{16, 1, 1, 3, "-accumulate is 3, which does not divide the 16 examples of a rank evenly"},
		{16, 1, 4, 8, "-accumulate is 8, which does not divide the 4 examples of a rank evenly"},
		{4, 1, 4, 2, "-accumulate is 2, which does not divide the 1 examples of a rank evenly"},
	} {
		err := options{batch: c.batch, tensor: c.tensor, accumulate: c.accumulate}.checkRanks(c.ranks)
		if c.says == "" && err != nil {
			t.Errorf("%+v: %v", c, err)
		} else if c.says != "" {
			wrongUse(t, err, c.says)
		}
	}
}

func TestWrongData(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nowhere := filepath.Join(dir, "nowhere")
	for name, c := range map[string]struct{ model, path, says string }{
		"text that is not there":    {"gpt", nowhere, nowhere},
		"images that are not there": {"mlp", nowhere + "-images", nowhere},
		"a directory":               {"gpt", dir, dir},
		"an empty text":             {"gpt", write("empty", nil), "empty"},
		"a text of one window":      {"gpt", write("short", bytes.Repeat([]byte("a"), contextLength)), "64 characters; at least 65 are needed"},
		"bytes that are not UTF-8":  {"gpt", write("latin", []byte("caf\xe9")), "not UTF-8"},
		"text as images":            {"mlp", write("text-images", []byte("hello")), "images"},
	} {
		t.Run(name, func(t *testing.T) {
			wrongUse(t, train(t.Context(), []string{"-model", c.model, "-data", c.path}, &signals{}), c.says)
		})
	}
	short := write("evaluated", bytes.Repeat([]byte("ab"), 320))
	wrongUse(t, train(t.Context(), []string{"-data", short, "-eval-every", "1"}, &signals{}), "-eval-every holds back the last tenth of the 640 characters")
}
