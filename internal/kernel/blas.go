package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// fastBLAS32 is the BLAS of a level for float32: gonum's implementation with the
// products of the level in place of its own. ok is false where the level has none
// or the program has put another than gonum's own behind blas32.
func fastBLAS32(k *kernels) (impl blas.Float32, ok bool) {
	_, own := blas32.Implementation().(gonum.Implementation)
	return k, own && k.gemm32 != nil
}

// fastBLAS64 is fastBLAS32 for float64.
func fastBLAS64(k *kernels) (impl blas.Float64, ok bool) {
	_, own := blas64.Implementation().(gonum.Implementation)
	return k, own && k.gemm64 != nil
}

// Sgemm is C = alpha·A·B + beta·C as in BLAS, of arguments that are right: they are
// not checked.
func (k *kernels) Sgemm(tA, tB blas.Transpose, m, n, depth int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	gemmBLAS(k.gemm32, tA, tB, m, n, depth, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dgemm is Sgemm for float64.
func (k *kernels) Dgemm(tA, tB blas.Transpose, m, n, depth int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	gemmBLAS(k.gemm64, tA, tB, m, n, depth, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemv is y = alpha·A·x + beta·y as in BLAS, of arguments that are right.
func (k *kernels) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if tA != blas.NoTrans || incX != 1 {
		k.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	k.products32.rows(m, n, alpha, a, lda, x, beta, y, incY)
}

// Dgemv is Sgemv for float64.
func (k *kernels) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if tA != blas.NoTrans || incX != 1 {
		k.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	k.products64.rows(m, n, alpha, a, lda, x, beta, y, incY)
}

func gemmBLAS[T float](g *gemm[T], tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		for i := range m {
			scale(beta, c[i*ldc:][:n])
		}
		return
	}
	left, right := strip[T]{a, lda, 1}, strip[T]{b, 1, ldb}
	if tA != blas.NoTrans {
		left = strip[T]{a, 1, lda}
	}
	if tB != blas.NoTrans {
		right = strip[T]{b, ldb, 1}
	}
	if alpha == 1 && (beta == 0 || beta == 1) {
		g.run(m, n, k, left, right, c, ldc, beta == 1)
		return
	}
	product := make([]T, m*n)
	g.run(m, n, k, left, right, product, n, false)
	for i := range m {
		row := c[i*ldc:][:n]
		scale(beta, row)
		for j, v := range product[i*n:][:n] {
			row[j] += T(alpha * v)
		}
	}
}

// scale multiplies x by beta; zero also overwrites NaN.
func scale[T float](beta T, x []T) {
	for i := range x {
		if beta == 0 {
			x[i] = 0
		} else {
			x[i] *= beta
		}
	}
}
