package array

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// AsType converts the elements to t. Floats round once, to nearest even; a float
// becomes an integer by truncation towards zero and wraps, and what lies beyond
// 64 bits is undefined; a complex number loses its imaginary part; everything
// but zero becomes true. An array that has this type already is returned as it
// is. The gradient is converted back.
func (x *Array) AsType(t dtype.Type) *Array {
	if x.Err() == nil && x.DType() == t {
		return x
	}
	return Apply1(cast{t}, x)
}

// cast converts its input to a type.
type cast struct{ to dtype.Type }

func (cast) Name() string  { return "astype" }
func (cast) ReadsStrided() {}

// Equal reports whether o converts to the same type.
func (p cast) Equal(o Primitive) bool { return o == p }

func (p cast) OutputSpecs(in []Spec) ([]Spec, error) {
	if !p.to.Valid() {
		return nil, fmt.Errorf("invalid element type %v", p.to)
	}
	return []Spec{{in[0].Shape, p.to}}, nil
}

func (p cast) Eval(_ context.Context, in, out []View) error {
	computeEach(p.loop([]Spec{in[0].Spec}), in, out[0])
	return nil
}

func (p cast) loop(in []Spec) kernel.Loop { return kernel.Cast(in[0].DType, p.to) }

// Overwrites lists the operand.
func (cast) Overwrites(int) []int { return []int{0} }

func (cast) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{dy[0].AsType(in[0].DType())}, nil
}

func (p cast) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{dx[0].AsType(p.to)}, nil
}

func (p cast) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapAlike(p, in, axes)
}
