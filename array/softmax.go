package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Softmax is exp(x) divided by its sum along an axis, without overflow. Bool and
// integers become float32; the half types are computed in float32. An error for
// complex numbers. A row that is -Inf throughout gives NaN.
func (x *Array) Softmax(axis int) *Array { return x.rowwise(softmax{kernel.Softmax}, axis) }

// LogSoftmax is the logarithm of Softmax, accurate where that is small.
func (x *Array) LogSoftmax(axis int) *Array { return x.rowwise(softmax{kernel.LogSoftmax}, axis) }

// LogSumExp is log(sum(exp(x))) over the given axes, which it drops, without
// overflow; over all axes if none are given. Types are those of Softmax. -Inf if
// there are no elements. The gradient is Softmax.
func (x *Array) LogSumExp(axes ...int) *Array { return x.logSumExp(axes, false) }

// LogSumExpKeep is LogSumExp, with the axes kept as length 1.
func (x *Array) LogSumExpKeep(axes ...int) *Array { return x.logSumExp(axes, true) }

func (x *Array) logSumExp(axes []int, keep bool) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.manyAxes(axes)
	if err != nil {
		return x.fail("logsumexp", err)
	}
	y := Apply1(logSumExp{}, x.inexact().rows(at))
	if keep {
		return y.ExpandDims(at...)
	}
	return y
}

// rowwise applies a primitive that works along the last axis along another one.
func (x *Array) rowwise(p Primitive, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail(p.Name(), err)
	}
	return Apply1(p, x.inexact().MoveAxis(at, -1)).MoveAxis(-1, at)
}

// rows joins axes of x, given in increasing order, to one last axis.
func (x *Array) rows(axes []int) *Array {
	order := others(axes, x.NDim())
	kept := len(order)
	order = append(order, axes...)
	moved := x.Transpose(order...)
	n := 1
	for _, axis := range axes {
		n *= x.Dim(axis)
	}
	return moved.Reshape(append(moved.Shape()[:kept], n)...)
}

// others lists the axes that are not among the given ones.
func others(axes []int, ndim int) []int {
	return slices.DeleteFunc(upTo(ndim), func(axis int) bool { return slices.Contains(axes, axis) })
}

// mapRows applies a primitive of one input that works along the last axis to a
// batch.
func mapRows(p Primitive, in []*Array, axes []int) ([]*Array, []int, error) {
	out := Apply(p, in[0].MoveAxis(axes[0], 0))
	return out, make([]int, len(out)), nil
}

// wide is x, or in float32 what has half precision.
func (x *Array) wide() *Array {
	if t := x.DType(); t == dtype.Float16 || t == dtype.BFloat16 {
		return x.AsType(dtype.Float32)
	}
	return x
}

func checkReal(in Spec) error {
	if !in.DType.IsFloat() {
		return fmt.Errorf("not defined for %v (have float16, bfloat16, float32, float64)", in.DType)
	}
	return nil
}

// softmax is Softmax or LogSoftmax along the last axis.
type softmax struct{ op kernel.RowOp }

func (p softmax) Name() string { return string(p.op) }

// Equal reports whether o is the same operation.
func (p softmax) Equal(o Primitive) bool { return o == p }

func (p softmax) OutputSpecs(in []Spec) ([]Spec, error) { return in, checkReal(in[0]) }

func (p softmax) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.Rows(p.op, in[0].DType, out[0].Bytes(), in[0].Bytes(), shape[len(shape)-1])
	return nil
}

func (p softmax) VJP(_, out, dy []*Array, _ []int) ([]*Array, error) {
	y, d := out[0].wide(), dy[0].wide()
	var dx *Array
	if p.op == kernel.Softmax {
		yd := y.Mul(d)
		dx = yd.Sub(y.Mul(yd.SumKeep(-1)))
	} else {
		dx = d.Sub(y.Exp().Mul(d.SumKeep(-1)))
	}
	return []*Array{dx.AsType(dy[0].DType())}, nil
}

func (p softmax) JVP(_, out, dx []*Array, _ []int) ([]*Array, error) {
	y, d := out[0].wide(), dx[0].wide()
	var dy *Array
	if p.op == kernel.Softmax {
		dy = y.Mul(d.Sub(y.Mul(d).SumKeep(-1)))
	} else {
		dy = d.Sub(y.Exp().Mul(d).SumKeep(-1))
	}
	return []*Array{dy.AsType(dx[0].DType())}, nil
}

func (p softmax) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}

// logSumExp drops the last axis.
type logSumExp struct{}

func (logSumExp) Name() string { return string(kernel.LogSumExp) }

// Equal reports whether o is the same operation.
func (p logSumExp) Equal(o Primitive) bool { return o == p }

func (logSumExp) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkReal(in[0]); err != nil {
		return nil, err
	}
	shape := in[0].Shape
	return []Spec{{shape[:len(shape)-1], in[0].DType}}, nil
}

func (logSumExp) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.Rows(kernel.LogSumExp, in[0].DType, out[0].Bytes(), in[0].Bytes(), shape[len(shape)-1])
	return nil
}

func (logSumExp) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{in[0].Softmax(-1).Mul(dy[0].ExpandDims(-1))}, nil
}

func (logSumExp) JVP(in, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{in[0].Softmax(-1).Mul(dx[0]).Sum(-1)}, nil
}

func (p logSumExp) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}
