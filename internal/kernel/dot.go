package kernel

import "github.com/lockstep-go/lockstep/internal/par"

// vectorProducts are those of a matrix and a vector at a level; see dot_amd64.go.
type vectorProducts[T float] struct {
	dots func(m, n int, a *T, stride int, x, y *T)
	add  func(n, rows int, b *T, stride int, x *T, step int, acc *T, ahead int)
	unit int // of the columns of add
}

// dotLanes is how many elements of a type dots adds up at once.
func dotLanes[T float]() int { return 256 / sizeOf[T]() }

// rows computes y = alpha·a·x + beta·y of m rows of n elements, lda apart, on all
// processors where that pays. What does not fill all lanes is added last, element
// by element.
func (p *vectorProducts[T]) rows(m, n int, alpha T, a []T, lda int, x []T, beta T, y []T, incY int) {
	count := min(par.Workers(), m*n/splitWork+1)
	par.Do(count, func(s int) {
		if from, to := m*s/count, m*(s+1)/count; alpha == 1 && beta == 0 && incY == 1 {
			if from < to {
				p.someDots(y[from:to], n, a[from*lda:], lda, x)
			}
			return
		}
		var sums [64]T
		for i := m * s / count; i < m*(s+1)/count; i += len(sums) {
			some := sums[:min(len(sums), m*(s+1)/count-i)]
			p.someDots(some, n, a[i*lda:], lda, x)
			for r, sum := range some {
				v := alpha * sum
				if beta != 0 {
					v += T(beta * y[(i+r)*incY])
				}
				y[(i+r)*incY] = v
			}
		}
	})
}

func (p *vectorProducts[T]) someDots(y []T, n int, a []T, lda int, x []T) {
	full := n / dotLanes[T]() * dotLanes[T]()
	if full > 0 {
		_, _ = a[(len(y)-1)*lda+full-1], x[full-1]
		p.dots(len(y), full, &a[0], lda, &x[0], &y[0])
	} else {
		clear(y)
	}
	if full == n {
		return
	}
	for i := range y {
		for j, v := range a[i*lda+full : i*lda+n] {
			y[i] += T(v * x[full+j])
		}
	}
}

// addWidth is how many columns of a product are summed at a time, so that the sums
// stay in the first cache.
const addWidth = 2048

// addRows computes y = x·b of a row of k elements, step apart, and a matrix of k
// rows of n elements, ldb apart, as a gemm does, bit for bit. Columns are shared
// out over the processors. n is a multiple of unit.
func (p *vectorProducts[T]) addRows(n, k int, x []T, step int, b []T, ldb int, y []T) {
	_, _, _ = x[(k-1)*step], b[(k-1)*ldb+n-1], y[n-1]
	width := addWidth
	if work := n * k / splitWork; work > 1 && par.Workers() > 1 {
		width = min(width, roundUp(n/min(work, 2*par.Workers()), p.unit))
	}
	count := (n + width - 1) / width
	do := func(i int) {
		j := i * width
		p.addColumns(min(width, n-j), k, x, step, b[j:], ldb, y[j:])
	}
	if count == 1 {
		do(0)
		return
	}
	par.Do(count, do)
}

func (p *vectorProducts[T]) addColumns(n, k int, x []T, step int, b []T, ldb int, y []T) {
	depth := evenDepth(k)
	sums := y[:n]
	clear(sums)
	p.add(n, min(depth, k), &b[0], ldb, &x[0], step, &sums[0], aheadOf[T](k, ldb))
	if k <= depth {
		return
	}
	part := make([]T, n)
	for l := depth; l < k; l += depth {
		clear(part)
		p.add(n, min(depth, k-l), &b[l*ldb], ldb, &x[l*step], step, &part[0], aheadOf[T](k, ldb))
		for j, v := range part {
			sums[j] += v
		}
	}
}
