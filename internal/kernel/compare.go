package kernel

import "github.com/lockstep-go/lockstep/dtype"

func compare(op Op, t dtype.Type) Loop {
	switch t {
	case dtype.Bool, dtype.Uint8:
		return loop2(order[uint8](op))
	case dtype.Uint16:
		return loop2(order[uint16](op))
	case dtype.Uint32:
		return loop2(order[uint32](op))
	case dtype.Uint64:
		return loop2(order[uint64](op))
	case dtype.Int8:
		return loop2(order[int8](op))
	case dtype.Int16:
		return loop2(order[int16](op))
	case dtype.Int32:
		return loop2(order[int32](op))
	case dtype.Int64:
		return loop2(order[int64](op))
	case dtype.Float16, dtype.BFloat16:
		return halfTests(t, loop2(order[float32](op)))
	case dtype.Float32:
		return loop2(order[float32](op))
	case dtype.Float64:
		return loop2(order[float64](op))
	case dtype.Complex64:
		return loop2(complexCompare(op))
	}
	return nil
}

func order[T integer | float](op Op) func(z []bool, x, y []T) {
	switch op {
	case Equal:
		return equal[T]
	case NotEqual:
		return notEqual[T]
	case Less:
		return less[T]
	case LessEqual:
		return lessEqual[T]
	case Greater:
		return greater[T]
	}
	return greaterEqual[T]
}

func equal[T number](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v == y[i]
	}
}

func notEqual[T number](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v != y[i]
	}
}

func less[T integer | float](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v < y[i]
	}
}

func lessEqual[T integer | float](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v <= y[i]
	}
}

func greater[T integer | float](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v > y[i]
	}
}

func greaterEqual[T integer | float](z []bool, x, y []T) {
	for i, v := range x {
		z[i] = v >= y[i]
	}
}
