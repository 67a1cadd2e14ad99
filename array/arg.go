package array

import (
	"context"
	"errors"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// ArgMax is the place, as uint32, of the greatest element along an axis, which it
// drops; of the first one where several are equal. A NaN counts as greatest. An
// error if the axis is empty, and for complex numbers. It has no gradient.
func (x *Array) ArgMax(axis int) *Array { return x.arg(argExtremum{least: false}, axis) }

// ArgMaxKeep is ArgMax, with the axis kept as length 1.
func (x *Array) ArgMaxKeep(axis int) *Array { return x.ArgMax(axis).ExpandDims(x.fromFront(axis)) }

// ArgMin is the place of the first least element; the rest is as for ArgMax. A
// NaN counts as least.
func (x *Array) ArgMin(axis int) *Array { return x.arg(argExtremum{least: true}, axis) }

// ArgMinKeep is ArgMin, with the axis kept as length 1.
func (x *Array) ArgMinKeep(axis int) *Array { return x.ArgMin(axis).ExpandDims(x.fromFront(axis)) }

func (x *Array) arg(p argExtremum, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail(p.Name(), err)
	}
	return Apply1(p, x.MoveAxis(at, -1))
}

// fromFront is axis, counted from the front if it is one of x.
func (x *Array) fromFront(axis int) int {
	if at, err := x.oneAxis(axis); err == nil {
		return at
	}
	return axis
}

// noSlope gives zero derivatives, for primitives with one input that pick or
// count.
type noSlope struct{}

func (noSlope) VJP(in, _, _ []*Array, _ []int) ([]*Array, error) {
	return []*Array{ZerosLike(in[0])}, nil
}

func (noSlope) JVP(_, out, _ []*Array, _ []int) ([]*Array, error) {
	return []*Array{ZerosLike(out[0])}, nil
}

// argExtremum drops the last axis.
type argExtremum struct {
	noSlope
	least bool
}

func (p argExtremum) Name() string {
	if p.least {
		return "argmin"
	}
	return "argmax"
}

// Equal reports whether o is the same operation.
func (p argExtremum) Equal(o Primitive) bool { return o == p }

func (p argExtremum) OutputSpecs(in []Spec) ([]Spec, error) {
	shape := in[0].Shape
	last := len(shape) - 1
	switch {
	case shape[last] == 0:
		return nil, errors.New("the axis has no elements")
	case in[0].DType.IsComplex():
		return nil, errors.New("complex numbers have no order")
	}
	return []Spec{{shape[:last], dtype.Uint32}}, nil
}

func (p argExtremum) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.ArgExtremum(p.least, in[0].DType, Elements[uint32](out[0]), in[0].Bytes(), shape[len(shape)-1])
	return nil
}

func (p argExtremum) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}
