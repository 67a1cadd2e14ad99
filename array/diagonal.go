package array

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
)

// Diagonal takes the elements on diagonal k of two axes (above the main one if
// positive): for a matrix x[i, i+k]. The two axes are dropped and the diagonal
// is the last axis of the result. The gradient is zero elsewhere.
func (x *Array) Diagonal(k, rowAxis, columnAxis int) *Array {
	if x.Err() != nil {
		return x
	}
	axes := []int{rowAxis, columnAxis}
	if _, err := sortedAxes(axes, x.NDim()); err != nil {
		return x.fail("diagonal", fmt.Errorf("%v: %w", x.spec(), err))
	}
	n := max(0, min(x.Dim(rowAxis)-max(0, -k), x.Dim(columnAxis)-max(0, k)))
	return Gather(x, diagonalIndices(n, k), axes).MoveAxis(0, -1)
}

// diagonalIndices are rows and columns of n elements of diagonal k.
func diagonalIndices(n, k int) []*Array {
	row, column := float64(max(0, -k)), float64(max(0, k))
	return []*Array{
		Arange(row, row+float64(n), 1, dtype.Int64),
		Arange(column, column+float64(n), 1, dtype.Int64),
	}
}

// Diag makes a square matrix with the vector x on diagonal k and zeros elsewhere,
// or takes diagonal k of the matrix x.
func (x *Array) Diag(k int) *Array {
	switch {
	case x.Err() != nil:
		return x
	case x.NDim() == 2:
		return x.Diagonal(k, 0, 1)
	case x.NDim() != 1:
		return x.fail("diag", fmt.Errorf("%v is neither a vector nor a matrix", x.spec()))
	}
	n := x.Dim(0)
	size := n + max(k, -k)
	return ScatterAddAt(Zeros(x.DType(), size, size), diagonalIndices(n, k), x, []int{0, 1})
}

// Trace is the sum of Diagonal, with the types of Sum.
func (x *Array) Trace(k, rowAxis, columnAxis int) *Array {
	return x.Diagonal(k, rowAxis, columnAxis).Sum(-1)
}
