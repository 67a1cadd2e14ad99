package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Normalize scales each contiguous row x of n elements of float32 or float64:
// y = (x - mean)·scale with scale = 1/sqrt(variance + eps), or without the mean,
// y = x·scale with scale = 1/sqrt(mean of squares + eps). Moments are taken in
// float64. scale has one element for each row.
func Normalize(t dtype.Type, y, scale, x []byte, n int, eps float64, center bool) {
	if t == dtype.Float32 {
		normalize(buffer.As[float32](y), buffer.As[float32](scale), buffer.As[float32](x), n, eps, center)
	} else {
		normalize(buffer.As[float64](y), buffer.As[float64](scale), buffer.As[float64](x), n, eps, center)
	}
}

func normalize[T float](y, scale, x []T, n int, eps float64, center bool) {
	for i := range scale {
		row, out := x[i*n:(i+1)*n], y[i*n:(i+1)*n]
		mean := 0.0
		if center {
			mean = sumFloats(row) / float64(n)
		}
		r := 1 / math.Sqrt(meanSquare(row, mean)+eps)
		scale[i] = T(r)
		for j, v := range row {
			out[j] = T((float64(v) - mean) * r)
		}
	}
}

func meanSquare[T float](x []T, mean float64) float64 {
	var s [2]float64
	for i, v := range x {
		d := float64(v) - mean
		s[i&1] += float64(d * d)
	}
	return (s[0] + s[1]) / float64(len(x))
}
