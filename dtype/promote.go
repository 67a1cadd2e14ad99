package dtype

// Promote returns the type in which an operation on a and b computes, by MLX's
// rules: a wider class wins (bool, integers, floats, complex); within a class the
// wider type; signed with unsigned gives the next wider signed type, and int64
// where uint32 meets a signed one; uint64 with a signed type gives float32;
// float16 with bfloat16 gives float32. It is symmetric. Invalid with anything is
// Invalid.
func Promote(a, b Type) Type {
	if a > b {
		a, b = b, a
	}
	switch {
	case !a.Valid() || !b.Valid():
		return Invalid
	case a == b || a == Bool || b.IsComplex():
		return b
	case a == Float16 && b == BFloat16:
		return Float32
	case a.IsUnsigned() && b.IsInteger() && !b.IsUnsigned():
		return mixSigns(a, b)
	default:
		return b
	}
}

func mixSigns(unsigned, signed Type) Type {
	if unsigned == Uint64 {
		return Float32
	}
	next := map[Type]Type{Uint8: Int16, Uint16: Int32, Uint32: Int64}[unsigned]
	return max(next, signed)
}
