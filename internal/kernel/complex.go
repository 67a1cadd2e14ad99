package kernel

import (
	"math"
	"math/cmplx"
)

// complexUnary computes in complex128 and rounds each part to float32.
func complexUnary(op Op) func(y, x []complex64) {
	switch op {
	case Neg:
		return neg[complex64]
	case Square:
		return square[complex64]
	case Conj:
		return conj
	case Rsqrt:
		return complexMap(func(v complex128) complex128 { return 1 / cmplx.Sqrt(v) })
	case Reciprocal:
		return complexMap(func(v complex128) complex128 { return 1 / v })
	case Sigmoid:
		return complexMap(func(v complex128) complex128 { return 1 / (1 + cmplx.Exp(-v)) })
	case Log2:
		return complexMap(func(v complex128) complex128 { return cmplx.Log(v) / math.Ln2 })
	}
	if f := complexFunctions[op]; f != nil {
		return complexMap(f)
	}
	return nil
}

// complexFunctions is read only.
var complexFunctions = map[Op]func(complex128) complex128{
	Exp: cmplx.Exp, Log: cmplx.Log, Log10: cmplx.Log10, Sqrt: cmplx.Sqrt,
	Sin: cmplx.Sin, Cos: cmplx.Cos, Tan: cmplx.Tan, Asin: cmplx.Asin, Acos: cmplx.Acos, Atan: cmplx.Atan,
	Sinh: cmplx.Sinh, Cosh: cmplx.Cosh, Tanh: cmplx.Tanh, Asinh: cmplx.Asinh, Acosh: cmplx.Acosh, Atanh: cmplx.Atanh,
}

func complexMap(f func(complex128) complex128) func(y, x []complex64) {
	return func(y, x []complex64) {
		for i, v := range x {
			y[i] = complex64(f(complex128(v)))
		}
	}
}

func conj(y, x []complex64) {
	for i, v := range x {
		y[i] = complex(real(v), -imag(v))
	}
}

// complexParts are the operations with a real result.
func complexParts(op Op) func(y []float32, x []complex64) {
	switch op {
	case Abs:
		return complexAbs
	case Real:
		return realPart
	case Imag:
		return imagPart
	}
	return nil
}

func complexAbs(y []float32, x []complex64) {
	for i, v := range x {
		y[i] = float32(math.Hypot(float64(real(v)), float64(imag(v))))
	}
}

func realPart(y []float32, x []complex64) {
	for i, v := range x {
		y[i] = real(v)
	}
}

func imagPart(y []float32, x []complex64) {
	for i, v := range x {
		y[i] = imag(v)
	}
}

func complexBinary(op Op) func(z, x, y []complex64) {
	switch op {
	case Div:
		return div[complex64]
	case Pow:
		return complexPow
	case Maximum:
		return complexMax
	case Minimum:
		return complexMin
	}
	return fieldBinary[complex64](op)
}

func complexPow(z, x, y []complex64) {
	for i, v := range x {
		z[i] = complex64(cmplx.Pow(complex128(v), complex128(y[i])))
	}
}

// complexMax orders by the real part, then the imaginary one; NaN wins.
func complexMax(z, x, y []complex64) {
	for i, v := range x {
		if v == v && !complexLess(y[i], v) {
			v = y[i]
		}
		z[i] = v
	}
}

func complexMin(z, x, y []complex64) {
	for i, v := range x {
		if v == v && !complexLess(v, y[i]) {
			v = y[i]
		}
		z[i] = v
	}
}

func complexLess(x, y complex64) bool {
	return real(x) < real(y) || real(x) == real(y) && imag(x) < imag(y)
}

// complexCompare orders as complexMax does.
func complexCompare(op Op) func(z []bool, x, y []complex64) {
	switch op {
	case Equal:
		return equal[complex64]
	case NotEqual:
		return notEqual[complex64]
	case Less:
		return complexOrder(complexLess)
	case LessEqual:
		return complexOrder(func(x, y complex64) bool { return complexLess(x, y) || x == y })
	case Greater:
		return complexOrder(func(x, y complex64) bool { return complexLess(y, x) })
	case GreaterEqual:
		return complexOrder(func(x, y complex64) bool { return complexLess(y, x) || x == y })
	}
	return nil
}

func complexOrder(f func(x, y complex64) bool) func(z []bool, x, y []complex64) {
	return func(z []bool, x, y []complex64) {
		for i, v := range x {
			z[i] = f(v, y[i])
		}
	}
}
