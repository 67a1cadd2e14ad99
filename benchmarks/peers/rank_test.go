package main

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ring"
)

// runWorld carries out one task on n ranks of this process and returns what rank
// 0 wrote.
func runWorld(t *testing.T, n int, args ...string) (string, error) {
	t.Helper()
	task, err := parseTask(args)
	if err != nil {
		t.Fatal(err)
	}
	comms, err := ring.Local(t.Context(), n, ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	outs, errs := make([]bytes.Buffer, n), make([]error, n)
	var ranks sync.WaitGroup
	for r, comm := range comms {
		ranks.Go(func() {
			g := group.New(comm)
			errs[r] = errors.Join(runTask(t.Context(), g, task, &outs[r]), g.Close())
		})
	}
	ranks.Wait()
	for r := range outs[1:] {
		if outs[r+1].Len() > 0 {
			t.Errorf("rank %d wrote %q", r+1, outs[r+1].String())
		}
	}
	return outs[0].String(), errors.Join(errs...)
}

func TestRanksMeasure(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		args  []string
		sizes []int // of the lines expected
	}{
		{"sums through the group", 2, []string{"-via", "group", "allreduce", "f32", "4", "8192"}, []int{4, 4, 8192, 8192}},
		{"sums through the communicator", 3, []string{"-via", "communicator", "allreduce", "f32", "12"}, []int{12, 12}},
		{"sums of halves", 2, []string{"allreduce", "bf16", "16"}, []int{16, 16}},
		{"round trips through the group", 2, []string{"pingpong", "f32", "4"}, []int{4, 4}},
		{"round trips through the communicator", 2, []string{"-via", "communicator", "pingpong", "f32", "4"}, []int{4, 4}},
		{"streams through the group", 2, []string{"stream", "f32", "65536"}, []int{65536, 65536}},
		{"streams through the communicator", 2, []string{"-via", "communicator", "stream", "f32", "65536"}, []int{65536, 65536}},
		{"waiting", 3, []string{"idle", "f32", "0"}, []int{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := runWorld(t, c.ranks, append([]string{"-repetitions", "2", "-seconds", "0.0001"}, c.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			figures, err := readFigures(text)
			if err != nil {
				t.Fatal(err)
			}
			checkSizes(t, figures, c.sizes)
		})
	}
}

func checkSizes(t *testing.T, figures []figure, want []int) {
	t.Helper()
	if len(figures) != len(want) {
		t.Fatalf("got %d figures %v, want sizes %v", len(figures), figures, want)
	}
	for i, f := range figures {
		if f.bytes != want[i] || f.value < 0 || f.bytes > 0 && f.value == 0 {
			t.Errorf("figure %d is %v, want a time for %d bytes", i, f, want[i])
		}
	}
}

func TestMessagesAreForTwoRanks(t *testing.T) {
	if _, err := runWorld(t, 3, "pingpong", "f32", "4"); err == nil {
		t.Error("a round trip among three ranks was measured")
	}
}

func TestRankRefusesWrongUse(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"nothing", nil},
		{"no sizes", []string{"allreduce", "f32"}},
		{"an unknown type", []string{"allreduce", "f64", "8"}},
		{"an unknown way", []string{"-via", "air", "allreduce", "f32", "8"}},
		{"a size that is no number", []string{"allreduce", "f32", "many"}},
		{"a size of no whole elements", []string{"allreduce", "f32", "6"}},
		{"an unknown flag", []string{"-loud", "allreduce", "f32", "8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var usage *usageError
			if _, err := parseTask(c.args); !errors.As(err, &usage) {
				t.Errorf("got %v, want wrong use", err)
			}
		})
	}
}
