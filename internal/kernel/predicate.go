package kernel

import (
	"math"
	"math/cmplx"

	"github.com/lockstep-go/lockstep/dtype"
)

// test returns the loop of an operation of one operand that answers yes or no.
func test(op Op, t dtype.Type) Loop {
	switch t {
	case dtype.Bool:
		return loop1(exactTest[bool](op))
	case dtype.Uint8, dtype.Int8:
		return loop1(exactTest[uint8](op))
	case dtype.Uint16, dtype.Int16:
		return loop1(exactTest[uint16](op))
	case dtype.Uint32, dtype.Int32:
		return loop1(exactTest[uint32](op))
	case dtype.Uint64, dtype.Int64:
		return loop1(exactTest[uint64](op))
	case dtype.Float16, dtype.BFloat16:
		return halfTests(t, loop1(floatTest[float32](op)))
	case dtype.Float32:
		return loop1(floatTest[float32](op))
	case dtype.Float64:
		return loop1(floatTest[float64](op))
	case dtype.Complex64:
		return loop1(complexTest(op))
	}
	return nil
}

// exactTest serves the types that have no NaN and no infinity.
func exactTest[T bool | unsigned](op Op) func(y []bool, x []T) {
	switch op {
	case LogicalNot:
		return isZero[T]
	case IsFinite:
		return always[T]
	}
	return never[T]
}

func floatTest[T float](op Op) func(y []bool, x []T) {
	switch op {
	case LogicalNot:
		return isZero[T]
	case IsNaN:
		return isNaN[T]
	case IsInf:
		return isInf[T]
	}
	return isFinite[T]
}

func complexTest(op Op) func(y []bool, x []complex64) {
	switch op {
	case LogicalNot:
		return isZero[complex64]
	case IsNaN:
		return isNaN[complex64]
	case IsInf:
		return isInfComplex
	}
	return isFinite[complex64]
}

func isZero[T bool | unsigned | float | complex64](y []bool, x []T) {
	var zero T
	for i, v := range x {
		y[i] = v == zero
	}
}

func always[T any](y []bool, x []T) {
	for i := range x {
		y[i] = true
	}
}

func never[T any](y []bool, x []T) {
	for i := range x {
		y[i] = false
	}
}

func isNaN[T float | complex64](y []bool, x []T) {
	for i, v := range x {
		y[i] = v != v
	}
}

func isInf[T float](y []bool, x []T) {
	for i, v := range x {
		y[i] = math.IsInf(float64(v), 0)
	}
}

// isInfComplex holds when a part is infinite, whatever the other one is.
func isInfComplex(y []bool, x []complex64) {
	for i, v := range x {
		y[i] = cmplx.IsInf(complex128(v))
	}
}

// isFinite uses that only finite values give zero when taken from themselves.
func isFinite[T float | complex64](y []bool, x []T) {
	for i, v := range x {
		y[i] = v-v == 0
	}
}
