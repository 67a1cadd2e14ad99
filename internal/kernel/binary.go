package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// Binary returns the loop of an operation of two operands of type t, and the
// type of its result. The loop is nil where the operation has no meaning.
func Binary(op Op, t dtype.Type) (Loop, dtype.Type) {
	switch op {
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
		return compare(op, t), dtype.Bool
	case LogicalAnd, LogicalOr:
		if t != dtype.Bool {
			return nil, t
		}
	}
	return binary(op, t), t
}

func binary(op Op, t dtype.Type) Loop {
	switch t {
	case dtype.Bool:
		return loop2(boolBinary(op))
	case dtype.Uint8:
		return loop2(integerBinary[uint8](op))
	case dtype.Uint16:
		return loop2(integerBinary[uint16](op))
	case dtype.Uint32:
		return loop2(integerBinary[uint32](op))
	case dtype.Uint64:
		return loop2(integerBinary[uint64](op))
	case dtype.Int8:
		return loop2(integerBinary[int8](op))
	case dtype.Int16:
		return loop2(integerBinary[int16](op))
	case dtype.Int32:
		return loop2(integerBinary[int32](op))
	case dtype.Int64:
		return loop2(integerBinary[int64](op))
	case dtype.Float16, dtype.BFloat16:
		return halfBinary(active(), op, t)
	case dtype.Float32:
		return loop2(fastBinary(active().vectors32, op))
	case dtype.Float64:
		return loop2(fastBinary(active().vectors64, op))
	case dtype.Complex64:
		return loop2(complexBinary(op))
	}
	return nil
}

// boolBinary adds by or and multiplies by and. The elements are seen as bytes
// that are 0 or 1.
func boolBinary(op Op) func(z, x, y []uint8) {
	switch op {
	case Add, Maximum, LogicalOr, BitOr:
		return bitOr[uint8]
	case Mul, Minimum, LogicalAnd, BitAnd:
		return bitAnd[uint8]
	case Sub, BitXor:
		return bitXor[uint8]
	}
	return nil
}

// fieldBinary is what all numbers have in common.
func fieldBinary[T number](op Op) func(z, x, y []T) {
	switch op {
	case Add:
		return add[T]
	case Sub:
		return sub[T]
	case Mul:
		return mul[T]
	}
	return nil
}

func integerBinary[T integer](op Op) func(z, x, y []T) {
	switch op {
	case FloorDiv:
		return floorDiv[T]
	case Mod:
		return mod[T]
	case Pow:
		return powInteger[T]
	case Maximum:
		return maximum[T]
	case Minimum:
		return minimum[T]
	case BitAnd:
		return bitAnd[T]
	case BitOr:
		return bitOr[T]
	case BitXor:
		return bitXor[T]
	case ShiftLeft:
		return shiftLeft[T]
	case ShiftRight:
		return shiftRight[T]
	}
	return fieldBinary[T](op)
}

func floatBinary[T float](op Op) func(z, x, y []T) {
	switch op {
	case Div:
		return div[T]
	case FloorDiv:
		return floorDivFloat[T]
	case Mod:
		return modFloat[T]
	case Pow:
		return pow[T]
	case Maximum:
		return maximum[T]
	case Minimum:
		return minimum[T]
	case LogAddExp:
		return logAddExp[T]
	case Atan2:
		return atan2[T]
	}
	return fieldBinary[T](op)
}

func add[T number](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = v + y[i]
	}
}

func sub[T number](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = v - y[i]
	}
}

func mul[T number](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = v * y[i]
	}
}

func div[T float | complex64](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = v / y[i]
	}
}

// maximum gives NaN if either operand is NaN, and prefers +0 to -0.
func maximum[T integer | float](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = max(v, y[i])
	}
}

// minimum gives NaN if either operand is NaN, and prefers -0 to +0.
func minimum[T integer | float](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = min(v, y[i])
	}
}

// floorDiv rounds towards minus infinity; a division by zero gives zero.
func floorDiv[T integer](z, x, y []T) {
	for i, v := range x {
		var q T
		if d := y[i]; d != 0 {
			q = v / d
			if v%d != 0 && (v < 0) != (d < 0) {
				q--
			}
		}
		z[i] = q
	}
}

// mod has the sign of the divisor; a division by zero gives zero.
func mod[T integer](z, x, y []T) {
	for i, v := range x {
		var r T
		if d := y[i]; d != 0 {
			r = v % d
			if r != 0 && (v < 0) != (d < 0) {
				r += d
			}
		}
		z[i] = r
	}
}

func floorDivFloat[T float](z, x, y []T) {
	for i, v := range x {
		z[i] = T(math.Floor(float64(v / y[i])))
	}
}

// modFloat has the sign of the divisor, a zero included.
func modFloat[T float](z, x, y []T) {
	for i, v := range x {
		d := float64(y[i])
		r := math.Mod(float64(v), d)
		switch {
		case r == 0:
			r = math.Copysign(0, d)
		case (r < 0) != (d < 0):
			r += d
		}
		z[i] = T(r)
	}
}

func pow[T float](z, x, y []T) {
	for i, v := range x {
		z[i] = T(math.Pow(float64(v), float64(y[i])))
	}
}

func powInteger[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = powOf(v, y[i])
	}
}

// powOf wraps on overflow. A negative exponent gives the reciprocal, cut to an
// integer; of zero it gives zero.
func powOf[T integer](base, exponent T) T {
	if exponent < 0 {
		if base != 1 && base+1 != 0 {
			return 0
		}
		exponent &= 1 // the powers of 1 and -1 repeat
	}
	result := T(1)
	for ; exponent > 0; exponent >>= 1 {
		if exponent&1 != 0 {
			result *= base
		}
		base *= base
	}
	return result
}

// logAddExp is log(exp(x) + exp(y)) without overflow. Equal operands, which may
// be infinite, have no difference to take.
func logAddExp[T float](z, x, y []T) {
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		if a == b {
			z[i] = T(a + math.Ln2)
			continue
		}
		z[i] = T(max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b))))
	}
}

func atan2[T float](z, x, y []T) {
	for i, v := range x {
		z[i] = T(math.Atan2(float64(v), float64(y[i])))
	}
}

func bitAnd[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = v & y[i]
	}
}

func bitOr[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = v | y[i]
	}
}

func bitXor[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = v ^ y[i]
	}
}

// shiftLeft shifts everything out when the count is negative or too large.
func shiftLeft[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = v << uint64(y[i])
	}
}

// shiftRight fills with the sign; a count that is negative or too large leaves
// only that.
func shiftRight[T integer](z, x, y []T) {
	for i, v := range x {
		z[i] = v >> uint64(y[i])
	}
}
