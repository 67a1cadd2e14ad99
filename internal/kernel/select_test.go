package kernel

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/internal/buffer"
)

func TestChoicesOfALevelAreThePortableOnes(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkChoices(t, k.choose32)
		checkChoices(t, k.choose64)
	})
}

func checkChoices[T unsigned](t *testing.T, f chooser[T]) {
	const most = 150
	x, y, yes := make([]T, most+1), make([]T, most+1), make([]bool, most+1)
	for i := range x {
		x[i], y[i], yes[i] = T(i), T(1000+i), i*i%7 < 3
	}
	for n := range most {
		for from := range 2 { // also where nothing is aligned
			z, want := make([]T, n+1), make([]T, n+1)
			z[n], want[n] = 99, 99
			choice(f)(buffer.Bytes(z[:n]), [][]byte{buffer.Bytes(yes[from : from+n]), buffer.Bytes(x[from : from+n]), buffer.Bytes(y[from : from+n])})
			choose(want[:n], yes[from:from+n], x[from:], y[from:])
			if !slices.Equal(z, want) {
				t.Fatalf("%T, %d elements: got %v, want %v", x[0], n, z, want)
			}
		}
	}
}
