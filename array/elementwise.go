package array

import (
	"fmt"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// rule multiplies d by the derivative of an elementwise operation. The Jacobian
// is diagonal, so the same rule takes tangents forwards and cotangents back; for
// complex numbers see pull. in are the operands, y is the result.
type rule func(d *Array, in []*Array, y *Array) *Array

// pull applies a rule to a cotangent: with complex numbers the derivative is
// conjugated, which for a product is the same as conjugating what goes in and
// what comes out.
func (r rule) pull(dy *Array, in []*Array, y *Array) *Array {
	if dy.DType().IsComplex() {
		return r(dy.Conj(), in, y).Conj()
	}
	return r(dy, in, y)
}

// alike converts xs to type t and broadcasts them to one shape, so that an
// elementwise primitive sees equal operands. Operands that are wrong or do not
// fit are left as they are: Apply or OutputSpecs then says so.
func alike(t dtype.Type, xs ...*Array) []*Array {
	if !t.Valid() {
		return xs
	}
	out := make([]*Array, len(xs))
	for i, x := range xs {
		out[i] = x.AsType(t)
	}
	return sameShape(out...)
}

// sameShape broadcasts xs to one shape, or leaves them all as they are.
func sameShape(xs ...*Array) []*Array {
	shape := []int{}
	for _, x := range xs {
		both, ok := layout.Broadcast(shape, x.spec().Shape)
		if x.Err() != nil || !ok {
			return xs
		}
		shape = both
	}
	out := make([]*Array, len(xs))
	for i, x := range xs {
		out[i] = x.BroadcastTo(shape...)
	}
	return out
}

// promoted is the type in which an operation on xs computes.
func promoted(xs ...*Array) dtype.Type {
	t := dtype.Bool
	for _, x := range xs {
		t = dtype.Promote(t, x.DType())
	}
	return t
}

// inexact is t itself, or float32 for bool and integers.
func inexact(t dtype.Type) dtype.Type {
	if !t.Valid() || t.IsInexact() {
		return t
	}
	return dtype.Float32
}

// checkAlike reports operands whose shapes differ, which alike leaves only when
// they do not broadcast.
func checkAlike(in []Spec) error {
	shapes := make([]string, len(in))
	same := true
	for i, s := range in {
		shapes[i] = fmt.Sprint(s.Shape)
		same = same && (Spec{s.Shape, dtype.Bool}).Equal(Spec{in[0].Shape, dtype.Bool})
	}
	if same {
		return nil
	}
	last := len(shapes) - 1
	return fmt.Errorf("shapes %s and %s do not broadcast", strings.Join(shapes[:last], ", "), shapes[last])
}

// unsupported is the error of an operation without a meaning for t; has tells
// for which types there is one.
func unsupported(t dtype.Type, has func(dtype.Type) bool) error {
	var names []string
	for _, other := range dtype.All() {
		if has(other) {
			names = append(names, other.String())
		}
	}
	return fmt.Errorf("not defined for %v (have %s)", t, strings.Join(names, ", "))
}

// computeEach runs an elementwise loop over views of equal shapes.
func computeEach(loop kernel.Loop, in []View, out View) {
	operands := make([]kernel.Operand, len(in))
	for i, v := range in {
		operands[i] = kernel.Operand{Storage: v.Storage, Size: v.DType.Size(), Strides: v.Strides, Offset: v.Offset}
	}
	kernel.Each(loop, out.Bytes(), out.DType.Size(), out.Shape, operands)
}

// mapAlike applies f to batched operands of an elementwise primitive, with the
// batch axis of each in front; operands without one are repeated.
func mapAlike(p Primitive, in []*Array, axes []int) ([]*Array, []int, error) {
	if len(in) == 1 {
		return Apply(p, in[0]), []int{axes[0]}, nil
	}
	var shape []int
	front := make([]*Array, len(in))
	for i, x := range in {
		front[i] = x
		if axes[i] >= 0 {
			front[i] = x.MoveAxis(axes[i], 0)
			shape = front[i].Shape()
		}
	}
	for i := range front {
		front[i] = front[i].BroadcastTo(shape...)
	}
	return Apply(p, front...), []int{0}, nil
}
