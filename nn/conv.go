package nn

import (
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
)

// Conv2d slides filters over images with channels last.
type Conv2d struct {
	Base
	Weight  *array.Array // [out, kh, kw, in/groups]
	Bias    *array.Array // [out], nil for none
	Options array.ConvOptions
}

// NewConv2d draws square filters of the given width uniformly from ±1/√(in·kernel²/groups);
// the bias starts at 0, as MLX's does. If a number is below 1 or the groups do not divide
// the channels, the weight carries an error.
func NewConv2d(key random.Key, in, out, kernel int, bias bool, o array.ConvOptions) *Conv2d {
	groups := max(1, o.Groups)
	if min(in, out, kernel) < 1 || in%groups != 0 || out%groups != 0 {
		return &Conv2d{Weight: array.Fail("conv2d", fmt.Errorf("%d to %d channels in %d groups with filters of width %d", in, out, groups, kernel))}
	}
	scale := 1 / math.Sqrt(float64(in/groups*kernel*kernel))
	l := &Conv2d{Weight: random.Uniform(key, -scale, scale, dtype.Float32, out, kernel, kernel, in/groups), Options: o}
	if bias {
		l.Bias = array.Zeros(dtype.Float32, out)
	}
	return l
}

// Forward maps [batch, height, width, in] to [batch, rows, columns, out].
func (l *Conv2d) Forward(x *array.Array) *array.Array {
	return biased(array.Conv2d(x, l.Weight, l.Options), l.Bias)
}
