package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// RowOp names an operation on rows of floating-point elements.
type RowOp string

// The row operations. The outputs of LogSumExp have one element for each row, the
// others have as many as the row.
const (
	Softmax    RowOp = "softmax"
	LogSoftmax RowOp = "log_softmax"
	LogSumExp  RowOp = "logsumexp"
)

// rowFunctions are whole-row functions of a level. squares, of float64, takes a
// multiple of 32 elements, moments, of float32, one of 16 and normalize one of 8.
type rowFunctions[T float] struct {
	softmax   func(n int, y, x *T)
	expSum    func(n int, x *T) (greatest T, sum float64)
	squares   func(n int, x *T, mean float64, sums *float64) float64
	moments   func(n int, x *T, from float64, sums *float64) (sum, square float64)
	normalize func(n int, y, x *T, scale, shift float64)
}

func rowFunctionsOf[T float](k *kernels) *rowFunctions[T] {
	if r, ok := any(&k.rows32).(*rowFunctions[T]); ok {
		return r
	}
	return any(&k.rows64).(*rowFunctions[T])
}

// Rows applies op to contiguous rows of n elements of the floating-point type t.
// The half types are computed in float32 and rounded when stored; exponentials
// are added in float64. Many rows are shared out over the processors.
func Rows(op RowOp, t dtype.Type, y, x []byte, n int) {
	switch t {
	case dtype.Float32:
		eachOfRows(rowFunctionsOf[float32](active()), op, buffer.As[float32](y), buffer.As[float32](x), n)
	case dtype.Float64:
		eachOfRows(rowFunctionsOf[float64](active()), op, buffer.As[float64](y), buffer.As[float64](x), n)
	default:
		wideX, wideY := make([]float32, len(x)/2), make([]float32, len(y)/2)
		Widen(t, wideX, x)
		eachOfRows(rowFunctionsOf[float32](active()), op, wideY, wideX, n)
		Narrow(t, y, wideY)
	}
}

func eachOfRows[T float](f *rowFunctions[T], op RowOp, y, x []T, n int) {
	if n == 0 {
		if op == LogSumExp {
			for i := range y {
				y[i] = T(math.Inf(-1))
			}
		}
		return
	}
	shares(len(x)/n, 2*n*sizeOf[T](), func(from, to int) {
		for i := from; i < to; i++ {
			row := x[i*n : (i+1)*n]
			switch op {
			case Softmax:
				f.softmaxRow(y[i*n:(i+1)*n], row)
			case LogSoftmax:
				f.normalizeRow(y[i*n:(i+1)*n], row, f.logSumExp(row), 1)
			case LogSumExp:
				y[i] = T(f.logSumExp(row))
			}
		}
	})
}

func (f *rowFunctions[T]) softmaxRow(y, x []T) {
	if f.softmax == nil {
		softmax(y, x)
		return
	}
	f.softmax(len(x), &y[0], &x[0])
}

func softmax[T float](y, x []T) {
	m := maxRow(x)
	sum := 0.0
	for i, v := range x {
		e := math.Exp(float64(v - m))
		sum += e
		y[i] = T(e)
	}
	scale := 1 / sum
	for i, e := range y {
		y[i] = T(float64(e) * scale)
	}
}

// logSumExp subtracts the greatest element first. Where that is infinite, or all
// are NaN, the portable function knows what to do.
func (f *rowFunctions[T]) logSumExp(x []T) float64 {
	if f.expSum == nil {
		return logSumExp(x)
	}
	m, sum := f.expSum(len(x), &x[0])
	if math.IsInf(float64(m), 0) {
		return logSumExp(x)
	}
	return float64(m) + math.Log(sum)
}

func logSumExp[T float](x []T) float64 {
	m := float64(maxRow(x))
	if math.IsInf(m, 0) {
		return m
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - m)
	}
	return m + math.Log(sum)
}
