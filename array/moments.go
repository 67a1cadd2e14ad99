package array

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
)

// Var is the mean of the squared distances from the mean over the given axes,
// which it drops; over all axes if none are given. It is float32 for integers and
// bool and for complex64, of which it takes the squared magnitudes; half types
// are computed in float32. Nothing gives NaN.
func (x *Array) Var(axes ...int) *Array { return x.variance(0, axes, false).AsType(x.varType()) }

// VarKeep is Var, with the axes kept as length 1.
func (x *Array) VarKeep(axes ...int) *Array { return x.variance(0, axes, true).AsType(x.varType()) }

// VarCorrected is Var with the sum of squares divided by the number of elements
// less ddof: 1 gives the unbiased estimate. Infinite or NaN if nothing is left.
func (x *Array) VarCorrected(ddof float64, axes ...int) *Array {
	return x.variance(ddof, axes, false).AsType(x.varType())
}

// Std is the square root of Var. Where that is 0 the gradient is not finite.
func (x *Array) Std(axes ...int) *Array {
	return x.variance(0, axes, false).Sqrt().AsType(x.varType())
}

// StdKeep is Std, with the axes kept as length 1.
func (x *Array) StdKeep(axes ...int) *Array {
	return x.variance(0, axes, true).Sqrt().AsType(x.varType())
}

func (x *Array) varType() dtype.Type {
	if t := x.DType(); t.IsFloat() {
		return t
	}
	return dtype.Float32
}

func (x *Array) variance(ddof float64, axes []int, keep bool) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.manyAxes(axes)
	if err != nil {
		return x.fail("var", err)
	}
	w := x.inexact().wide()
	d := w.Sub(w.MeanKeep(axes...))
	square := d.Square()
	if d.DType().IsComplex() {
		square = d.Real().Square().Add(d.Imag().Square())
	}
	n := reduce{axes: at}.count(x)
	y := square.SumKeep(axes...).DivScalar(max(0, n-ddof))
	if keep {
		return y
	}
	return y.without(at)
}

// Median is the middle of the elements over the given axes in ascending order,
// which it drops, or the mean of the two in the middle; over all axes if none are
// given. NaN if there is one; float32 for integers and bool. An error if there
// are no elements, and for complex numbers. The gradient goes to the elements in
// the middle.
func (x *Array) Median(axes ...int) *Array { return x.median(axes, false) }

// MedianKeep is Median, with the axes kept as length 1.
func (x *Array) MedianKeep(axes ...int) *Array { return x.median(axes, true) }

func (x *Array) median(axes []int, keep bool) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.manyAxes(axes)
	n := int(reduce{axes: at}.count(x))
	if err == nil && (n == 0 || x.DType().IsComplex()) {
		err = fmt.Errorf("%v has no middle over axes %v", x.spec(), at)
	}
	if err != nil {
		return x.fail("median", err)
	}
	rows := x.inexact().rows(at).Sort(-1)
	y := rows.SliceAxis(-1, (n-1)/2, n/2+1).Mean(-1)
	last := rows.At(-1, -1)
	y = Where(last.IsNaN(), last, y)
	if keep {
		return y.ExpandDims(at...)
	}
	return y
}
