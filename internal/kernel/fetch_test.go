package kernel

import (
	"slices"
	"testing"
)

func TestFetchOfAnyBytesLeavesThemAsTheyAre(t *testing.T) {
	x := make([]byte, 300)
	for i := range x {
		x[i] = byte(i * i)
	}
	want := slices.Clone(x)
	Fetch(nil)
	for from := range x {
		for to := from; to <= len(x); to += 37 {
			Fetch(x[from:to:to])
		}
	}
	if !slices.Equal(x, want) {
		t.Error("other bytes than before")
	}
	if n := testing.AllocsPerRun(10, func() { Fetch(x) }); n != 0 {
		t.Errorf("%v allocations for a hint", n)
	}
}

func TestFetchAsksForEveryLineAndNoMore(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 63: 1, 64: 1, 65: 2, 128: 2, 4096: 64} {
		if got := cacheLines(n); got != want {
			t.Errorf("%d bytes: %d lines, want %d", n, got, want)
		}
	}
}
