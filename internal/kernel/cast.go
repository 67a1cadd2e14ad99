package kernel

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Cast returns the loop that converts elements. Floats are rounded once, to
// nearest even; a float becomes an integer by truncation and wraps; a complex
// number loses its imaginary part; everything but zero becomes true.
func Cast(from, to dtype.Type) Loop {
	switch {
	case from == dtype.Float16 || from == dtype.BFloat16:
		return castHalf(from, Cast(dtype.Float32, to), to)
	case to == dtype.Bool:
		not := test(LogicalNot, from)
		return func(out []byte, in [][]byte) {
			not(out, in)
			for i := range out {
				out[i] ^= 1
			}
		}
	}
	switch from {
	case dtype.Bool, dtype.Uint8:
		return castInteger[uint8](to)
	case dtype.Uint16:
		return castInteger[uint16](to)
	case dtype.Uint32:
		return castInteger[uint32](to)
	case dtype.Uint64:
		return castInteger[uint64](to)
	case dtype.Int8:
		return castInteger[int8](to)
	case dtype.Int16:
		return castInteger[int16](to)
	case dtype.Int32:
		return castInteger[int32](to)
	case dtype.Int64:
		return castInteger[int64](to)
	case dtype.Float32:
		if to == dtype.Float64 {
			return loop1(widenFloats)
		}
		return castFloat[float32](to)
	case dtype.Float64:
		if to == dtype.Float32 {
			return loop1(narrowFloats)
		}
		return castFloat[float64](to)
	case dtype.Complex64:
		return castComplex(to)
	}
	return nil
}

// castHalf widens block by block and casts on from there.
func castHalf(t dtype.Type, f Loop, to dtype.Type) Loop {
	size := to.Size()
	return func(out []byte, in [][]byte) {
		w := widenedOf(t)
		defer w.release()
		w.run(in, len(out)/size, func(i, n int) { f(out[i*size:(i+n)*size], w.operands[:1]) })
	}
}

func castInteger[S integer](to dtype.Type) Loop {
	switch to {
	case dtype.Uint8, dtype.Int8:
		return loop1(convert[uint8, S])
	case dtype.Uint16, dtype.Int16:
		return loop1(convert[uint16, S])
	case dtype.Uint32, dtype.Int32:
		return loop1(convert[uint32, S])
	case dtype.Uint64, dtype.Int64:
		return loop1(convert[uint64, S])
	}
	return castReal[S](to)
}

func castFloat[S float](to dtype.Type) Loop {
	switch to {
	case dtype.Uint8, dtype.Int8:
		return loop1(truncate[uint8, S])
	case dtype.Uint16, dtype.Int16:
		return loop1(truncate[uint16, S])
	case dtype.Uint32, dtype.Int32:
		return loop1(truncate[uint32, S])
	case dtype.Int64:
		return loop1(truncate[int64, S])
	case dtype.Uint64:
		return loop1(truncateWide[S])
	}
	return castReal[S](to)
}

// casts are the conversions of a level between float32 and float64, of n elements,
// a multiple of castUnit.
type casts struct {
	widen  func(n int, y *float64, x *float32)
	narrow func(n int, y *float32, x *float64)
}

const castUnit = 8

func widenFloats(y []float64, x []float32) { convertBy(active().casts.widen, y, x) }

func narrowFloats(y []float32, x []float64) { convertBy(active().casts.narrow, y, x) }

func convertBy[D, S float](f func(n int, y *D, x *S), y []D, x []S) {
	n := 0
	if f != nil && len(x) >= castUnit {
		n = len(x) &^ (castUnit - 1)
		_ = y[n-1]
		f(n, &y[0], &x[0])
	}
	convert(y[n:], x[n:])
}

// castReal serves the inexact destinations.
func castReal[S integer | float](to dtype.Type) Loop {
	switch to {
	case dtype.Float16:
		return loop1(toF16[S])
	case dtype.BFloat16:
		return loop1(toBF16[S])
	case dtype.Float32:
		return loop1(convert[float32, S])
	case dtype.Float64:
		return loop1(convert[float64, S])
	}
	return loop1(toComplex[S])
}

func castComplex(to dtype.Type) Loop {
	if to == dtype.Complex64 {
		return loop1(same[complex64])
	}
	f := Cast(dtype.Float32, to)
	return func(out []byte, in [][]byte) {
		x := buffer.As[complex64](in[0])
		parts := make([]float32, len(x))
		realPart(parts, x)
		f(out, [][]byte{buffer.Bytes(parts)})
	}
}

func convert[D, S integer | float](y []D, x []S) {
	for i, v := range x {
		y[i] = D(v)
	}
}

func truncate[D integer, S float](y []D, x []S) {
	for i, v := range x {
		y[i] = D(int64(v))
	}
}

// truncateWide also takes what lies above the signed range.
func truncateWide[S float](y []uint64, x []S) {
	for i, v := range x {
		if v >= 1<<63 {
			y[i] = uint64(v)
		} else {
			y[i] = uint64(int64(v))
		}
	}
}

func toF16[S integer | float](y []dtype.F16, x []S) {
	for i, v := range x {
		y[i] = dtype.F16From(float64(v))
	}
}

func toBF16[S integer | float](y []dtype.BF16, x []S) {
	for i, v := range x {
		y[i] = dtype.BF16From(float64(v))
	}
}

func toComplex[S integer | float](y []complex64, x []S) {
	for i, v := range x {
		y[i] = complex(float32(v), 0)
	}
}
