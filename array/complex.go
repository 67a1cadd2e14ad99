package array

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// A gradient by a complex z = a+bi is the number whose parts are the
// derivatives by a and by b.

// Conj is the complex conjugate; x itself unless it is complex.
func (x *Array) Conj() *Array {
	if x.Err() != nil || !x.DType().IsComplex() {
		return x
	}
	return Apply1(complexPart{
		unary: unary{op: kernel.Conj},
		push:  func(dx, _ *Array) *Array { return dx.Conj() },
		pull:  func(dy, _ *Array) *Array { return dy.Conj() },
	}, x)
}

// Real is the real part, of type float32; x itself unless it is complex.
func (x *Array) Real() *Array {
	if x.Err() != nil || !x.DType().IsComplex() {
		return x
	}
	return Apply1(complexPart{
		unary: unary{op: kernel.Real},
		push:  func(dx, _ *Array) *Array { return dx.Real() },
		pull:  func(dy, _ *Array) *Array { return dy.AsType(dtype.Complex64) },
	}, x)
}

// Imag is the imaginary part, of type float32; zeros of x's type unless it is
// complex.
func (x *Array) Imag() *Array {
	if x.Err() != nil {
		return x
	}
	if !x.DType().IsComplex() {
		return ZerosLike(x)
	}
	return Apply1(complexPart{
		unary: unary{op: kernel.Imag},
		push:  func(dx, _ *Array) *Array { return dx.Imag() },
		pull:  func(dy, _ *Array) *Array { return dy.Mul(Scalar(complex64(1i))) },
	}, x)
}

// complexAbs is the distance from zero.
func complexAbs(x *Array) *Array {
	return Apply1(complexPart{
		unary: unary{op: kernel.Abs},
		push:  func(dx, x *Array) *Array { return dx.Mul(x.Sign().Conj()).Real() },
		pull:  func(dy, x *Array) *Array { return dy.Mul(x.Sign()) },
	}, x)
}

// complexPart is an operation on complex numbers that has no complex
// derivative, and so different rules for tangents and cotangents.
type complexPart struct {
	unary
	push func(dx, x *Array) *Array
	pull func(dy, x *Array) *Array
}

// Equal reports whether o is the same operation.
func (p complexPart) Equal(o Primitive) bool {
	q, ok := o.(complexPart)
	return ok && p.op == q.op
}

func (p complexPart) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{p.pull(dy[0], in[0])}, nil
}

func (p complexPart) JVP(in, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{p.push(dx[0], in[0])}, nil
}

func (p complexPart) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapAlike(p, in, axes)
}
