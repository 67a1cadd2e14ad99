package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas64"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Matrix is a matrix as BLAS sees it: rows of Stride elements, or columns if
// Trans.
type Matrix struct {
	Data   []byte // from the first element to the last
	Stride int
	Trans  bool
}

// NewMatrix describes elements of size bytes that lie in storage from offset on,
// with the given strides. ok is false when BLAS cannot walk them.
func NewMatrix(storage []byte, size, offset, rows, cols, rowStride, colStride int) (m Matrix, ok bool) {
	byRows := (colStride == 1 || cols <= 1) && (rowStride >= cols || rows <= 1)
	byCols := (rowStride == 1 || rows <= 1) && (colStride >= rows || cols <= 1)
	switch {
	case rows == 0 || cols == 0:
		return Matrix{Stride: max(1, cols)}, true
	case byCols && (cols == 1 || !byRows): // a column is read faster by itself
		m.Trans, m.Stride = true, max(1, rows)
		if cols > 1 {
			m.Stride = colStride
		}
		rows, cols = cols, rows
	case byRows:
		m.Stride = max(1, cols)
		if rows > 1 {
			m.Stride = rowStride
		}
	default:
		return Matrix{}, false
	}
	end := offset + (rows-1)*m.Stride + cols
	m.Data = storage[offset*size : end*size]
	return m, true
}

// strides are those of the elements of m.
func (m Matrix) strides() (row, col int) {
	if m.Trans {
		return 1, m.Stride
	}
	return m.Stride, 1
}

func (m Matrix) flag() blas.Transpose {
	if m.Trans {
		return blas.Trans
	}
	return blas.NoTrans
}

// MatMul writes the product of a [m, k] and b [k, n], of an inexact type t, to
// c [m, n], which is contiguous. It uses the BLAS that the program has put behind
// gonum's blas32, blas64 and cblas64; in place of gonum's own products of real
// matrices, where these are still there, those of the active level. With them, as
// with gonum's own, the result does not depend on the number of processors: each
// element is summed in one goroutine.
//
// Real matrices go to another BLAS as rows times columns, side by side, after a
// transposed copy where they do not: gonum's dot products are two to three times
// as fast as its other loops, which also skip zeros of a and so lose the NaN that
// zero times an infinity is.
func MatMul(t dtype.Type, m, n, k int, a, b Matrix, c []byte) {
	if k == 0 {
		clear(c)
		return
	}
	if m == 0 || n == 0 {
		return
	}
	switch t {
	case dtype.Float16, dtype.BFloat16:
		wide := make([]float32, m*n)
		matMul32(m, n, k, widenMatrix(t, a), widenMatrix(t, b), wide)
		Narrow(t, c, wide)
	case dtype.Float32:
		matMul32(m, n, k, a, b, buffer.As[float32](c))
	case dtype.Float64:
		matMul64(m, n, k, a, b, buffer.As[float64](c))
	case dtype.Complex64:
		cblas64.Implementation().Cgemm(a.flag(), b.flag(), m, n, k, 1,
			buffer.As[complex64](a.Data), a.Stride, buffer.As[complex64](b.Data), b.Stride, 0, buffer.As[complex64](c), n)
	}
}

func widenMatrix(t dtype.Type, m Matrix) Matrix {
	wide := make([]float32, len(m.Data)/2)
	Widen(t, wide, m.Data)
	m.Data = buffer.Bytes(wide)
	return m
}

func matMul32(m, n, k int, a, b Matrix, c []float32) {
	if fast, ok := fastBLAS32(active()); ok {
		if isRowsTimesVector(n, a, b) {
			fast.Sgemv(blas.NoTrans, m, k, 1, buffer.As[float32](a.Data), a.Stride, buffer.As[float32](b.Data), 1, 0, c, 1)
			return
		}
		if p := &active().products32; isRowTimesRows(m, b) && n%p.unit == 0 {
			_, step := a.strides()
			p.addRows(n, k, buffer.As[float32](a.Data), step, buffer.As[float32](b.Data), b.Stride, c)
			return
		}
		fast.Sgemm(a.flag(), b.flag(), m, n, k, 1,
			buffer.As[float32](a.Data), a.Stride, buffer.As[float32](b.Data), b.Stride, 0, c, n)
		return
	}
	if isRowTimesRows(m, b) {
		rowTimesRows(n, k, a, b, c)
		return
	}
	x, xStride := rows[float32](a, m, k)
	y, yStride := columns[float32](b, k, n)
	blas32.Implementation().Sgemm(blas.NoTrans, blas.Trans, m, n, k, 1, x, xStride, y, yStride, 0, c, n)
}

func matMul64(m, n, k int, a, b Matrix, c []float64) {
	if fast, ok := fastBLAS64(active()); ok {
		if isRowsTimesVector(n, a, b) {
			fast.Dgemv(blas.NoTrans, m, k, 1, buffer.As[float64](a.Data), a.Stride, buffer.As[float64](b.Data), 1, 0, c, 1)
			return
		}
		if p := &active().products64; isRowTimesRows(m, b) && n%p.unit == 0 {
			_, step := a.strides()
			p.addRows(n, k, buffer.As[float64](a.Data), step, buffer.As[float64](b.Data), b.Stride, c)
			return
		}
		fast.Dgemm(a.flag(), b.flag(), m, n, k, 1,
			buffer.As[float64](a.Data), a.Stride, buffer.As[float64](b.Data), b.Stride, 0, c, n)
		return
	}
	if isRowTimesRows(m, b) {
		rowTimesRows(n, k, a, b, c)
		return
	}
	x, xStride := rows[float64](a, m, k)
	y, yStride := columns[float64](b, k, n)
	blas64.Implementation().Dgemm(blas.NoTrans, blas.Trans, m, n, k, 1, x, xStride, y, yStride, 0, c, n)
}

// isRowsTimesVector finds the product of rows and one column whose elements lie
// side by side.
func isRowsTimesVector(n int, a, b Matrix) bool {
	return n == 1 && !a.Trans && (b.Trans || b.Stride == 1)
}

// rows is m [rows, cols] with the elements of each row side by side.
func rows[T float](m Matrix, rows, cols int) (data []T, stride int) {
	data = buffer.As[T](m.Data)
	if !m.Trans {
		return data, m.Stride
	}
	return transposed(data, cols, rows, m.Stride), cols
}

// columns is m [rows, cols] with the elements of each column side by side.
func columns[T float](m Matrix, rows, cols int) (data []T, stride int) {
	data = buffer.As[T](m.Data)
	if m.Trans {
		return data, m.Stride
	}
	return transposed(data, rows, cols, m.Stride), rows
}

// transposed copies x [rows, cols], whose rows are stride apart, to [cols, rows].
// A band of rows stays in the cache while its columns are written.
func transposed[T float](x []T, rows, cols, stride int) []T {
	const band = 16
	y := make([]T, rows*cols)
	for low := 0; low < rows; low += band {
		high := min(low+band, rows)
		for j := range cols {
			from := low*stride + j
			for i := range y[j*rows+low : j*rows+high] {
				y[j*rows+low+i] = x[from]
				from += stride
			}
		}
	}
	return y
}

// isRowTimesRows finds the product whose transposed copy would cost more than
// the product.
func isRowTimesRows(m int, b Matrix) bool { return m == 1 && !b.Trans }

// rowTimesRows is the product of a [1, k] and b [k, n], which lies by rows.
func rowTimesRows[T float](n, k int, a, b Matrix, c []T) {
	x, y := buffer.As[T](a.Data), buffer.As[T](b.Data)
	_, step := a.strides()
	clear(c)
	for l := range k {
		v := x[l*step]
		for j, w := range y[l*b.Stride : l*b.Stride+n] {
			c[j] += T(v * w)
		}
	}
}
