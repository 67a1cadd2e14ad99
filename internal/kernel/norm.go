package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Normalize scales each contiguous row x of n elements of float32 or float64:
// y = (x - mean)·scale with scale = 1/sqrt(variance + eps), or without the mean,
// y = x·scale with scale = 1/sqrt(mean of squares + eps). Moments are taken in
// float64. scale has one element for each row. Many rows are shared out over the
// processors.
func Normalize(t dtype.Type, y, scale, x []byte, n int, eps float64, center bool) {
	if t == dtype.Float32 {
		normalize(rowFunctionsOf[float32](active()), buffer.As[float32](y), buffer.As[float32](scale), buffer.As[float32](x), n, eps, center)
	} else {
		normalize(rowFunctionsOf[float64](active()), buffer.As[float64](y), buffer.As[float64](scale), buffer.As[float64](x), n, eps, center)
	}
}

func normalize[T float](f *rowFunctions[T], y, scale, x []T, n int, eps float64, center bool) {
	shares(len(scale), 2*n*sizeOf[T](), func(from, to int) {
		for i := from; i < to; i++ {
			row := x[i*n : (i+1)*n]
			mean := 0.0
			if center {
				mean = sumFloats(row) / float64(n)
			}
			r := 1 / math.Sqrt(f.meanSquare(row, mean)+eps)
			scale[i] = T(r)
			f.normalizeRow(y[i*n:(i+1)*n], row, mean, r)
		}
	})
}

// meanSquare adds up the squares in lanes as sumRow does a block.
func (f *rowFunctions[T]) meanSquare(x []T, mean float64) float64 {
	var s [lanes]float64
	full := 0
	if f.squares != nil {
		full = len(x) / lanes * lanes
	}
	if full > 0 {
		if total := f.squares(full, &x[0], mean, &s[0]); full == len(x) {
			return total / float64(full)
		}
	}
	for i, v := range x[full:] {
		d := float64(v) - mean
		s[i%lanes] = math.FMA(d, d, s[i%lanes])
	}
	return addLanes(&s) / float64(len(x))
}

// normalizeRow computes in float64 and rounds once.
func (f *rowFunctions[T]) normalizeRow(y, x []T, mean, scale float64) {
	full := 0
	if f.normalize != nil && len(x) >= 8 {
		full = len(x) &^ 7
		_ = y[full-1]
		f.normalize(full, &y[0], &x[0], mean, scale)
	}
	for i, v := range x[full:] {
		y[full+i] = T((float64(v) - mean) * scale)
	}
}
