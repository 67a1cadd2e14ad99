package kernel

import "github.com/lockstep-go/lockstep/internal/par"

// dot is the inner product of n elements, a multiple of dotLanes; see
// dot_amd64.go.
type dot[T float] func(n int, x, y *T) T

// dotLanes is how many elements of a type a dot adds up at once.
func dotLanes[T float]() int {
	if any(T(0)) == any(float32(0)) {
		return 64
	}
	return 32
}

// rows computes y = alpha·a·x + beta·y of m rows of n elements, lda apart, on all
// processors where that pays. What does not fill all lanes is added last, element
// by element.
func (d dot[T]) rows(m, n int, alpha T, a []T, lda int, x []T, beta T, y []T, incY int) {
	shares := min(par.Workers(), m*n/splitWork+1)
	par.Do(shares, func(s int) {
		for i := m * s / shares; i < m*(s+1)/shares; i++ {
			v := alpha * d.of(a[i*lda:][:n], x)
			if beta != 0 {
				v += T(beta * y[i*incY])
			}
			y[i*incY] = v
		}
	})
}

func (d dot[T]) of(x, y []T) T {
	full := len(x) / dotLanes[T]() * dotLanes[T]()
	var sum T
	if full > 0 {
		_ = y[full-1]
		sum = d(full, &x[0], &y[0])
	}
	for i, v := range x[full:] {
		sum += T(v * y[full+i])
	}
	return sum
}
