package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// lanewise is the sum that a dot promises.
func lanewise[T float](x, y []T) T {
	n := dotLanes[T]()
	full := len(x) / n * n
	sums := make([]T, n)
	for i := range full {
		sums[i%n] = fma(x[i], y[i], sums[i%n])
	}
	for ; len(sums) > 1; sums = sums[:len(sums)/2] {
		for i := range len(sums) / 2 {
			sums[i] += sums[len(sums)/2+i]
		}
	}
	for i := full; i < len(x); i++ {
		sums[0] += T(x[i] * y[i])
	}
	return sums[0]
}

func TestMatrixTimesVectorIsLanewiseBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	fast(t, func(t *testing.T, k *kernels) {
		for _, s := range [][2]int{{1, 1}, {3, 63}, {3, 64}, {5, 65}, {2, 200}, {7, 1000}, {1500, 1500}} {
			m, n := s[0], s[1]
			checkVector(t, m, n, random[float32](m*(n+1), r), random[float32](n, r), k.Sgemv)
			checkVector(t, m, n, random[float64](m*(n+1), r), random[float64](n, r), k.Dgemv)
		}
	})
}

type gemv[T float] func(tA blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)

func checkVector[T float](t *testing.T, m, n int, a, x []T, f gemv[T]) {
	t.Helper()
	y := make([]T, 2*m)
	for i := range y {
		y[i] = T(math.NaN())
	}
	f(blas.NoTrans, m, n, 1, a, n+1, x, 1, 0, y, 2)
	added := append([]T(nil), x[0], x[0])
	f(blas.NoTrans, 1, n, 2, a, n+1, x, 1, 3, added, 1)
	for i := range m {
		if want := lanewise(a[i*(n+1):][:n], x); y[2*i] != want {
			t.Fatalf("%T, %d rows of %d, row %d: got %v, want %v", want, m, n, i, y[2*i], want)
		}
	}
	if want := T(2*y[0]) + T(3*x[0]); added[0] != want || added[1] != x[0] {
		t.Errorf("%T, %d elements, scaled and added: got %v, want %v", want, n, added, want)
	}
}

func TestTransposedMatrixTimesVector(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		y := []float64{0, 0, 0}
		k.Dgemv(blas.Trans, 2, 3, 1, []float64{1, 2, 3, 4, 5, 6}, 3, []float64{1, 10}, 1, 0, y, 1)
		if y[0] != 41 || y[1] != 52 || y[2] != 63 {
			t.Errorf("got %v, want [41 52 63]", y)
		}
	})
}

// A row times a matrix is added up as any product is, whatever computes it.
func TestRowTimesMatrixIsAChainBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	fast(t, func(t *testing.T, k *kernels) {
		for _, s := range [][3]int{{16, 1, 16}, {32, 3, 40}, {64, 4, 64}, {48, 300, 50}, {160, 1000, 160}, {4096, 600, 4096}} {
			checkRowProduct(t, &k.products32, s[0], s[1], s[2], random[float32](2*s[1], r), random[float32](s[1]*s[2], r))
			checkRowProduct(t, &k.products64, s[0], s[1], s[2], random[float64](2*s[1], r), random[float64](s[1]*s[2], r))
		}
	})
}

func checkRowProduct[T float](t *testing.T, p *vectorProducts[T], n, k, ldb int, x, b []T) {
	t.Helper()
	y := make([]T, n+1)
	y[n] = 12345
	p.addRows(n, k, x, 2, b, ldb, y[:n])
	for j := range n {
		want := chained(k, func(l int) T { return x[2*l] }, func(l int) T { return b[l*ldb+j] })
		if y[j] != want {
			t.Fatalf("%T, %d rows of %d, column %d: got %v, want %v", want, k, n, j, y[j], want)
		}
	}
	if y[n] != 12345 {
		t.Errorf("%d columns: wrote beyond them", n)
	}
}

func TestZeroTimesNaNIsNaNInProductsWithVectors(t *testing.T) {
	nan := math.NaN()
	fast(t, func(t *testing.T, k *kernels) {
		a, x := make([]float64, 64), make([]float64, 64)
		a[40] = nan
		y := []float64{0}
		k.Dgemv(blas.NoTrans, 1, 64, 1, a, 64, x, 1, 0, y, 1)
		if !math.IsNaN(y[0]) {
			t.Errorf("a row with NaN times zeros is %v", y[0])
		}
		row := make([]float64, 8)
		k.products64.addRows(8, 8, x[:8], 1, a[:64], 8, row)
		if !math.IsNaN(row[0]) || row[1] != 0 {
			t.Errorf("zeros times a matrix with NaN in its first column are %v", row)
		}
	})
}
