package kernel

// vector1 and vector2 are elementwise loops of a level over n elements. z may be
// an operand.
type (
	vector1[T float] func(n int, z, x *T)
	vector2[T float] func(n int, z, x, y *T)
)

// vectors are the elementwise loops of a level for one type.
type vectors[T float] struct {
	unary  map[Op]vector1[T]
	binary map[Op]vector2[T]
}

// fastUnary is the loop of the active level, else the portable one.
func fastUnary[T float](v vectors[T], op Op) func(y, x []T) {
	f := v.unary[op]
	if f == nil {
		return floatUnary[T](op)
	}
	return func(y, x []T) {
		if n := len(x); n > 0 {
			_ = y[n-1]
			f(n, &y[0], &x[0])
		}
	}
}

// fastBinary is fastUnary for two operands.
func fastBinary[T float](v vectors[T], op Op) func(z, x, y []T) {
	f := v.binary[op]
	if f == nil {
		return floatBinary[T](op)
	}
	return func(z, x, y []T) {
		if n := len(x); n > 0 {
			_, _ = y[n-1], z[n-1]
			f(n, &z[0], &x[0], &y[0])
		}
	}
}
