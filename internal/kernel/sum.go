package kernel

// summing adds up rows at a level: one up to a block long, and one of exactly four
// blocks.
type summing[T float] struct {
	block func(n int, x *T) float64
	four  func(x *T) float64
}

// sumFloats is sumRow in float64, bit for bit, by the active level.
func sumFloats[T float](x []T) float64 {
	k := active()
	switch x := any(x).(type) {
	case []float32:
		return sumBy(k.sums32, x)
	case []float64:
		return sumBy(k.sums64, x)
	}
	return sumRow[T, float64](x)
}

func sumBy[T float](s summing[T], x []T) float64 {
	switch n := len(x); {
	case s.block == nil:
		return sumRow[T, float64](x)
	case n == 0:
		return 0
	case n <= sumBlock:
		return s.block(n, &x[0])
	case n == 4*sumBlock:
		return s.four(&x[0])
	default:
		return sumBy(s, x[:half(n)]) + sumBy(s, x[half(n):])
	}
}
