package ops_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// The tests of this package say what every rank does, by world and sizes. Mostly all ranks
// are goroutines of one process (memory_test.go). Built with the tag world, the test binary
// is one rank of many that launch or mpirun started (processes_test.go).

// rank is one rank of a test's world.
type rank struct {
	*testing.T
	g    *group.Group
	r    int
	ctx  context.Context
	meet func() // returns when all ranks have called it; not through g
}

// sizes runs f in worlds of the given sizes, as far as there are so many ranks.
func sizes(t *testing.T, ns []int, f func(r rank)) {
	for _, n := range ns {
		if n <= most {
			t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) { world(t, n, f) })
		}
	}
}

// inOrder goes through cases in the order of their names: ranks do the same at the same
// time.
func inOrder[K cmp.Ordered, V any](cases map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			if !yield(name, cases[name]) {
				return
			}
		}
	}
}

// same checks values and shape of x.
func same[T dtype.Element](r rank, what string, x *array.Array, want []T, shape ...int) {
	r.Helper()
	got, err := array.Values[T](r.ctx, x)
	if err != nil {
		r.Errorf("%s on rank %d: %v", what, r.r, err)
		return
	}
	if !slices.Equal(got, want) || !slices.Equal(x.Shape(), shape) {
		r.Errorf("%s on rank %d: %v of shape %v, want %v of shape %v", what, r.r, got, x.Shape(), want, shape)
	}
}

// by picks a rank's value.
func by[T any](r rank, values ...T) T { return values[r.r] }
