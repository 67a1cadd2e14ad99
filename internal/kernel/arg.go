package kernel

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// ArgExtremum writes, for each contiguous row of n elements of type t, the place
// of the first greatest element, or of the first least one. The first NaN of a
// row is both.
func ArgExtremum(least bool, t dtype.Type, y []uint32, x []byte, n int) {
	switch t {
	case dtype.Bool, dtype.Uint8:
		argRows(least, y, buffer.As[uint8](x), n)
	case dtype.Uint16:
		argRows(least, y, buffer.As[uint16](x), n)
	case dtype.Uint32:
		argRows(least, y, buffer.As[uint32](x), n)
	case dtype.Uint64:
		argRows(least, y, buffer.As[uint64](x), n)
	case dtype.Int8:
		argRows(least, y, buffer.As[int8](x), n)
	case dtype.Int16:
		argRows(least, y, buffer.As[int16](x), n)
	case dtype.Int32:
		argRows(least, y, buffer.As[int32](x), n)
	case dtype.Int64:
		argRows(least, y, buffer.As[int64](x), n)
	case dtype.Float32:
		argRows(least, y, buffer.As[float32](x), n)
	case dtype.Float64:
		argRows(least, y, buffer.As[float64](x), n)
	default:
		wide := make([]float32, len(x)/2)
		Widen(t, wide, x)
		argRows(least, y, wide, n)
	}
}

func argRows[T realNumber](least bool, y []uint32, x []T, n int) {
	for i := range y {
		row := x[i*n : (i+1)*n]
		if least {
			y[i] = argMin(row)
		} else {
			y[i] = argMax(row)
		}
	}
}

func argMax[T realNumber](x []T) uint32 {
	at := 0
	for i, v := range x {
		if v > x[at] || v != v && x[at] == x[at] {
			at = i
		}
	}
	return uint32(at)
}

func argMin[T realNumber](x []T) uint32 {
	at := 0
	for i, v := range x {
		if v < x[at] || v != v && x[at] == x[at] {
			at = i
		}
	}
	return uint32(at)
}
