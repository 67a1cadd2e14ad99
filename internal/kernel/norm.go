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
			mean, square := f.meanAndSquare(row, center)
			r := 1 / math.Sqrt(square+eps)
			scale[i] = T(r)
			f.normalizeRow(y[i*n:(i+1)*n], row, mean, r)
		}
	})
}

// meanAndSquare is the mean and the mean of the squared distances from it; of zero
// if the row is not centred.
func (f *rowFunctions[T]) meanAndSquare(x []T, center bool) (mean, square float64) {
	if x, ok := any(x).([]float32); ok {
		return any(f).(*rowFunctions[float32]).once(x, center)
	}
	if center {
		mean = sumFloats(x) / float64(len(x))
	}
	return mean, f.meanSquare(x, mean)
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

// once reads a row of float32 one time, as to convert it takes the longest. It
// takes distances from an element of the row, which is at most √n standard
// deviations from the mean: float64 loses n units in its last place at the most.
func (f *rowFunctions[T]) once(x []T, center bool) (mean, square float64) {
	from, n := 0.0, float64(len(x))
	if center {
		from = float64(x[0])
	}
	sum, squares := f.momentsFrom(x, from)
	if !center {
		return 0, squares / n
	}
	off := sum / n
	return from + off, max(squares/n-off*off, 0)
}

const momentLanes = 16

func (f *rowFunctions[T]) momentsFrom(x []T, from float64) (sum, square float64) {
	if f.moments != nil && len(x)%momentLanes == 0 {
		return f.moments(len(x), &x[0], from, nil)
	}
	var s [2][momentLanes]float64
	full := 0
	if f.moments != nil && len(x) > momentLanes {
		full = len(x) / momentLanes * momentLanes
		f.moments(full, &x[0], from, &s[0][0])
	}
	for i, v := range x[full:] {
		d := float64(v) - from
		s[0][i%momentLanes] += d
		s[1][i%momentLanes] = math.FMA(d, d, s[1][i%momentLanes])
	}
	for apart := momentLanes / 2; apart > 0; apart /= 2 {
		for i := range apart {
			s[0][i] += s[0][i+apart]
			s[1][i] += s[1][i+apart]
		}
	}
	return s[0][0], s[1][0]
}

// normalizeRow is (x-mean)·scale as x·scale + shift, computed by one FMA in float64: what
// the shift loses is no more than the mean has lost.
func (f *rowFunctions[T]) normalizeRow(y, x []T, mean, scale float64) {
	shift := -(mean * scale)
	full := 0
	if f.normalize != nil && len(x) >= 8 {
		full = len(x) &^ 7
		_ = y[full-1]
		f.normalize(full, &y[0], &x[0], scale, shift)
	}
	for i, v := range x[full:] {
		y[full+i] = T(math.FMA(float64(v), scale, shift))
	}
}
