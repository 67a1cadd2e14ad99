package reduce

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// format is how the elements of a type become float64 and back. widen is exact;
// narrow rounds once and makes every NaN canonical.
type format struct {
	floats int // float64 values per element
	widen  func(acc []float64, part []byte)
	narrow func(dst []byte, acc []float64)
}

var formats = [...]format{
	dtype.Float16:   {1, widenFloat16, narrowFloat16},
	dtype.BFloat16:  {1, widenBFloat16, narrowBFloat16},
	dtype.Float32:   {1, widenFloat32, narrowFloat32},
	dtype.Float64:   {1, widenFloat64, narrowFloat64},
	dtype.Complex64: {2, widenFloat32, narrowFloat32},
}

func widenFloat16(acc []float64, part []byte) {
	x := buffer.As[dtype.F16](part)[:len(acc)]
	for i := range acc {
		acc[i] = x[i].Float64()
	}
}

func narrowFloat16(dst []byte, acc []float64) {
	y := buffer.As[dtype.F16](dst)[:len(acc)]
	for i := range acc {
		y[i] = dtype.F16From(acc[i])
	}
}

func widenBFloat16(acc []float64, part []byte) {
	x := buffer.As[dtype.BF16](part)[:len(acc)]
	for i := range acc {
		acc[i] = x[i].Float64()
	}
}

func narrowBFloat16(dst []byte, acc []float64) {
	y := buffer.As[dtype.BF16](dst)[:len(acc)]
	for i := range acc {
		y[i] = dtype.BF16From(acc[i])
	}
}

func widenFloat32(acc []float64, part []byte) {
	x := buffer.As[float32](part)[:len(acc)]
	for i := range acc {
		acc[i] = float64(x[i])
	}
}

func narrowFloat32(dst []byte, acc []float64) {
	y := buffer.As[float32](dst)[:len(acc)]
	for i := range acc {
		y[i] = quiet32(float32(acc[i]))
	}
}

func widenFloat64(acc []float64, part []byte) {
	copy(acc, buffer.As[float64](part))
}

func narrowFloat64(dst []byte, acc []float64) {
	y := buffer.As[float64](dst)[:len(acc)]
	for i := range acc {
		y[i] = acc[i]
		if acc[i] != acc[i] {
			y[i] = math.Float64frombits(0x7ff8000000000000)
		}
	}
}

// quiet32 replaces any NaN by the canonical quiet one.
func quiet32(x float32) float32 {
	if x != x {
		return math.Float32frombits(0x7fc00000)
	}
	return x
}
