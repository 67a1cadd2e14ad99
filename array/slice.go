package array

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/internal/layout"
)

// Slice takes, along each axis, the elements from start up to but without stop,
// in the given step, by Python's rules: negative limits count from the end, and
// limits beyond either end are moved to it. A step may be negative, not zero;
// to reach the first element downwards, stop is math.MinInt or anything below
// -n. starts, stops and steps have one number for each axis; nil means all from
// the first, up to the last, and step 1. It copies nothing. The gradient is zero
// elsewhere.
func (x *Array) Slice(starts, stops, steps []int) *Array {
	if x.Err() != nil {
		return x
	}
	p, err := newWindow(x.spec().Shape, starts, stops, steps)
	if err != nil {
		return x.fail("slice", err)
	}
	if slices.Equal(p.lengths, x.spec().Shape) && !slices.ContainsFunc(p.steps, func(s int) bool { return s != 1 }) {
		return x
	}
	return Apply1(slice{p}, x)
}

// SliceAxis is Slice with step 1 along one axis and everything along the others.
func (x *Array) SliceAxis(axis, start, stop int) *Array { return x.SliceAxisStep(axis, start, stop, 1) }

// SliceAxisStep is Slice along one axis and everything along the others.
func (x *Array) SliceAxisStep(axis, start, stop, step int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail("slice", err)
	}
	stops, starts, steps := x.Shape(), make([]int, x.NDim()), slices.Repeat([]int{1}, x.NDim())
	starts[at], stops[at], steps[at] = start, stop, step
	return x.Slice(starts, stops, steps)
}

// At takes element i, from the end if negative, of an axis, which it drops.
// An error if there is no such element.
func (x *Array) At(axis, i int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail("at", err)
	}
	j, ok := layout.Axis(i, x.Dim(at))
	if !ok {
		return x.fail("at", fmt.Errorf("element %d of axis %d of shape %v", i, axis, x.spec().Shape))
	}
	return x.SliceAxis(at, j, j+1).Squeeze(at)
}

// SliceUpdate returns x with the elements that Slice would take replaced by
// those of update, which is converted to the type of x and broadcasts to their
// shape. The gradient goes to x elsewhere and to update there.
func (x *Array) SliceUpdate(update *Array, starts, stops, steps []int) *Array {
	if x.Err() != nil {
		return x
	}
	p, err := newWindow(x.spec().Shape, starts, stops, steps)
	if err != nil {
		return x.fail("slice_update", err)
	}
	return p.replace(x, update.AsType(x.DType()).BroadcastTo(p.lengths...))
}

// Flip reverses the order along the given axes, along all if none are given. It
// copies nothing.
func (x *Array) Flip(axes ...int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.manyAxes(axes)
	if err != nil {
		return x.fail("flip", err)
	}
	p := wholeWindow(x.spec().Shape)
	for _, axis := range at {
		p.starts[axis], p.steps[axis] = x.Dim(axis)-1, -1
	}
	if len(at) == 0 {
		return x
	}
	return Apply1(slice{p}, x)
}

// Pad puts value before and after the elements along each axis: widths[i] holds
// how many before and how many after along axis i. One pair serves for all axes.
// The value is rounded to the type of x. An error if a width is negative.
func (x *Array) Pad(value float64, widths ...[2]int) *Array {
	if x.Err() != nil {
		return x
	}
	if len(widths) == 1 {
		widths = slices.Repeat(widths, x.NDim())
	}
	if len(widths) != x.NDim() {
		return x.fail("pad", fmt.Errorf("%d widths for shape %v", len(widths), x.spec().Shape))
	}
	p, outer := wholeWindow(x.spec().Shape), x.Shape()
	for i, w := range widths {
		if w[0] < 0 || w[1] < 0 {
			return x.fail("pad", fmt.Errorf("width %v of axis %d is negative", w, i))
		}
		if w[0] > math.MaxInt-outer[i] || w[1] > math.MaxInt-outer[i]-w[0] {
			return x.fail("pad", fmt.Errorf("width %v of axis %d is too large", w, i))
		}
		p.starts[i] = w[0]
		outer[i] += w[0] + w[1]
	}
	return p.replace(Full(value, x.DType(), outer...), x)
}

// window picks elements of an array: along axis i lengths[i] of them, from
// starts[i] in steps[i].
type window struct{ starts, steps, lengths []int }

func wholeWindow(shape []int) window {
	return window{make([]int, len(shape)), slices.Repeat([]int{1}, len(shape)), slices.Clone(shape)}
}

func newWindow(shape, starts, stops, steps []int) (window, error) {
	for _, list := range [][]int{starts, stops, steps} {
		if list != nil && len(list) != len(shape) {
			return window{}, fmt.Errorf("%d limits for shape %v", len(list), shape)
		}
	}
	p := wholeWindow(shape)
	for i, n := range shape {
		if steps != nil {
			p.steps[i] = steps[i]
		}
		if p.steps[i] == 0 {
			return window{}, fmt.Errorf("step 0 along axis %d", i)
		}
		first, end := 0, n
		if p.steps[i] < 0 {
			first, end = n-1, -1
		}
		if starts != nil {
			first = clamp(starts[i], n, p.steps[i])
		}
		if stops != nil {
			end = clamp(stops[i], n, p.steps[i])
		}
		p.starts[i], p.lengths[i] = first, span(first, end, p.steps[i])
	}
	return p, nil
}

// clamp counts a limit from the front and moves it into the range that a walk in
// this direction can reach or end at.
func clamp(limit, n, step int) int {
	if limit < 0 {
		limit = max(limit, -n-1) + n
	}
	if step < 0 {
		return min(max(limit, -1), n-1)
	}
	return min(max(limit, 0), n)
}

// span is how many steps there are from first until end is reached or passed.
func span(first, end, step int) int {
	if step > 0 {
		if end <= first {
			return 0
		}
		return (end-first-1)/step + 1
	}
	if first <= end {
		return 0
	}
	return int(uint(first-end-1)/-uint(step)) + 1
}

// strides and offset walk the window of an array with the given ones.
func (p window) walk(strides []int, offset int) ([]int, int) {
	out := make([]int, len(strides))
	for i, s := range strides {
		out[i] = s * p.steps[i]
		if p.lengths[i] > 0 {
			offset += s * p.starts[i]
		}
		if p.lengths[i] <= 1 {
			out[i] = s
		}
	}
	return out, offset
}

// batched is the window of each example of a batch of n in front.
func (p window) batched(n int) window {
	return window{
		slices.Insert(slices.Clone(p.starts), 0, 0),
		slices.Insert(slices.Clone(p.steps), 0, 1),
		slices.Insert(slices.Clone(p.lengths), 0, n),
	}
}

func (p window) equal(q window) bool {
	return slices.Equal(p.starts, q.starts) && slices.Equal(p.steps, q.steps) && slices.Equal(p.lengths, q.lengths)
}

// replace puts y, of the window's shape and of x's type, into x.
func (p window) replace(x, y *Array) *Array { return Apply1(sliceUpdate{p}, x, y) }

// slice views a window of its input.
type slice struct{ window }

func (slice) Name() string { return "slice" }

// Equal reports whether o takes the same elements.
func (p slice) Equal(o Primitive) bool {
	q, ok := o.(slice)
	return ok && p.equal(q.window)
}

func (p slice) OutputSpecs(in []Spec) ([]Spec, error) { return []Spec{{p.lengths, in[0].DType}}, nil }

func (p slice) View(in View, out Spec) (View, bool) {
	strides, offset := p.walk(in.Strides, in.Offset)
	if out.Size() == 0 {
		offset = in.Offset
	}
	return View{Spec: out, Strides: strides, Offset: offset, Storage: in.Storage}, true
}

func (slice) Eval(context.Context, []View, []View) error { return errViewed }

func (p slice) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{p.replace(ZerosLike(in[0]), dy[0])}, nil
}

func (p slice) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) {
	return Apply(p, dx[0]), nil
}

func (p slice) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	x := in[0].MoveAxis(axes[0], 0)
	return Apply(slice{p.batched(x.Dim(0))}, x), []int{0}, nil
}

// sliceUpdate copies its first input and puts its second into a window.
type sliceUpdate struct{ window }

func (sliceUpdate) Name() string { return "slice_update" }

// ReadsStrided marks a StridedReader.
func (sliceUpdate) ReadsStrided() {}

// Equal reports whether o replaces the same elements.
func (p sliceUpdate) Equal(o Primitive) bool {
	q, ok := o.(sliceUpdate)
	return ok && p.equal(q.window)
}

func (p sliceUpdate) OutputSpecs(in []Spec) ([]Spec, error) { return in[:1], nil }

func (p sliceUpdate) Eval(_ context.Context, in, out []View) error {
	x, update, y := in[0], in[1], out[0]
	size := y.DType.Size()
	layout.Copy(y.Storage, x.Storage, size, x.Shape, x.Strides, x.Offset)
	strides, offset := p.walk(y.Strides, y.Offset)
	layout.Move(y.Storage, update.Storage, size, update.Shape, strides, update.Strides, offset, update.Offset)
	return nil
}

func (p sliceUpdate) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		if arg == 0 {
			dx[i] = p.replace(dy[0], ZerosLike(in[1]))
		} else {
			dx[i] = Apply1(slice(p), dy[0])
		}
	}
	return dx, nil
}

func (p sliceUpdate) JVP(in, _, dx []*Array, argnums []int) ([]*Array, error) {
	t := tangents(in, dx, argnums)
	return []*Array{p.replace(t[0], t[1])}, nil
}

func (p sliceUpdate) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	xs, n := batchAll(in, axes)
	return Apply(sliceUpdate{p.batched(n)}, xs...), []int{0}, nil
}

// tangents fills in zeros for the inputs that have no tangent.
func tangents(in, dx []*Array, argnums []int) []*Array {
	all := make([]*Array, len(in))
	for i, arg := range argnums {
		all[arg] = dx[i]
	}
	for i, t := range all {
		if t == nil {
			all[i] = ZerosLike(in[i])
		}
	}
	return all
}

// batchAll moves the batch axis of each input to the front and repeats those
// that have none. n is the number of examples.
func batchAll(in []*Array, axes []int) (out []*Array, n int) {
	out = slices.Clone(in)
	for i, x := range in {
		if axes[i] >= 0 {
			out[i] = x.MoveAxis(axes[i], 0)
			n = out[i].Dim(0)
		}
	}
	for i, x := range in {
		if axes[i] < 0 {
			out[i] = x.BroadcastTo(append([]int{n}, x.Shape()...)...)
		}
	}
	return out, n
}
