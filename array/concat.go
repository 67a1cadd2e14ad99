package array

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/internal/layout"
)

// Concatenate joins arrays along an axis. They have the same length along the
// others, else it is an error; their types are promoted to one. The gradient is
// cut apart again.
func Concatenate(xs []*Array, axis int) *Array {
	if len(xs) == 0 {
		return Fail("concatenate", errors.New("no arrays"))
	}
	for _, x := range xs {
		if x.Err() != nil {
			return Apply1(concatenate{}, slices.Clone(xs)...)
		}
	}
	at, err := xs[0].oneAxis(axis)
	if err != nil {
		return xs[0].fail("concatenate", err)
	}
	if len(xs) == 1 {
		return xs[0]
	}
	t := promoted(xs...)
	same := make([]*Array, len(xs))
	for i, x := range xs {
		same[i] = x.AsType(t)
	}
	return Apply1(concatenate{at}, same...)
}

// Stack joins arrays of the same shape along a new axis, whose place in the
// result is given. Types are promoted to one.
func Stack(xs []*Array, axis int) *Array {
	if len(xs) == 0 {
		return Fail("stack", errors.New("no arrays"))
	}
	at, ok := layout.Axis(axis, xs[0].NDim()+1)
	if xs[0].Err() == nil && !ok {
		return xs[0].fail("stack", fmt.Errorf("axis %d of a result with %d axes", axis, xs[0].NDim()+1))
	}
	expanded := make([]*Array, len(xs))
	for i, x := range xs {
		if x.Err() == nil && !slices.Equal(x.spec().Shape, xs[0].spec().Shape) {
			return x.fail("stack", fmt.Errorf("shapes %v and %v differ", xs[0].spec().Shape, x.spec().Shape))
		}
		expanded[i] = x.ExpandDims(at)
	}
	return Concatenate(expanded, at)
}

// mostParts is how many parts an array can be cut into.
const mostParts = 1 << 20

// Split cuts x along an axis into parts of equal length, at most 1<<20. An error if
// the length is not a multiple of parts. The gradient is joined again. One wrong
// array comes back for a number of parts that there cannot be.
func Split(x *Array, parts, axis int) []*Array {
	if parts < 1 || parts > mostParts {
		return []*Array{x.fail("split", fmt.Errorf("%d parts", parts))}
	}
	if x.Err() != nil {
		return repeated(x, parts)
	}
	at, err := x.oneAxis(axis)
	if err == nil && x.Dim(at)%parts != 0 {
		err = fmt.Errorf("axis %d of %v is not a multiple of %d parts", axis, x.spec(), parts)
	}
	if err != nil {
		return repeated(x.fail("split", err), parts)
	}
	cuts := make([]int, parts+1)
	for i := range cuts {
		cuts[i] = x.Dim(at) / parts * i
	}
	return x.cut(at, cuts)
}

// SplitAt cuts x along an axis before each of the given places, which increase
// and count from the end if negative: n places give n+1 parts, of which some may
// be empty.
func SplitAt(x *Array, places []int, axis int) []*Array {
	if x.Err() != nil {
		return repeated(x, len(places)+1)
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return repeated(x.fail("split", err), len(places)+1)
	}
	n := x.Dim(at)
	cuts := make([]int, len(places)+2)
	for i, place := range places {
		cuts[i+1] = clamp(place, n, 1)
	}
	cuts[len(cuts)-1] = n
	if !slices.IsSorted(cuts) {
		return repeated(x.fail("split", fmt.Errorf("places %v do not increase along axis %d of %v", places, axis, x.spec())), len(places)+1)
	}
	return x.cut(at, cuts)
}

// Unstack takes the elements of x along an axis apart: as many arrays as the axis
// is long, each without it.
func Unstack(x *Array, axis int) []*Array {
	if x.Err() != nil {
		return []*Array{x}
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return []*Array{x.fail("unstack", err)}
	}
	if x.Dim(at) == 0 {
		return nil
	}
	parts := Split(x, x.Dim(at), at)
	for i, part := range parts {
		parts[i] = part.Squeeze(at)
	}
	return parts
}

// Diff is the difference of each element to the one before it along an axis,
// which becomes shorter by one.
func (x *Array) Diff(axis int) *Array {
	return x.SliceAxis(axis, 1, x.Dim(axis)).Sub(x.SliceAxis(axis, 0, -1))
}

func (x *Array) cut(axis int, cuts []int) []*Array {
	if len(cuts) == 2 {
		return []*Array{x}
	}
	return Apply(split{axis, cuts}, x)
}

func repeated(x *Array, n int) []*Array {
	return slices.Repeat([]*Array{x}, n)
}

// Repeat repeats each element n times in a row along an axis. The gradient is
// the sum over the repetitions.
func (x *Array) Repeat(n, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d repetitions", n)
	}
	if err != nil {
		return x.fail("repeat", err)
	}
	shape := x.Shape()
	wider := slices.Insert(x.Shape(), at+1, n)
	shape[at] *= n
	return x.ExpandDims(at + 1).BroadcastTo(wider...).Reshape(shape...)
}

// Tile repeats x as a whole, times[i] times along axis i. The shorter of times
// and the shape is filled up with ones in front.
func (x *Array) Tile(times ...int) *Array {
	if x.Err() != nil {
		return x
	}
	for _, n := range times {
		if n < 0 {
			return x.fail("tile", fmt.Errorf("repetitions %v are negative", times))
		}
	}
	shape := x.Shape()
	for len(shape) < len(times) {
		shape = slices.Insert(shape, 0, 1)
	}
	times = append(slices.Repeat([]int{1}, len(shape)-len(times)), times...)
	var apart, tiled, final []int
	for i, d := range shape {
		apart = append(apart, 1, d)
		tiled = append(tiled, times[i], d)
		final = append(final, times[i]*d)
	}
	return x.Reshape(apart...).BroadcastTo(tiled...).Reshape(final...)
}

// Roll moves the elements along an axis by shift places; what leaves one end
// enters at the other.
func (x *Array) Roll(shift, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail("roll", err)
	}
	n := x.Dim(at)
	if n == 0 || shift%n == 0 {
		return x
	}
	cut := ((-shift)%n + n) % n
	return Concatenate([]*Array{x.SliceAxis(at, cut, n), x.SliceAxis(at, 0, cut)}, at)
}

// concatenate joins its inputs, of one type, along an axis.
type concatenate struct{ axis int }

func (concatenate) Name() string { return "concatenate" }

// ReadsStrided marks a StridedReader.
func (concatenate) ReadsStrided() {}

// Equal reports whether o joins along the same axis.
func (p concatenate) Equal(o Primitive) bool { return o == p }

func (p concatenate) OutputSpecs(in []Spec) ([]Spec, error) {
	shape := slices.Clone(in[0].Shape)
	for _, s := range in[1:] {
		if len(s.Shape) != len(shape) {
			return nil, fmt.Errorf("shapes %v and %v differ in their number of axes", in[0].Shape, s.Shape)
		}
		for i, d := range s.Shape {
			if i == p.axis && d > math.MaxInt-shape[i] {
				return nil, fmt.Errorf("axis %d becomes too large", p.axis)
			} else if i == p.axis {
				shape[i] += d
			} else if d != shape[i] {
				return nil, fmt.Errorf("shapes %v and %v differ beside axis %d", in[0].Shape, s.Shape, p.axis)
			}
		}
	}
	return []Spec{{shape, in[0].DType}}, nil
}

func (p concatenate) Eval(_ context.Context, in, out []View) error {
	y := out[0]
	offset := y.Offset
	for _, x := range in {
		layout.Move(y.Storage, x.Storage, y.DType.Size(), x.Shape, y.Strides, x.Strides, offset, x.Offset)
		offset += x.Shape[p.axis] * y.Strides[p.axis]
	}
	return nil
}

func (p concatenate) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	cuts := make([]int, len(in)+1)
	for i, x := range in {
		cuts[i+1] = cuts[i] + x.Dim(p.axis)
	}
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		dx[i] = dy[0].SliceAxis(p.axis, cuts[arg], cuts[arg+1])
	}
	return dx, nil
}

func (p concatenate) JVP(in, _, dx []*Array, argnums []int) ([]*Array, error) {
	return Apply(p, tangents(in, dx, argnums)...), nil
}

func (p concatenate) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	xs, _ := batchAll(in, axes)
	return Apply(concatenate{p.axis + 1}, xs...), []int{0}, nil
}

// split cuts its input along an axis at increasing places, the ends included.
type split struct {
	axis int
	cuts []int
}

func (split) Name() string { return "split" }

// ReadsStrided marks a StridedReader.
func (split) ReadsStrided() {}

// Outputs is the number of parts.
func (p split) Outputs() int { return len(p.cuts) - 1 }

// Equal reports whether o cuts at the same places.
func (p split) Equal(o Primitive) bool {
	q, ok := o.(split)
	return ok && p.axis == q.axis && slices.Equal(p.cuts, q.cuts)
}

func (p split) OutputSpecs(in []Spec) ([]Spec, error) {
	out := make([]Spec, p.Outputs())
	for i := range out {
		shape := slices.Clone(in[0].Shape)
		shape[p.axis] = p.cuts[i+1] - p.cuts[i]
		out[i] = Spec{shape, in[0].DType}
	}
	return out, nil
}

func (p split) Eval(_ context.Context, in, out []View) error {
	x := in[0]
	for i, y := range out {
		offset := x.Offset + p.cuts[i]*x.Strides[p.axis]
		layout.Copy(y.Storage, x.Storage, x.DType.Size(), y.Shape, x.Strides, offset)
	}
	return nil
}

func (p split) VJP(_, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{Concatenate(dy, p.axis)}, nil
}

func (p split) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) { return Apply(p, dx[0]), nil }

func (p split) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	out := Apply(split{p.axis + 1, p.cuts}, in[0].MoveAxis(axes[0], 0))
	return out, make([]int, len(out)), nil
}
