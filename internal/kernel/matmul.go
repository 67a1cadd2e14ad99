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
// gonum's blas32, blas64 and cblas64. With gonum's own the result depends only
// on the operands and how they lie in memory, not on the number of processors:
// each element is summed in one goroutine.
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
	if losesNaN[float32](m, n, k, a, b) {
		plainMatMul(m, n, k, a, b, c)
		return
	}
	blas32.Implementation().Sgemm(a.flag(), b.flag(), m, n, k, 1,
		buffer.As[float32](a.Data), a.Stride, buffer.As[float32](b.Data), b.Stride, 0, c, n)
}

func matMul64(m, n, k int, a, b Matrix, c []float64) {
	if losesNaN[float64](m, n, k, a, b) {
		plainMatMul(m, n, k, a, b, c)
		return
	}
	blas64.Implementation().Dgemm(a.flag(), b.flag(), m, n, k, 1,
		buffer.As[float64](a.Data), a.Stride, buffer.As[float64](b.Data), b.Stride, 0, c, n)
}

// losesNaN reports whether gonum's loops would give a wrong result: they skip
// zeros of a, and with them the NaN that zero times an infinity or NaN of b
// makes. Operands without both pass after one or two quick scans.
func losesNaN[T float](m, n, k int, a, b Matrix) bool {
	return hasZero(rowsOf[T](a, m, k)) && hasNonFinite(rowsOf[T](b, k, n))
}

// rowsOf calls yield with what lies side by side in m.
func rowsOf[T float](m Matrix, rows, cols int) func(yield func([]T) bool) {
	if m.Trans {
		rows, cols = cols, rows
	}
	data := buffer.As[T](m.Data)
	return func(yield func([]T) bool) {
		for i := range rows {
			if !yield(data[i*m.Stride : i*m.Stride+cols]) {
				return
			}
		}
	}
}

func hasZero[T float](rows func(func([]T) bool)) bool {
	for row := range rows {
		for _, v := range row {
			if v == 0 {
				return true
			}
		}
	}
	return false
}

func hasNonFinite[T float](rows func(func([]T) bool)) bool {
	for row := range rows {
		var sum T // of zeros, unless something is not finite
		for _, v := range row {
			sum += v - v
		}
		if sum != 0 {
			return true
		}
	}
	return false
}

// plainMatMul adds in the order in which gonum does for matrices by rows.
func plainMatMul[T float](m, n, k int, a, b Matrix, c []T) {
	x, y := buffer.As[T](a.Data), buffer.As[T](b.Data)
	xRow, xCol := a.strides()
	yRow, yCol := b.strides()
	clear(c)
	for i := range m {
		row := c[i*n : (i+1)*n]
		for l := range k {
			v := x[i*xRow+l*xCol]
			for j := range row {
				row[j] += v * y[l*yRow+j*yCol]
			}
		}
	}
}
