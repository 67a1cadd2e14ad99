package array

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// AddScalar is x + c. Like all scalars below, c is weak: an inexact x keeps its
// type, an integer x keeps it when c is an integer and becomes float32 when it
// is not, and bool becomes int32 or float32.
func (x *Array) AddScalar(c float64) *Array { return x.withScalar(c, (*Array).Add) }

// SubScalar is x - c.
func (x *Array) SubScalar(c float64) *Array { return x.withScalar(c, (*Array).Sub) }

// MulScalar is x · c.
func (x *Array) MulScalar(c float64) *Array { return x.withScalar(c, (*Array).Mul) }

// DivScalar is x / c; bool and integers become float32.
func (x *Array) DivScalar(c float64) *Array { return x.withScalar(c, (*Array).Div) }

// PowScalar is x to the power c.
func (x *Array) PowScalar(c float64) *Array {
	if c == 2 && x.DType().IsInexact() {
		return x.Square()
	}
	return x.withScalar(c, (*Array).Pow)
}

// MaximumScalar is the larger of x and c; where they are equal the derivative is
// zero.
func (x *Array) MaximumScalar(c float64) *Array { return x.withScalar(c, (*Array).Maximum) }

// MinimumScalar is the smaller of x and c; where they are equal the derivative
// is zero.
func (x *Array) MinimumScalar(c float64) *Array { return x.withScalar(c, (*Array).Minimum) }

// withScalar gives c the shape of x at once, which takes no memory and saves a
// broadcast.
func (x *Array) withScalar(c float64, op func(x, y *Array) *Array) *Array {
	if x.Err() != nil {
		return op(x, x)
	}
	return op(x, Full(c, weak(x.DType(), c), x.spec().Shape...))
}

// weak is the type that c takes beside an array of type t.
func weak(t dtype.Type, c float64) dtype.Type {
	switch {
	case t.IsInexact():
		return t
	case c != math.Trunc(c) || math.IsInf(c, 0):
		return dtype.Float32
	case t.IsBool():
		return dtype.Int32
	}
	return t
}
