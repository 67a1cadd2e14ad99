package par_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/internal/par"
)

func TestDoCallsEachOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 2, 100} {
			counts := make([]int, n)
			withWorkers(workers, func() { par.Do(n, func(i int) { counts[i]++ }) })
			if slices.ContainsFunc(counts, func(c int) bool { return c != 1 }) {
				t.Errorf("%d calls on %d workers: called %v times", n, workers, counts)
			}
		}
	}
}

func TestDoRaisesAPanicInTheCaller(t *testing.T) {
	for _, workers := range []int{1, 4} {
		withWorkers(workers, func() {
			defer func() {
				if r := recover(); r != "the third" {
					t.Errorf("%d workers: recovered %v, want the panic of a call", workers, r)
				}
			}()
			par.Do(5, func(i int) {
				if i == 2 {
					panic("the third")
				}
			})
		})
	}
}

func TestDoNests(t *testing.T) {
	counts := make([][4]int, 4)
	withWorkers(2, func() {
		par.Do(4, func(i int) { par.Do(4, func(j int) { counts[i][j]++ }) })
	})
	for i, c := range counts {
		if c != [4]int{1, 1, 1, 1} {
			t.Errorf("inner calls of %d: %v", i, c)
		}
	}
}

func TestLimit(t *testing.T) {
	defer par.Limit(0)
	withWorkers(4, func() {
		for _, c := range []struct{ limit, want int }{{0, 4}, {1, 1}, {3, 3}, {9, 4}, {0, 4}} {
			par.Limit(c.limit)
			if got := par.Workers(); got != c.want {
				t.Errorf("with limit %d there are %d workers of 4, want %d", c.limit, got, c.want)
			}
		}
	})
}

func withWorkers(n int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	f()
}
