package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string][]int{
		"8":            {8},
		"1KiB,2K,4M":   {1024, 2048, 4 << 20},
		"1G":           {1 << 30},
		"3:24":         {3, 6, 12, 24},
		"1KiB:5KiB,16": {1024, 2048, 4096, 16},
	} {
		if got, err := parseSizes(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-8", "8,", "8,8", "x", "1KB", "1 KiB", "8:4", "8:", ":8", "1:2:4", "2G", "1.5M", "99999999999999999999", "4294967296K", strings.Repeat("1,", 99) + "1"} {
		if got, err := parseSizes(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for args, says := range map[string]string{
		"-nosuch":                          "-nosuch",
		"more":                             `unexpected argument "more"`,
		"-only ping":                       `no operation "ping"; want some of latency, bandwidth, all_reduce`,
		"-only latency,latency":            `"latency" twice`,
		"-sizes 10":                        "multiple of the 4 bytes of float32",
		"-dtypes float31":                  `"float31"`,
		"-dtypes float32,float64 -sizes 4": "multiple of the 8 bytes of float64",
		"-ranks 0":                         `"0" is no number of ranks`,
		"-iterations 0":                    "-iterations is 0; want 1 to",
		"-iterations 3 -time 1s":           "want one of them",
		"-time 0s":                         "-time is 0s",
		"-time 2h":                         "at most 1h",
		"-local 0":                         "-local is 0; want 1 to 256",
		"-local 2 -backend mpi":            "want one of them",
		"-plot curve.gif":                  ".png, .svg, .pdf",
		"-plot a.png -only barrier":        "nothing that is measured has any",
		"-plot a.png -json a.png":          "both",
	} {
		_, err := parse(strings.Fields(args))
		var usage *program.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line of wrong use that says %q", args, err, says)
		}
	}
}

func TestLocalInsideAWorldIsWrongUse(t *testing.T) {
	t.Setenv(env.Rank, "0")
	if _, err := parse([]string{"-local", "2"}); err == nil || !strings.Contains(err.Error(), env.Rank+"=0") {
		t.Error(err)
	}
}

// Whatever the type, each operation has sizes of its own that it divides.
func TestOperationsHaveSizesForEveryType(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range catalogue {
		for _, of := range dtype.All() {
			sizes := o.sizesOf(op, of)
			if len(sizes) == 0 || slices.ContainsFunc(sizes, func(n int) bool { return n%of.Size() != 0 }) {
				t.Errorf("%s of %v: %d", op.name, of, sizes)
			}
		}
	}
	sums := o.sizesOf(catalogue[2], dtype.Float32)
	if !slices.Contains(sums, 4096*4) || !slices.Contains(sums, 32768*4) {
		t.Errorf("sums are measured over %d bytes; want 4,096 and 32,768 float32 among them", sums)
	}
}
