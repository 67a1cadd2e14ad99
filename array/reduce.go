package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Sum adds the elements of x over the given axes, which it drops; over all axes
// if none are given. Integers and bool give int32 or uint32, or 64 bits if x has
// them, and wrap. Floating-point sums are pairwise in float64 (complex64 by its
// parts), in an order fixed by the number of elements, and are rounded once. An
// empty sum is 0. An error if an axis is out of range or given twice.
func (x *Array) Sum(axes ...int) *Array { return x.reduced(kernel.Sum, axes, false) }

// SumKeep is Sum, with the axes kept as length 1.
func (x *Array) SumKeep(axes ...int) *Array { return x.reduced(kernel.Sum, axes, true) }

// Mean is the sum of Sum divided by the number of elements before its one
// rounding. The mean of integers and bool is float32. An empty mean is NaN.
func (x *Array) Mean(axes ...int) *Array { return x.reduced(kernel.Mean, axes, false) }

// MeanKeep is Mean, with the axes kept as length 1.
func (x *Array) MeanKeep(axes ...int) *Array { return x.reduced(kernel.Mean, axes, true) }

// Prod multiplies the elements of x over the given axes, which it drops; over
// all axes if none are given. Types are those of Sum; floating-point products
// are taken in float64. An empty product is 1. The gradient is right where
// factors are zero.
func (x *Array) Prod(axes ...int) *Array { return x.reduced(kernel.Prod, axes, false) }

// ProdKeep is Prod, with the axes kept as length 1.
func (x *Array) ProdKeep(axes ...int) *Array { return x.reduced(kernel.Prod, axes, true) }

// Max is the greatest element over the given axes, which it drops; over all axes
// if none are given. NaN if there is one; complex numbers are compared by real
// part, then imaginary part. An error if there are no elements. The gradient
// goes to the greatest element, in equal parts where several are equal.
func (x *Array) Max(axes ...int) *Array { return x.reduced(kernel.Max, axes, false) }

// MaxKeep is Max, with the axes kept as length 1.
func (x *Array) MaxKeep(axes ...int) *Array { return x.reduced(kernel.Max, axes, true) }

// Min is the least element; the rest is as for Max.
func (x *Array) Min(axes ...int) *Array { return x.reduced(kernel.Min, axes, false) }

// MinKeep is Min, with the axes kept as length 1.
func (x *Array) MinKeep(axes ...int) *Array { return x.reduced(kernel.Min, axes, true) }

// All reports, as bool, whether all elements over the given axes are not zero;
// true if there are none.
func (x *Array) All(axes ...int) *Array { return x.AsType(dtype.Bool).reduced(kernel.All, axes, false) }

// AllKeep is All, with the axes kept as length 1.
func (x *Array) AllKeep(axes ...int) *Array {
	return x.AsType(dtype.Bool).reduced(kernel.All, axes, true)
}

// Any reports, as bool, whether some element over the given axes is not zero;
// false if there are none.
func (x *Array) Any(axes ...int) *Array { return x.AsType(dtype.Bool).reduced(kernel.Any, axes, false) }

// AnyKeep is Any, with the axes kept as length 1.
func (x *Array) AnyKeep(axes ...int) *Array {
	return x.AsType(dtype.Bool).reduced(kernel.Any, axes, true)
}

func (x *Array) reduced(op kernel.Reduction, axes []int, keep bool) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.manyAxes(axes)
	if err != nil {
		return x.fail(string(op), err)
	}
	y := Apply1(reduce{op, at}, x)
	if keep {
		return y
	}
	return y.without(at)
}

// manyAxes counts axes of x from the front and sorts them; all if none are given.
func (x *Array) manyAxes(axes []int) ([]int, error) {
	if len(axes) == 0 {
		return upTo(x.NDim()), nil
	}
	at, err := sortedAxes(axes, x.NDim())
	if err != nil {
		return nil, fmt.Errorf("%v: %w", x.spec(), err)
	}
	return at, nil
}

// without drops axes of length 1, given in increasing order.
func (x *Array) without(axes []int) *Array {
	if x.Err() != nil || len(axes) == 0 {
		return x
	}
	return x.Squeeze(axes...)
}

// reduce reduces over axes and keeps them as length 1.
type reduce struct {
	op   kernel.Reduction
	axes []int
}

func (p reduce) Name() string { return string(p.op) }

// ReadsStrided marks a StridedReader.
func (reduce) ReadsStrided() {}

// Equal reports whether both compute the same.
func (p reduce) Equal(o Primitive) bool {
	q, ok := o.(reduce)
	return ok && p.op == q.op && slices.Equal(p.axes, q.axes)
}

func (p reduce) OutputSpecs(in []Spec) ([]Spec, error) {
	shape, n := slices.Clone(in[0].Shape), 1
	for _, axis := range p.axes {
		n *= shape[axis]
		shape[axis] = 1
	}
	if n == 0 && (p.op == kernel.Max || p.op == kernel.Min) && (Spec{Shape: shape}).Size() > 0 {
		return nil, fmt.Errorf("no elements over axes %v of shape %v", p.axes, in[0].Shape)
	}
	return []Spec{{shape, reducedType(p.op, in[0].DType)}}, nil
}

func reducedType(op kernel.Reduction, t dtype.Type) dtype.Type {
	switch {
	case op == kernel.Mean && !t.IsInexact():
		return dtype.Float32
	case op != kernel.Sum && op != kernel.Prod:
		return t
	case t.IsUnsigned() && t.Size() < 8:
		return dtype.Uint32
	case t.IsBool() || t.IsInteger() && !t.IsUnsigned() && t.Size() < 8:
		return dtype.Int32
	}
	return t
}

func (p reduce) Eval(_ context.Context, in, out []View) error {
	x, y := in[0], out[0]
	kernel.Reduce(p.op, y.DType, y.Bytes(), x.DType, operand(x), x.Shape, p.axes)
	return nil
}

func (p reduce) VJP(in, out, dy []*Array, _ []int) ([]*Array, error) {
	x := in[0]
	shape := x.spec().Shape
	switch p.op {
	case kernel.Sum:
		return []*Array{dy[0].BroadcastTo(shape...)}, nil
	case kernel.Mean:
		return []*Array{dy[0].DivScalar(p.count(x)).BroadcastTo(shape...)}, nil
	case kernel.Prod:
		return []*Array{p.otherFactors(x).Mul(dy[0].Conj()).Conj()}, nil
	}
	return []*Array{p.share(x, out[0]).Mul(dy[0])}, nil
}

func (p reduce) JVP(in, out, dx []*Array, _ []int) ([]*Array, error) {
	x, t := in[0], dx[0]
	switch p.op {
	case kernel.Sum, kernel.Mean:
		return []*Array{Apply1(p, t)}, nil
	case kernel.Prod:
		return []*Array{p.otherFactors(x).Mul(t).SumKeep(p.axes...)}, nil
	}
	return []*Array{p.share(x, out[0]).Mul(t).SumKeep(p.axes...)}, nil
}

func (p reduce) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return []*Array{Apply1(reduce{p.op, beside(axes[0], p.axes)}, in[0])}, axes, nil
}

// beside renumbers axes of one example for a batch with the given batch axis.
func beside(batch int, axes []int) []int {
	moved := slices.Clone(axes)
	for i, axis := range moved {
		if axis >= batch {
			moved[i]++
		}
	}
	return moved
}

func (p reduce) count(x *Array) float64 {
	n := 1
	for _, axis := range p.axes {
		n *= x.Dim(axis)
	}
	return float64(n)
}

// share is what each element has of the extremum y: 1, or less among equals.
func (p reduce) share(x, y *Array) *Array {
	hit := x.Equal(y).AsType(x.DType())
	return hit.Div(hit.SumKeep(p.axes...))
}

// otherFactors is, for each element, the product of the others: those before
// times those after, so that zeros do no harm.
func (p reduce) otherFactors(x *Array) *Array {
	order := append(others(p.axes, x.NDim()), p.axes...)
	moved := x.Transpose(order...)
	rows := x.rows(p.axes)
	product := rows.CumProd(-1, Exclusive).Mul(rows.CumProd(-1, Exclusive, Reverse))
	return product.Reshape(moved.Shape()...).Transpose(inverse(order)...)
}

// inverse is the order that undoes a transposition.
func inverse(order []int) []int {
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	return back
}

// operand is a view as the kernels take it.
func operand(v View) kernel.Operand {
	return kernel.Operand{Storage: v.Storage, Size: v.DType.Size(), Strides: v.Strides, Offset: v.Offset}
}
