package array

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/internal/kernel"
)

// LayerNorm makes mean 0 and variance 1 of each row along the last axis,
// (x - mean) / sqrt(variance + eps), and then multiplies with weight and adds
// bias, each of the length of a row or nil. It computes in float32 for the half
// types; the result has the type of x, or float32 for integers. An error for
// complex numbers, scalars and empty rows.
func LayerNorm(x, weight, bias *Array, eps float64) *Array {
	return normalized("layer_norm", x, weight, bias, eps, true)
}

// RMSNorm divides each row along the last axis by the root of its mean square,
// x / sqrt(mean(x²) + eps), and then multiplies with weight, which has the length
// of a row or is nil. The rest is as for LayerNorm.
func RMSNorm(x, weight *Array, eps float64) *Array {
	return normalized("rms_norm", x, weight, nil, eps, false)
}

func normalized(op string, x, weight, bias *Array, eps float64, center bool) *Array {
	if x.Err() != nil {
		return x
	}
	for _, w := range []*Array{weight, bias} {
		if w != nil && w.Err() == nil && (x.NDim() == 0 || !slices.Equal(w.spec().Shape, []int{x.Dim(-1)})) {
			return x.fail(op, fmt.Errorf("a weight or bias of shape %v for rows of %v", w.spec().Shape, x.spec()))
		}
	}
	x = x.inexact()
	y := Apply(normalize{op, eps, center}, x.wide())[0]
	if weight != nil {
		y = y.Mul(weight.AsType(y.DType()))
	}
	if bias != nil {
		y = y.Add(bias.AsType(y.DType()))
	}
	return y.AsType(x.DType())
}

// normalize gives its normalized rows and, as a second output, what each row was
// scaled with.
type normalize struct {
	op     string
	eps    float64
	center bool
}

func (p normalize) Name() string { return p.op }

// Outputs is two: rows and scales.
func (normalize) Outputs() int { return 2 }

// Equal reports whether o normalizes alike.
func (p normalize) Equal(o Primitive) bool { return o == p }

func (p normalize) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkReal(in[0]); err != nil {
		return nil, err
	}
	shape := slices.Clone(in[0].Shape)
	last := len(shape) - 1
	if last < 0 || shape[last] == 0 {
		return nil, errors.New("rows have no elements")
	}
	if !(p.eps >= 0) || math.IsInf(p.eps, 0) {
		return nil, fmt.Errorf("eps is %v", p.eps)
	}
	shape[last] = 1
	return []Spec{in[0], {shape, in[0].DType}}, nil
}

func (p normalize) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.Normalize(in[0].DType, out[0].Bytes(), out[1].Bytes(), in[0].Bytes(), shape[len(shape)-1], p.eps, p.center)
	return nil
}

// The derivative of the rows y by x is scale·(1 - y yᵀ/n), less the mean if that
// was taken off; the derivative of the scale is -scale²·y/n.

func (p normalize) VJP(_, out, dy []*Array, _ []int) ([]*Array, error) {
	y, scale := out[0], out[1]
	along := y.Mul(dy[0]).MeanKeep(-1).Add(dy[1].Mul(scale).DivScalar(float64(y.Dim(-1))))
	return []*Array{p.uncentered(dy[0]).Sub(y.Mul(along)).Mul(scale)}, nil
}

func (p normalize) JVP(_, out, dx []*Array, _ []int) ([]*Array, error) {
	y, scale := out[0], out[1]
	along := y.Mul(dx[0]).MeanKeep(-1)
	return []*Array{
		p.uncentered(dx[0]).Sub(y.Mul(along)).Mul(scale),
		along.Mul(scale.Square()).Neg(),
	}, nil
}

// uncentered takes the mean of each row off d if p does so.
func (p normalize) uncentered(d *Array) *Array {
	if p.center {
		return d.Sub(d.MeanKeep(-1))
	}
	return d
}

func (p normalize) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}
