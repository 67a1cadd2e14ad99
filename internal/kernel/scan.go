package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Scan names an operation that runs along rows.
type Scan string

// The scans. A recurrence has two operands: y[i] = a[i]·y[i-1] + b[i].
const (
	CumSum  Scan = "cumsum"
	CumProd Scan = "cumprod"
	// LogCumSumExp is for real floating-point types only.
	LogCumSumExp Scan = "logcumsumexp"
	Recurrence   Scan = "recurrence"
)

// ScanRows runs s along contiguous rows of n elements of type t, which is not
// bool. Running values are kept in float64 for real floating-point types.
func ScanRows(s Scan, t dtype.Type, y []byte, in [][]byte, n int) {
	switch t {
	case dtype.Uint8:
		scanTyped[uint8, uint8](s, y, in, n)
	case dtype.Uint16:
		scanTyped[uint16, uint16](s, y, in, n)
	case dtype.Uint32:
		scanTyped[uint32, uint32](s, y, in, n)
	case dtype.Uint64:
		scanTyped[uint64, uint64](s, y, in, n)
	case dtype.Int8:
		scanTyped[int8, int8](s, y, in, n)
	case dtype.Int16:
		scanTyped[int16, int16](s, y, in, n)
	case dtype.Int32:
		scanTyped[int32, int32](s, y, in, n)
	case dtype.Int64:
		scanTyped[int64, int64](s, y, in, n)
	case dtype.Float32:
		scanTyped[float32, float64](s, y, in, n)
	case dtype.Float64:
		scanTyped[float64, float64](s, y, in, n)
	case dtype.Complex64:
		scanComplex(s, y, in, n)
	default:
		scanHalves(s, t, y, in, n)
	}
}

func scanHalves(s Scan, t dtype.Type, y []byte, in [][]byte, n int) {
	wide := make([][]byte, len(in))
	for k, x := range in {
		w := make([]float32, len(x)/2)
		Widen(t, w, x)
		wide[k] = buffer.Bytes(w)
	}
	out := make([]float32, len(y)/2)
	scanTyped[float32, float64](s, buffer.Bytes(out), wide, n)
	Narrow(t, y, out)
}

func scanTyped[T, A realNumber](s Scan, y []byte, in [][]byte, n int) {
	out, x := buffer.As[T](y), buffer.As[T](in[0])
	for i := 0; i < len(out); i += n {
		row := x[i : i+n]
		switch s {
		case CumSum:
			cumSum[T, A](out[i:i+n], row)
		case CumProd:
			cumProd[T, A](out[i:i+n], row)
		case LogCumSumExp:
			logCumSumExp[T, A](out[i:i+n], row)
		case Recurrence:
			recurrence[T, A](out[i:i+n], row, buffer.As[T](in[1])[i:i+n])
		}
	}
}

func cumSum[T, A realNumber](y, x []T) {
	var sum A
	for i, v := range x {
		sum += A(v)
		y[i] = T(sum)
	}
}

func cumProd[T, A realNumber](y, x []T) {
	product := A(1)
	for i, v := range x {
		product *= A(v)
		y[i] = T(product)
	}
}

// logCumSumExp keeps the greatest element so far out of the running sum.
func logCumSumExp[T, A realNumber](y, x []T) {
	greatest, sum := math.Inf(-1), 0.0
	for i, e := range x {
		v := float64(e)
		switch {
		case v <= greatest && greatest > math.Inf(-1):
			sum += math.Exp(v - greatest)
		case v > greatest:
			sum = float64(sum*math.Exp(greatest-v)) + 1
			greatest = v
		case v != v:
			sum = v
		}
		y[i] = T(greatest + math.Log(sum))
	}
}

func recurrence[T, A realNumber](y, a, b []T) {
	var last A
	for i, v := range a {
		last = A(A(v)*last) + A(b[i])
		y[i] = T(last)
	}
}

func scanComplex(s Scan, y []byte, in [][]byte, n int) {
	out, x := buffer.As[complex64](y), buffer.As[complex64](in[0])
	for i := 0; i < len(out); i += n {
		var sum, last complex128
		product := complex128(1)
		for j := i; j < i+n; j++ {
			v := complex128(x[j])
			switch s {
			case CumSum:
				sum += v
				out[j] = complex64(sum)
			case CumProd:
				product *= v
				out[j] = complex64(product)
			case Recurrence:
				last = v*last + complex128(buffer.As[complex64](in[1])[j])
				out[j] = complex64(last)
			}
		}
	}
}

// ArgRunning writes, for each element of contiguous rows of n, the place of the
// greatest element up to there, or of the least; the first of equal ones. A NaN
// counts as both.
func ArgRunning(least bool, t dtype.Type, y []uint32, x []byte, n int) {
	switch t {
	case dtype.Bool, dtype.Uint8:
		argRunning(least, y, buffer.As[uint8](x), n)
	case dtype.Uint16:
		argRunning(least, y, buffer.As[uint16](x), n)
	case dtype.Uint32:
		argRunning(least, y, buffer.As[uint32](x), n)
	case dtype.Uint64:
		argRunning(least, y, buffer.As[uint64](x), n)
	case dtype.Int8:
		argRunning(least, y, buffer.As[int8](x), n)
	case dtype.Int16:
		argRunning(least, y, buffer.As[int16](x), n)
	case dtype.Int32:
		argRunning(least, y, buffer.As[int32](x), n)
	case dtype.Int64:
		argRunning(least, y, buffer.As[int64](x), n)
	case dtype.Float32:
		argRunning(least, y, buffer.As[float32](x), n)
	case dtype.Float64:
		argRunning(least, y, buffer.As[float64](x), n)
	default:
		wide := make([]float32, len(x)/2)
		Widen(t, wide, x)
		argRunning(least, y, wide, n)
	}
}

func argRunning[T realNumber](least bool, y []uint32, x []T, n int) {
	for i := 0; i < len(x); i += n {
		row, at := x[i:i+n], 0
		for j, v := range row {
			best := row[at]
			if best == best && (v != v || least && v < best || !least && v > best) {
				at = j
			}
			y[i+j] = uint32(at)
		}
	}
}
