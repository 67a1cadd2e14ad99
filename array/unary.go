package array

import (
	"context"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// unary is an elementwise operation of one operand. Without a rule its
// derivative is zero.
type unary struct {
	op   kernel.Op
	rule rule
}

func (p unary) Name() string { return string(p.op) }
func (unary) ReadsStrided()  {}

// Equal reports whether o is the same operation.
func (p unary) Equal(o Primitive) bool {
	q, ok := o.(unary)
	return ok && p.op == q.op
}

func (p unary) OutputSpecs(in []Spec) ([]Spec, error) {
	has := func(t dtype.Type) bool { loop, _ := kernel.Unary(p.op, t); return loop != nil }
	if !has(in[0].DType) {
		return nil, unsupported(in[0].DType, has)
	}
	_, t := kernel.Unary(p.op, in[0].DType)
	return []Spec{{in[0].Shape, t}}, nil
}

func (p unary) Eval(_ context.Context, in, out []View) error {
	computeEach(p.loop([]Spec{in[0].Spec}), in, out[0])
	return nil
}

func (p unary) loop(in []Spec) kernel.Loop {
	loop, _ := kernel.Unary(p.op, in[0].DType)
	return loop
}

// Overwrites lists the operand.
func (unary) Overwrites(int) []int { return []int{0} }

func (p unary) VJP(in, out, dy []*Array, _ []int) ([]*Array, error) {
	if p.rule == nil {
		return []*Array{ZerosLike(in[0])}, nil
	}
	return []*Array{p.rule.pull(dy[0], in, out[0])}, nil
}

func (p unary) JVP(in, out, dx []*Array, _ []int) ([]*Array, error) {
	if p.rule == nil {
		return []*Array{ZerosLike(out[0])}, nil
	}
	return []*Array{p.rule(dx[0], in, out[0])}, nil
}

func (p unary) VMap(in []*Array, axes []int) ([]*Array, []int, error) { return mapAlike(p, in, axes) }

// unary applies op in x's own type; slope(x, y) is its derivative, nil if that
// is zero.
func (x *Array) unary(op kernel.Op, slope func(x, y *Array) *Array) *Array {
	if slope == nil {
		return Apply1(unary{op: op}, x)
	}
	return Apply1(unary{op, func(d *Array, in []*Array, y *Array) *Array { return d.Mul(slope(in[0], y)) }}, x)
}

// inexact converts bool and integers to float32.
func (x *Array) inexact() *Array { return x.AsType(inexact(x.DType())) }

// Neg is -x. Integers wrap; an error for bool.
func (x *Array) Neg() *Array {
	return Apply1(unary{kernel.Neg, func(d *Array, _ []*Array, _ *Array) *Array { return d.Neg() }}, x)
}

// Abs is the absolute value, of type float32 for complex x. Its derivative is
// the sign.
func (x *Array) Abs() *Array {
	if x.DType().IsComplex() {
		return complexAbs(x)
	}
	return x.unary(kernel.Abs, func(x, _ *Array) *Array { return x.Sign() })
}

// Sign is -1, 0 or 1, with zero as its derivative; x/|x| for complex x. It keeps
// NaN.
func (x *Array) Sign() *Array {
	if x.DType().IsComplex() {
		length := x.Abs()
		return Where(length.Equal(number(0, dtype.Float32)), x, x.Div(length))
	}
	return x.unary(kernel.Sign, nil)
}

// Square is x·x in the type of x. Integers wrap.
func (x *Array) Square() *Array {
	return x.unary(kernel.Square, func(x, _ *Array) *Array { return x.MulScalar(2) })
}

// Exp is e to the power x. Bool and integers become float32, as in all
// functions of real numbers below.
func (x *Array) Exp() *Array {
	return x.inexact().unary(kernel.Exp, func(_, y *Array) *Array { return y })
}

// Expm1 is exp(x)-1, accurate near zero. An error for complex x.
func (x *Array) Expm1() *Array {
	return x.inexact().unary(kernel.Expm1, func(_, y *Array) *Array { return y.AddScalar(1) })
}

// Log is the natural logarithm.
func (x *Array) Log() *Array {
	return x.inexact().unary(kernel.Log, func(x, _ *Array) *Array { return x.Reciprocal() })
}

// Log1p is log(1+x), accurate near zero. An error for complex x.
func (x *Array) Log1p() *Array {
	return x.inexact().unary(kernel.Log1p, func(x, _ *Array) *Array { return x.AddScalar(1).Reciprocal() })
}

// Log2 is the logarithm to base 2.
func (x *Array) Log2() *Array {
	return x.inexact().unary(kernel.Log2, func(x, _ *Array) *Array { return x.MulScalar(math.Ln2).Reciprocal() })
}

// Log10 is the logarithm to base 10.
func (x *Array) Log10() *Array {
	return x.inexact().unary(kernel.Log10, func(x, _ *Array) *Array { return x.MulScalar(math.Ln10).Reciprocal() })
}

// Sqrt is the square root.
func (x *Array) Sqrt() *Array {
	return x.inexact().unary(kernel.Sqrt, func(_, y *Array) *Array { return y.MulScalar(2).Reciprocal() })
}

// Rsqrt is 1/sqrt(x).
func (x *Array) Rsqrt() *Array {
	return x.inexact().unary(kernel.Rsqrt, func(x, y *Array) *Array { return y.Div(x).MulScalar(-0.5) })
}

// Reciprocal is 1/x.
func (x *Array) Reciprocal() *Array {
	return x.inexact().unary(kernel.Reciprocal, func(_, y *Array) *Array { return y.Square().Neg() })
}

// Sin is the sine of x in radians.
func (x *Array) Sin() *Array {
	return x.inexact().unary(kernel.Sin, func(x, _ *Array) *Array { return x.Cos() })
}

// Cos is the cosine of x in radians.
func (x *Array) Cos() *Array {
	return x.inexact().unary(kernel.Cos, func(x, _ *Array) *Array { return x.Sin().Neg() })
}

// Tan is the tangent of x in radians.
func (x *Array) Tan() *Array {
	return x.inexact().unary(kernel.Tan, func(_, y *Array) *Array { return y.Square().AddScalar(1) })
}

// Asin is the inverse of Sin, in radians.
func (x *Array) Asin() *Array {
	return x.inexact().unary(kernel.Asin, func(x, _ *Array) *Array { return x.oneMinusSquare().Rsqrt() })
}

// Acos is the inverse of Cos, in radians.
func (x *Array) Acos() *Array {
	return x.inexact().unary(kernel.Acos, func(x, _ *Array) *Array { return x.oneMinusSquare().Rsqrt().Neg() })
}

// Atan is the inverse of Tan, in radians.
func (x *Array) Atan() *Array {
	return x.inexact().unary(kernel.Atan, func(x, _ *Array) *Array { return x.Square().AddScalar(1).Reciprocal() })
}

// Sinh is the hyperbolic sine.
func (x *Array) Sinh() *Array {
	return x.inexact().unary(kernel.Sinh, func(x, _ *Array) *Array { return x.Cosh() })
}

// Cosh is the hyperbolic cosine.
func (x *Array) Cosh() *Array {
	return x.inexact().unary(kernel.Cosh, func(x, _ *Array) *Array { return x.Sinh() })
}

// Tanh is the hyperbolic tangent.
func (x *Array) Tanh() *Array {
	return x.inexact().unary(kernel.Tanh, func(_, y *Array) *Array { return y.oneMinusSquare() })
}

// Asinh is the inverse of Sinh.
func (x *Array) Asinh() *Array {
	return x.inexact().unary(kernel.Asinh, func(x, _ *Array) *Array { return x.Square().AddScalar(1).Rsqrt() })
}

// Acosh is the inverse of Cosh, not negative.
func (x *Array) Acosh() *Array {
	return x.inexact().unary(kernel.Acosh, func(x, _ *Array) *Array {
		return x.AddScalar(-1).Rsqrt().Mul(x.AddScalar(1).Rsqrt())
	})
}

// Atanh is the inverse of Tanh.
func (x *Array) Atanh() *Array {
	return x.inexact().unary(kernel.Atanh, func(x, _ *Array) *Array { return x.oneMinusSquare().Reciprocal() })
}

// Erf is the error function. An error for complex x.
func (x *Array) Erf() *Array {
	return x.inexact().unary(kernel.Erf, func(x, _ *Array) *Array {
		return x.Square().Neg().Exp().MulScalar(2 / math.Sqrt(math.Pi))
	})
}

// ErfInv is the inverse of Erf. An error for complex x.
func (x *Array) ErfInv() *Array {
	return x.inexact().unary(kernel.ErfInv, func(_, y *Array) *Array {
		return y.Square().Exp().MulScalar(math.Sqrt(math.Pi) / 2)
	})
}

// Sigmoid is 1/(1+exp(-x)).
func (x *Array) Sigmoid() *Array {
	return x.inexact().unary(kernel.Sigmoid, func(_, y *Array) *Array { return y.Sub(y.Square()) })
}

// Floor rounds towards minus infinity and keeps the type. Its derivative, like
// that of Ceil and Round, is zero. An error for complex x.
func (x *Array) Floor() *Array { return x.unary(kernel.Floor, nil) }

// Ceil rounds towards infinity and keeps the type. An error for complex x.
func (x *Array) Ceil() *Array { return x.unary(kernel.Ceil, nil) }

// Round rounds to the nearest integer, ties to the even one, and keeps the type.
// An error for complex x.
func (x *Array) Round() *Array { return x.unary(kernel.Round, nil) }

func (x *Array) oneMinusSquare() *Array { return x.Square().Neg().AddScalar(1) }
