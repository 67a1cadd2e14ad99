package nn_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// The tests of this package say what every rank does, by world and worlds. Mostly all
// ranks are goroutines of one process (memory_test.go). Built with the tag world, the test
// binary is one rank of many that launch or mpirun started (processes_test.go).

// worlds runs f as every rank of worlds of several sizes, as far as there are so many
// ranks.
func worlds(t *testing.T, sizes []int, f func(t *testing.T, g *group.Group)) {
	t.Helper()
	for _, n := range sizes {
		if n > most {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			world(t, n, func(g *group.Group) { f(t, g) })
		})
	}
}

// numbers computes x as float64s, on any goroutine; nil after an error.
func numbers(t *testing.T, what string, x *array.Array) []float64 {
	t.Helper()
	v, err := array.Values[float64](context.Background(), x.AsType(dtype.Float64))
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return v
}

// near compares got with want: at most atol + rtol·|want| apart.
func near(t *testing.T, what string, got, want *array.Array, atol, rtol float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s has shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	x, y := numbers(t, what, got), numbers(t, what+", wanted", want)
	if x == nil || y == nil {
		return
	}
	for i := range y {
		if !(math.Abs(x[i]-y[i]) <= atol+rtol*math.Abs(y[i])) {
			t.Errorf("%s: element %d is %v, want %v", what, i, x[i], y[i])
			return
		}
	}
}

// mine is the part of x that rank r of n has along an axis.
func mine(x *array.Array, axis int, g *group.Group) *array.Array {
	return array.Split(x, g.Size(), axis)[g.Rank()]
}

// says checks that err holds all words, in one line.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error is %q, want %q in its one line", err, w)
		}
	}
}
