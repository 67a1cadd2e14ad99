package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// Unary returns the loop of an operation of one operand of type t, and the type
// of its result. The loop is nil where the operation has no meaning.
func Unary(op Op, t dtype.Type) (Loop, dtype.Type) {
	switch op {
	case IsNaN, IsInf, IsFinite, LogicalNot:
		return test(op, t), dtype.Bool
	}
	if t == dtype.Complex64 {
		if f := complexParts(op); f != nil {
			return loop1(f), dtype.Float32
		}
	}
	return sameType(op, t), t
}

func sameType(op Op, t dtype.Type) Loop {
	switch t {
	case dtype.Bool:
		return loop1(boolUnary(op))
	case dtype.Uint8:
		return loop1(unsignedUnary[uint8](op))
	case dtype.Uint16:
		return loop1(unsignedUnary[uint16](op))
	case dtype.Uint32:
		return loop1(unsignedUnary[uint32](op))
	case dtype.Uint64:
		return loop1(unsignedUnary[uint64](op))
	case dtype.Int8:
		return loop1(signedUnary[int8](op))
	case dtype.Int16:
		return loop1(signedUnary[int16](op))
	case dtype.Int32:
		return loop1(signedUnary[int32](op))
	case dtype.Int64:
		return loop1(signedUnary[int64](op))
	case dtype.Float16, dtype.BFloat16:
		return halves(t, loop1(fastUnary(active().vectors32, op)))
	case dtype.Float32:
		return loop1(fastUnary(active().vectors32, op))
	case dtype.Float64:
		return loop1(fastUnary(active().vectors64, op))
	case dtype.Complex64:
		return loop1(complexUnary(op))
	}
	return nil
}

func boolUnary(op Op) func(y, x []bool) {
	switch op {
	case BitNot:
		return not
	case Abs, Sign, Square, Floor, Ceil, Round, Conj, Real:
		return same[bool]
	}
	return nil
}

func unsignedUnary[T unsigned](op Op) func(y, x []T) {
	switch op {
	case Abs:
		return same[T]
	case Sign:
		return signUnsigned[T]
	}
	return integerUnary[T](op)
}

func signedUnary[T signed](op Op) func(y, x []T) {
	switch op {
	case Abs:
		return abs[T]
	case Sign:
		return sign[T]
	}
	return integerUnary[T](op)
}

func integerUnary[T integer](op Op) func(y, x []T) {
	switch op {
	case Neg:
		return neg[T]
	case Square:
		return square[T]
	case BitNot:
		return bitNot[T]
	case Floor, Ceil, Round, Conj, Real:
		return same[T]
	}
	return nil
}

func floatUnary[T float](op Op) func(y, x []T) {
	switch op {
	case Neg:
		return neg[T]
	case Abs:
		return absFloat[T]
	case Sign:
		return sign[T]
	case Square:
		return square[T]
	case Sqrt:
		return sqrt[T]
	case Rsqrt:
		return rsqrt[T]
	case Reciprocal:
		return reciprocal[T]
	case Sigmoid:
		return sigmoid[T]
	case Gelu:
		return gelu[T]
	case Floor:
		return floor[T]
	case Ceil:
		return ceil[T]
	case Round:
		return roundEven[T]
	case Conj, Real:
		return same[T]
	}
	if f := transcendental[T](op); f != nil {
		return f
	}
	return circular[T](op)
}

func same[T dtype.Element](y, x []T) { copy(y, x) }

func not(y, x []bool) {
	for i, v := range x {
		y[i] = !v
	}
}

func neg[T number](y, x []T) {
	for i, v := range x {
		y[i] = -v
	}
}

func bitNot[T integer](y, x []T) {
	for i, v := range x {
		y[i] = ^v
	}
}

func square[T number](y, x []T) {
	for i, v := range x {
		y[i] = v * v
	}
}

func abs[T signed](y, x []T) {
	for i, v := range x {
		y[i] = max(v, -v)
	}
}

func absFloat[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Abs(float64(v)))
	}
}

// sign keeps zeros, with their sign, and NaN.
func sign[T signed | float](y, x []T) {
	for i, v := range x {
		switch {
		case v > 0:
			y[i] = 1
		case v < 0:
			y[i] = -1
		default:
			y[i] = v
		}
	}
}

func signUnsigned[T unsigned](y, x []T) {
	for i, v := range x {
		y[i] = min(v, 1)
	}
}

func sqrt[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Sqrt(float64(v)))
	}
}

func rsqrt[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(1 / math.Sqrt(float64(v)))
	}
}

func reciprocal[T float](y, x []T) {
	for i, v := range x {
		y[i] = 1 / v
	}
}

func sigmoid[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

func gelu[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(v*0.5) * T(T(math.Erf(float64(T(v*(math.Sqrt2/2)))))+1)
	}
}

func floor[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Floor(float64(v)))
	}
}

func ceil[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Ceil(float64(v)))
	}
}

func roundEven[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.RoundToEven(float64(v)))
	}
}
