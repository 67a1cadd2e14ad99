package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// fast calls f for each level that has kernels of its own on this machine.
func fast(t *testing.T, f func(t *testing.T, k *kernels)) {
	for _, k := range machine() {
		if k.level != Portable {
			t.Run(string(k.level), func(t *testing.T) { f(t, k) })
		}
	}
}

// fma is x·y + z rounded once. For float32 the product is exact in float64, and
// the sum is rounded to odd there, so that the second rounding is the only one.
func fma[T float](x, y, z T) T {
	if any(T(0)) == any(float64(0)) {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return T(s)
	}
	t := s - p
	err := (p - (s - t)) + (c - t)
	if err != 0 && math.Float64bits(s)&1 == 0 {
		if (err > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return T(s)
}

// chained is the sum that a product promises: blocks of depth in order, each a
// chain from zero.
func chained[T float](k int, a, b func(l int) T) T {
	var sum T
	for l := 0; l < k; l += evenDepth(k) {
		var part T
		for i := l; i < min(k, l+evenDepth(k)); i++ {
			part = fma(a(i), b(i), part)
		}
		if l == 0 {
			sum = part
		} else {
			sum += part
		}
	}
	return sum
}

func TestDepthIsCutEvenly(t *testing.T) {
	for _, c := range []struct{ k, want int }{{1, 1}, {256, 256}, {257, 129}, {512, 256}, {784, 196}, {1000, 250}} {
		if got := evenDepth(c.k); got != c.want {
			t.Errorf("blocks of %d are %d deep, want %d", c.k, got, c.want)
		}
	}
}

func random[T float](n int, r *rand.Rand) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// product is a product to check: operands with rows wider than they need be.
type product struct {
	m, n, k int
	tA, tB  blas.Transpose
}

func (p product) String() string {
	return fmt.Sprintf("%dx%dx%d%c%c", p.m, p.k, p.n, p.tA, p.tB)
}

func products() []product {
	var all []product
	for _, size := range [][3]int{
		{1, 1, 1}, {1, 40, 7}, {40, 1, 7}, {2, 3, 5}, {4, 16, 3}, {6, 8, 4}, {8, 32, 9}, {11, 31, 10}, {12, 32, 20},
		{13, 33, 21}, {25, 65, 2}, {64, 16, 64}, {64, 64, 16}, {70, 150, 40}, {50, 40, 257}, {5, 6, 400}, {241, 33, 5}, {3, 2100, 4},
	} {
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				all = append(all, product{size[0], size[1], size[2], tA, tB})
			}
		}
	}
	return all
}

func TestProductsAreChainsBitForBit(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		for _, p := range products() {
			t.Run(p.String(), func(t *testing.T) {
				checkProduct(t, p, k.gemm32)
				checkProduct(t, p, k.gemm64)
			})
		}
	})
}

func checkProduct[T float](t *testing.T, p product, g *gemm[T]) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	lda, ldb, ldc := p.k+3, p.n+1, p.n+2
	rowsA, rowsB := p.m, p.k
	if p.tA == blas.Trans {
		lda, rowsA = p.m+3, p.k
	}
	if p.tB == blas.Trans {
		ldb, rowsB = p.k+1, p.n
	}
	a, b := random[T](rowsA*lda, r), random[T](rowsB*ldb, r)
	a, b = a[:(rowsA-1)*lda+lda-3], b[:(rowsB-1)*ldb+ldb-1]
	c := random[T](p.m*ldc, r)
	before := append([]T(nil), c...)
	gemmBLAS(g, p.tA, p.tB, p.m, p.n, p.k, 1, a, lda, b, ldb, 0, c, ldc)
	at := func(x []T, ld int, trans blas.Transpose, i, j int) T {
		if trans == blas.Trans {
			return x[j*ld+i]
		}
		return x[i*ld+j]
	}
	for i := range p.m {
		for j := range ldc {
			want := before[i*ldc+j] // beyond the row nothing is written
			if j < p.n {
				want = chained(p.k, func(l int) T { return at(a, lda, p.tA, i, l) }, func(l int) T { return at(b, ldb, p.tB, l, j) })
			}
			if c[i*ldc+j] != want {
				t.Fatalf("%T: element [%d %d] is %v, want %v", want, i, j, c[i*ldc+j], want)
			}
		}
	}
}

func TestProductsScaleAndAdd(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name              string
		alpha, beta, k, c float64
		want              float64 // with 2 in a, 3 in b
	}{
		{"plain", 1, 0, 2, nan, 12},
		{"added", 1, 1, 2, 5, 17},
		{"scaled", 2, 0, 2, nan, 24},
		{"scaled and added", 2, 3, 2, 5, 39},
		{"a factor of zero", 0, 2, 2, 5, 10},
		{"both zero", 0, 0, 2, nan, 0},
		{"no depth", 1, 2, 0, 5, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			fast(t, func(t *testing.T, k *kernels) {
				depth := int(c.k)
				a, b := []float64{2, 2}, []float64{3, 3, 3, 3}
				got := []float64{c.c, c.c}
				k.Dgemm(blas.NoTrans, blas.NoTrans, 1, 2, depth, c.alpha, a, 2, b, 2, c.beta, got, 2)
				if got[0] != c.want || got[1] != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		})
	}
}

// A product large enough to be shared out has the same bits on one processor,
// and zero times NaN is NaN in it.
func TestSharedProductsKeepTheirBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 190, 130, 200
	a, b := random[float32](m*k, r), random[float32](k*n, r)
	a[0], b[1] = 0, float32(math.NaN())
	fast(t, func(t *testing.T, ks *kernels) {
		multiplyWith := func(workers int) []float32 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			c := make([]float32, m*n)
			ks.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, k, b, n, 0, c, n)
			return c
		}
		if parts := ks.gemm32.split(m, n, k); len(parts) < 2 && runtime.GOMAXPROCS(0) > 1 {
			t.Errorf("the product is not shared out: %v", parts)
		}
		one, many := multiplyWith(1), multiplyWith(5)
		for i := range one {
			if math.Float32bits(one[i]) != math.Float32bits(many[i]) {
				t.Fatalf("element %d is %v on one processor and %v on five", i, one[i], many[i])
			}
		}
		if !math.IsNaN(float64(one[1])) {
			t.Errorf("zero times NaN gave %v", one[1])
		}
	})
}
