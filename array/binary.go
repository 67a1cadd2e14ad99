package array

import (
	"context"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// binary is an elementwise operation of two operands. There is one of each operation:
// nodes share it, and what it has looked up.
type binary struct {
	op    kernel.Op
	loops [dtypes]atomic.Pointer[kernel.Loop] // by type, of those that give their own type; see quick.go
	kinds [dtypes]atomic.Pointer[kind]        // by type, the last of those
}

var (
	adding       = &binary{op: kernel.Add}
	subtracting  = &binary{op: kernel.Sub}
	multiplying  = &binary{op: kernel.Mul}
	dividing     = &binary{op: kernel.Div}
	flooring     = &binary{op: kernel.FloorDiv}
	remaining    = &binary{op: kernel.Mod}
	raising      = &binary{op: kernel.Pow}
	maximizing   = &binary{op: kernel.Maximum}
	minimizing   = &binary{op: kernel.Minimum}
	logAddingExp = &binary{op: kernel.LogAddExp}
	turning      = &binary{op: kernel.Atan2}
)

func (p *binary) Name() string { return string(p.op) }
func (*binary) ReadsStrided()  {}

// Equal reports whether o is the same operation.
func (p *binary) Equal(o Primitive) bool { return o == p }

func (p *binary) OutputSpecs(in []Spec) ([]Spec, error) {
	has := func(t dtype.Type) bool { loop, _ := kernel.Binary(p.op, t); return loop != nil }
	if err := checkAlike(in); err != nil {
		return nil, err
	}
	if !has(in[0].DType) {
		return nil, unsupported(in[0].DType, has)
	}
	_, t := kernel.Binary(p.op, in[0].DType)
	return []Spec{{in[0].Shape, t}}, nil
}

func (p *binary) Eval(_ context.Context, in, out []View) error {
	computeEach(p.loop([]Spec{in[0].Spec}), in, out[0])
	return nil
}

func (p *binary) loop(in []Spec) kernel.Loop {
	loop, _ := kernel.Binary(p.op, in[0].DType)
	return loop
}

// Overwrites lists the operands.
func (*binary) Overwrites(int) []int { return []int{0, 1} }

// by is the rule of the derivative by an operand; nil where it is zero.
func (p *binary) by(arg int) rule { return derivatives(p.op)[arg] }

func (p *binary) VJP(in, out, dy []*Array, argnums []int) ([]*Array, error) {
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		if r := p.by(arg); r != nil {
			dx[i] = r.pull(dy[0], in, out[0])
		} else {
			dx[i] = ZerosLike(in[arg])
		}
	}
	return dx, nil
}

func (p *binary) JVP(in, out, dx []*Array, argnums []int) ([]*Array, error) {
	var sum *Array
	for i, arg := range argnums {
		r := p.by(arg)
		switch {
		case r == nil:
		case sum == nil:
			sum = r(dx[i], in, out[0])
		default:
			sum = sum.Add(r(dx[i], in, out[0]))
		}
	}
	if sum == nil {
		sum = ZerosLike(out[0])
	}
	return []*Array{sum}, nil
}

func (p *binary) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapAlike(p, in, axes)
}

// apply promotes and broadcasts the operands of p.
func (p *binary) apply(x, y *Array) *Array {
	if z := p.quickly(x, y); z != nil {
		return z
	}
	return Apply1(p, alike(promoted(x, y), x, y)...)
}

// applyInexact is apply for operations that compute with real numbers: bool and
// integers become float32.
func (p *binary) applyInexact(x, y *Array) *Array {
	if x.DType().IsInexact() {
		if z := p.quickly(x, y); z != nil {
			return z
		}
	}
	return Apply1(p, alike(inexact(promoted(x, y)), x, y)...)
}

// derivatives are the rules by the left and by the right operand.
func derivatives(op kernel.Op) [2]rule {
	switch op {
	case kernel.Add:
		return [2]rule{passOn, passOn}
	case kernel.Sub:
		return [2]rule{passOn, func(d *Array, _ []*Array, _ *Array) *Array { return d.Neg() }}
	case kernel.Mul:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[1]) },
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[0]) },
		}
	case kernel.Div:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.Div(in[1]) },
			func(d *Array, in []*Array, z *Array) *Array { return d.Mul(z).Div(in[1]).Neg() },
		}
	case kernel.Mod:
		return [2]rule{passOn, func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[0].FloorDiv(in[1])).Neg() }}
	case kernel.Pow:
		return [2]rule{powByBase, powByExponent}
	case kernel.Maximum:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.onlyWhere(in[0].Greater(in[1])) },
			func(d *Array, in []*Array, _ *Array) *Array { return d.onlyWhere(in[0].LessEqual(in[1])) },
		}
	case kernel.Minimum:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.onlyWhere(in[0].Less(in[1])) },
			func(d *Array, in []*Array, _ *Array) *Array { return d.onlyWhere(in[0].GreaterEqual(in[1])) },
		}
	case kernel.LogAddExp:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[0].Sub(in[1]).Sigmoid()) },
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[1].Sub(in[0]).Sigmoid()) },
		}
	case kernel.Atan2:
		return [2]rule{
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[1].Div(squaredRadius(in))) },
			func(d *Array, in []*Array, _ *Array) *Array { return d.Mul(in[0].Div(squaredRadius(in))).Neg() },
		}
	}
	return [2]rule{}
}

func passOn(d *Array, _ []*Array, _ *Array) *Array { return d }

// Add is x + y. Like all operations of two arrays below it broadcasts by
// NumPy's rule and computes in the type dtype.Promote gives; an error if the
// shapes do not broadcast. Integers wrap; bool adds by or.
func (x *Array) Add(y *Array) *Array { return adding.apply(x, y) }

// Sub is x - y. Integers wrap; bool subtracts by exclusive or.
func (x *Array) Sub(y *Array) *Array { return subtracting.apply(x, y) }

// Mul is x · y, element by element. Integers wrap; bool multiplies by and.
func (x *Array) Mul(y *Array) *Array { return multiplying.apply(x, y) }

// Div is x / y. Bool and integers become float32 first.
func (x *Array) Div(y *Array) *Array { return dividing.applyInexact(x, y) }

// FloorDiv is the largest integer not above x / y, in the promoted type. Its
// derivative is zero. An integer divided by zero gives zero. MLX truncates
// integers towards zero instead; here x = y·FloorDiv + Mod holds for both signs.
// An error for bool and complex.
func (x *Array) FloorDiv(y *Array) *Array { return flooring.apply(x, y) }

// Mod is the remainder of FloorDiv: it has the sign of y. An integer modulo zero
// gives zero, a float NaN. An error for bool and complex.
func (x *Array) Mod(y *Array) *Array { return remaining.apply(x, y) }

// Pow is x to the power y. Integers are multiplied out and wrap; a negative
// integer power gives the reciprocal cut to an integer. The derivative by y is
// zero where x is zero. An error for bool.
func (x *Array) Pow(y *Array) *Array { return raising.apply(x, y) }

// powByBase avoids 0·Inf where x and y are zero; the derivative there is zero.
func powByBase(d *Array, in []*Array, _ *Array) *Array {
	x, y := in[0], in[1]
	zero := ZerosLike(y)
	both := x.Equal(zero).LogicalAnd(y.Equal(zero))
	less := Where(both, zero.AddScalar(1), y.AddScalar(-1))
	return d.Mul(y.Mul(x.Pow(less)))
}

func powByExponent(d *Array, in []*Array, z *Array) *Array {
	x := in[0]
	zero := ZerosLike(x)
	isZero := x.Equal(zero)
	log := Where(isZero, zero, Where(isZero, zero.AddScalar(1), x).Log())
	return d.Mul(z.Mul(log))
}

// Maximum is the larger of x and y; NaN if either is NaN. Complex numbers are
// ordered by the real part, then the imaginary one. Where x = y the gradient
// goes to y.
func (x *Array) Maximum(y *Array) *Array { return maximizing.apply(x, y) }

// Minimum is the smaller of x and y; NaN if either is NaN. Complex numbers are
// ordered by the real part, then the imaginary one. Where x = y the gradient
// goes to y.
func (x *Array) Minimum(y *Array) *Array { return minimizing.apply(x, y) }

// LogAddExp is log(exp(x) + exp(y)) without overflow. Bool and integers become
// float32 first. An error for complex.
func (x *Array) LogAddExp(y *Array) *Array { return logAddingExp.applyInexact(x, y) }

// Atan2 is the angle in radians, from -π to π, of the point with ordinate x and
// abscissa y. Bool and integers become float32 first. An error for complex.
func (x *Array) Atan2(y *Array) *Array { return turning.applyInexact(x, y) }

func squaredRadius(in []*Array) *Array { return in[0].Square().Add(in[1].Square()) }

// onlyWhere is x where cond is true and zero elsewhere.
func (x *Array) onlyWhere(cond *Array) *Array { return Where(cond, x, ZerosLike(x)) }
