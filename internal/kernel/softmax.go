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

// Rows applies op to contiguous rows of n elements of the floating-point type t.
// The half types are computed in float32 and rounded when stored; exponentials
// are added in float64.
func Rows(op RowOp, t dtype.Type, y, x []byte, n int) {
	switch t {
	case dtype.Float32:
		rows32(active(), op, buffer.As[float32](y), buffer.As[float32](x), n)
	case dtype.Float64:
		perRow(op, buffer.As[float64](y), buffer.As[float64](x), n)
	default:
		wideX, wideY := make([]float32, len(x)/2), make([]float32, len(y)/2)
		Widen(t, wideX, x)
		rows32(active(), op, wideY, wideX, n)
		Narrow(t, y, wideY)
	}
}

// rows32 computes softmax by the level where it has that.
func rows32(k *kernels, op RowOp, y, x []float32, n int) {
	if op != Softmax || k.softmax32 == nil {
		perRow(op, y, x, n)
		return
	}
	for i := 0; i < len(x); i += n {
		_, _ = x[i+n-1], y[i+n-1]
		k.softmax32(n, &y[i], &x[i])
	}
}

func perRow[T float](op RowOp, y, x []T, n int) {
	if op == LogSumExp {
		for i := range y {
			y[i] = T(logSumExp(x[i*n : (i+1)*n]))
		}
		return
	}
	f := softmax[T]
	if op == LogSoftmax {
		f = logSoftmax[T]
	}
	for i := 0; i < len(x); i += n {
		f(y[i:i+n], x[i:i+n])
	}
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

func logSoftmax[T float](y, x []T) {
	total := logSumExp(x)
	for i, v := range x {
		y[i] = T(float64(v) - total)
	}
}

// logSumExp subtracts the greatest element first, unless that would be infinite.
func logSumExp[T float](x []T) float64 {
	if len(x) == 0 {
		return math.Inf(-1)
	}
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
