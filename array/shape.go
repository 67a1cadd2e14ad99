package array

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/internal/layout"
)

// BroadcastTo repeats x along new leading axes and along its axes of length 1
// until it has the given shape, by NumPy's rule. It copies nothing. An error if
// the shapes do not fit. The gradient is the sum over what was repeated.
func (x *Array) BroadcastTo(shape ...int) *Array {
	if x.Err() == nil && slices.Equal(x.spec().Shape, shape) {
		return x
	}
	return Apply1(broadcastTo{slices.Clone(shape)}, x)
}

// Reshape gives the elements of x, in row order, another shape. One length may
// be -1, meaning whatever is left. An error if the number of elements differs.
// It copies only what strides cannot express.
func (x *Array) Reshape(shape ...int) *Array {
	if x.Err() != nil {
		return x
	}
	full, err := fill(shape, x.Size())
	if err != nil {
		return x.fail("reshape", fmt.Errorf("%v: %w", x.spec(), err))
	}
	if slices.Equal(full, x.spec().Shape) {
		return x
	}
	return Apply1(reshape{full}, x)
}

// Flatten gives the elements of x in row order along one axis.
func (x *Array) Flatten() *Array { return x.Reshape(-1) }

// Unflatten replaces one axis by several with the given lengths, of which one may
// be -1.
func (x *Array) Unflatten(axis int, shape ...int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err == nil {
		shape, err = fill(shape, x.Dim(at))
	}
	if err != nil {
		return x.fail("unflatten", fmt.Errorf("axis %d of %v: %w", axis, x.spec(), err))
	}
	return x.Reshape(slices.Concat(x.Shape()[:at], shape, x.Shape()[at+1:])...)
}

// ExpandDims adds axes of length 1. The given numbers are their places in the
// result, from the end if negative. An error if one is out of range or given
// twice.
func (x *Array) ExpandDims(axes ...int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := sortedAxes(axes, x.NDim()+len(axes))
	if err != nil {
		return x.fail("expand_dims", err)
	}
	shape := x.Shape()
	for _, axis := range at {
		shape = slices.Insert(shape, axis, 1)
	}
	return x.Reshape(shape...)
}

// Squeeze removes the given axes, which must have length 1; every axis of length
// 1 if none are given.
func (x *Array) Squeeze(axes ...int) *Array {
	if x.Err() != nil {
		return x
	}
	shape := x.Shape()
	if len(axes) == 0 {
		return x.Reshape(slices.DeleteFunc(shape, func(d int) bool { return d == 1 })...)
	}
	at, err := sortedAxes(axes, x.NDim())
	if err != nil {
		return x.fail("squeeze", err)
	}
	for _, axis := range slices.Backward(at) {
		if shape[axis] != 1 {
			return x.fail("squeeze", fmt.Errorf("axis %d of shape %v has not length 1", axis, x.spec().Shape))
		}
		shape = slices.Delete(shape, axis, axis+1)
	}
	return x.Reshape(shape...)
}

// Transpose puts the axes of x in the given order: axis i of the result is axis
// axes[i] of x. Without arguments the order is reversed. It copies nothing. An
// error if axes is not a permutation.
func (x *Array) Transpose(axes ...int) *Array {
	if x.Err() != nil {
		return x
	}
	order := make([]int, x.NDim())
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	if len(axes) > 0 {
		_, err := sortedAxes(axes, x.NDim())
		if err == nil && len(axes) != x.NDim() {
			err = fmt.Errorf("%d axes given for %d", len(axes), x.NDim())
		}
		if err != nil {
			return x.fail("transpose", fmt.Errorf("order %v of shape %v: %w", axes, x.spec().Shape, err))
		}
		for i, axis := range axes {
			order[i], _ = layout.Axis(axis, len(order))
		}
	}
	if slices.IsSorted(order) {
		return x
	}
	return Apply1(transpose{order}, x)
}

// T reverses the axes of x: the transpose of a matrix.
func (x *Array) T() *Array { return x.Transpose() }

// SwapAxes exchanges two axes, counted from the end if negative.
func (x *Array) SwapAxes(a, b int) *Array {
	if x.Err() != nil {
		return x
	}
	order := upTo(x.NDim())
	a, okA := layout.Axis(a, len(order))
	b, okB := layout.Axis(b, len(order))
	if !okA || !okB {
		return x.fail("swap_axes", fmt.Errorf("shape %v has no axes %d and %d", x.spec().Shape, a, b))
	}
	order[a], order[b] = order[b], order[a]
	return x.Transpose(order...)
}

// MoveAxis moves one axis to another place and keeps the order of the rest. Both
// numbers count from the end if negative.
func (x *Array) MoveAxis(from, to int) *Array {
	if x.Err() != nil {
		return x
	}
	order := upTo(x.NDim())
	a, okA := layout.Axis(from, len(order))
	b, okB := layout.Axis(to, len(order))
	if !okA || !okB {
		return x.fail("move_axis", fmt.Errorf("shape %v has no axes %d and %d", x.spec().Shape, from, to))
	}
	order = slices.Insert(slices.Delete(order, a, a+1), b, a)
	return x.Transpose(order...)
}

// broadcastTo repeats its input to a shape.
type broadcastTo struct{ shape []int }

func (broadcastTo) Name() string { return "broadcast_to" }

// Equal reports whether o does the same.
func (p broadcastTo) Equal(o Primitive) bool {
	q, ok := o.(broadcastTo)
	return ok && slices.Equal(p.shape, q.shape)
}

func (p broadcastTo) OutputSpecs(in []Spec) ([]Spec, error) {
	have := in[0].Shape
	both, ok := layout.Broadcast(have, p.shape)
	if !ok || len(have) > len(p.shape) || !slices.Equal(both, p.shape) {
		return nil, fmt.Errorf("shape %v does not broadcast to %v", have, p.shape)
	}
	return []Spec{{p.shape, in[0].DType}}, nil
}

func (p broadcastTo) View(in View, out Spec) (View, bool) {
	extra := len(out.Shape) - len(in.Shape)
	strides := make([]int, len(out.Shape))
	for i, d := range in.Shape {
		if d == out.Shape[extra+i] {
			strides[extra+i] = in.Strides[i]
		}
	}
	return View{Spec: out, Strides: strides, Offset: in.Offset, Storage: in.Storage}, true
}

func (broadcastTo) Eval(context.Context, []View, []View) error { return errViewed }

func (broadcastTo) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{dy[0].sumTo(in[0].spec().Shape)}, nil
}

func (p broadcastTo) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{dx[0].BroadcastTo(p.shape...)}, nil
}

func (p broadcastTo) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	x := in[0].MoveAxis(axes[0], 0)
	shape := x.Shape()
	for len(shape) < len(p.shape)+1 {
		shape = slices.Insert(shape, 1, 1)
	}
	y := x.Reshape(shape...).BroadcastTo(slices.Insert(slices.Clone(p.shape), 0, shape[0])...)
	return []*Array{y}, []int{0}, nil
}

// sumTo sums x over what a broadcast from shape to x's own has repeated.
func (x *Array) sumTo(shape []int) *Array {
	have := x.spec().Shape
	if x.Err() != nil || slices.Equal(have, shape) {
		return x
	}
	extra := len(have) - len(shape)
	axes := upTo(extra)
	for i, d := range shape {
		if d == 1 && have[extra+i] != 1 {
			axes = append(axes, extra+i)
		}
	}
	return x.SumKeep(axes...).Reshape(shape...)
}

// reshape gives its input another shape of the same size.
type reshape struct{ shape []int }

func (reshape) Name() string { return "reshape" }

// Equal reports whether o does the same.
func (p reshape) Equal(o Primitive) bool {
	q, ok := o.(reshape)
	return ok && slices.Equal(p.shape, q.shape)
}

func (p reshape) OutputSpecs(in []Spec) ([]Spec, error) {
	if layout.Size(p.shape) != in[0].Size() {
		return nil, fmt.Errorf("%v does not fill shape %v", in[0], p.shape)
	}
	return []Spec{{p.shape, in[0].DType}}, nil
}

func (p reshape) View(in View, out Spec) (View, bool) {
	strides, ok := layout.Reshape(in.Shape, in.Strides, out.Shape)
	return View{Spec: out, Strides: strides, Offset: in.Offset, Storage: in.Storage}, ok
}

func (reshape) Eval(context.Context, []View, []View) error { return errViewed }

func (reshape) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{dy[0].Reshape(in[0].spec().Shape...)}, nil
}

func (p reshape) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{dx[0].Reshape(p.shape...)}, nil
}

func (p reshape) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	x := in[0].MoveAxis(axes[0], 0)
	return []*Array{x.Reshape(slices.Insert(slices.Clone(p.shape), 0, x.Dim(0))...)}, []int{0}, nil
}

// transpose makes axis i of the output from axis order[i] of the input.
type transpose struct{ order []int }

func (transpose) Name() string { return "transpose" }

// Equal reports whether o does the same.
func (p transpose) Equal(o Primitive) bool {
	q, ok := o.(transpose)
	return ok && slices.Equal(p.order, q.order)
}

func (p transpose) OutputSpecs(in []Spec) ([]Spec, error) {
	shape := make([]int, len(p.order))
	for i, axis := range p.order {
		shape[i] = in[0].Shape[axis]
	}
	return []Spec{{shape, in[0].DType}}, nil
}

func (p transpose) View(in View, out Spec) (View, bool) {
	strides := make([]int, len(p.order))
	for i, axis := range p.order {
		strides[i] = in.Strides[axis]
	}
	return View{Spec: out, Strides: strides, Offset: in.Offset, Storage: in.Storage}, true
}

func (transpose) Eval(context.Context, []View, []View) error { return errViewed }

func (p transpose) VJP(_, _, dy []*Array, _ []int) ([]*Array, error) {
	back := make([]int, len(p.order))
	for i, axis := range p.order {
		back[axis] = i
	}
	if product := dy[0].transposedProduct(back); product != nil {
		return []*Array{product}, nil
	}
	return []*Array{dy[0].Transpose(back...)}, nil
}

func (p transpose) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) {
	return []*Array{dx[0].Transpose(p.order...)}, nil
}

func (p transpose) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	order := []int{0}
	for _, axis := range p.order {
		order = append(order, axis+1)
	}
	return []*Array{in[0].MoveAxis(axes[0], 0).Transpose(order...)}, []int{0}, nil
}

// errViewed answers Eval of a primitive whose output is always a view.
var errViewed = errors.New("is a view and has nothing to evaluate")

// fail returns an array that carries x's mistake, or else err as the mistake of op.
func (x *Array) fail(op string, err error) *Array {
	if x.Err() != nil {
		return x
	}
	return x.WithError(newOpError(op, err))
}

// sortedAxes counts axes from the front and sorts them.
func sortedAxes(axes []int, ndim int) ([]int, error) {
	sorted := make([]int, len(axes))
	for i, axis := range axes {
		at, ok := layout.Axis(axis, ndim)
		if !ok {
			return nil, fmt.Errorf("axis %d of an array with %d axes", axis, ndim)
		}
		sorted[i] = at
	}
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("axis %d is given twice", sorted[i])
		}
	}
	return sorted, nil
}

// oneAxis counts an axis of x from the front.
func (x *Array) oneAxis(axis int) (int, error) {
	at, ok := layout.Axis(axis, x.NDim())
	if !ok {
		return 0, fmt.Errorf("axis %d of %v", axis, x.spec())
	}
	return at, nil
}

// upTo lists 0, 1, …, n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
