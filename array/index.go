package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Take picks the elements of x with the given indices along an axis, which the
// axes of indices replace: x of shape [a n b] and indices of shape [k l] give
// [a k l b]. Indices are of any integer type and negative ones count from the
// end; one out of range is an error of the evaluation. The gradient is added up
// where elements were taken several times.
func (x *Array) Take(indices *Array, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail("take", err)
	}
	return Apply1(take{axis: at}, x, indices)
}

// TakeAlongAxis picks, along one axis, an element of x for each element of
// indices: out[i j k] = x[i indices[i j k] k] for the middle one of three. x and
// indices have the same number of axes and broadcast to each other along the
// others. Indices and gradient are as for Take.
func (x *Array) TakeAlongAxis(indices *Array, axis int) *Array {
	rows, at, err := alongAxis("take_along_axis", axis, x, indices)
	if err != nil {
		return err
	}
	return Apply1(take{batch: x.NDim() - 1, axis: x.NDim() - 1}, rows[0], rows[1]).MoveAxis(-1, at)
}

// ScatterAdd returns x with updates added to the elements that Take would pick
// with the same indices and axis. updates has, or broadcasts to, the shape of
// what Take gives, and is converted to the type of x. Elements picked several
// times receive all of their updates, in the order of the indices. The gradient
// passes to x and is taken for updates.
func (x *Array) ScatterAdd(indices, updates *Array, axis int) *Array {
	return x.scattered("scatter_add", indices, updates, axis, true)
}

// Scatter is ScatterAdd, but updates replace the elements; the last one counts
// where several have the same index, and the others get no gradient.
func (x *Array) Scatter(indices, updates *Array, axis int) *Array {
	return x.scattered("scatter", indices, updates, axis, false)
}

// ScatterAddAlongAxis returns x with updates added to the elements that
// TakeAlongAxis would pick; the rest is as for ScatterAdd. indices and updates
// broadcast to each other.
func (x *Array) ScatterAddAlongAxis(indices, updates *Array, axis int) *Array {
	return x.scatteredAlong("scatter_add_along_axis", indices, updates, axis, true)
}

// PutAlongAxis is ScatterAddAlongAxis, but updates replace the elements, as in
// Scatter.
func (x *Array) PutAlongAxis(indices, updates *Array, axis int) *Array {
	return x.scatteredAlong("put_along_axis", indices, updates, axis, false)
}

func (x *Array) scattered(op string, indices, updates *Array, axis int, add bool) *Array {
	if x.Err() != nil || indices.Err() != nil || updates.Err() != nil {
		return Apply1(scatter{}, x, indices, updates)
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail(op, err)
	}
	p := scatter{take{axis: at}, add}
	return Apply1(p, x, indices, updates.AsType(x.DType()).BroadcastTo(p.picked(x.spec(), indices.spec())...))
}

func (x *Array) scatteredAlong(op string, indices, updates *Array, axis int, add bool) *Array {
	if x.Err() == nil && indices.Err() == nil && updates.Err() == nil {
		both := sameShape(indices, updates.AsType(x.DType()))
		indices, updates = both[0], both[1]
	}
	rows, at, err := alongAxis(op, axis, x, indices, updates)
	if err != nil {
		return err
	}
	p := scatter{take{batch: x.NDim() - 1, axis: x.NDim() - 1}, add}
	return Apply1(p, rows...).MoveAxis(-1, at)
}

// alongAxis moves an axis of x and of what goes with it to the end and
// broadcasts all other axes. Instead of an error it returns an array that
// carries it.
func alongAxis(op string, axis int, x *Array, with ...*Array) (rows []*Array, at int, bad *Array) {
	all := append([]*Array{x}, with...)
	for i, y := range all {
		if y.Err() != nil {
			return nil, 0, Apply1(scatter{}, all...)
		}
		if y.NDim() != x.NDim() {
			return nil, 0, x.fail(op, fmt.Errorf("shapes %v and %v differ in their number of axes", x.spec().Shape, y.spec().Shape))
		}
		all[i] = y
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return nil, 0, x.fail(op, err)
	}
	var outer []int
	for i, y := range all {
		all[i] = y.MoveAxis(at, -1)
		shape := all[i].spec().Shape
		both, ok := layout.Broadcast(outer, shape[:len(shape)-1])
		if !ok {
			return nil, 0, x.fail(op, fmt.Errorf("shapes %v and %v do not broadcast beside axis %d", x.spec().Shape, y.spec().Shape, at))
		}
		outer = both
	}
	for i, y := range all {
		all[i] = y.BroadcastTo(append(slices.Clone(outer), y.Dim(-1))...)
	}
	return all, at, nil
}

// take picks along an axis by its second input. The first batch axes of both
// inputs belong together.
type take struct{ batch, axis int }

func (take) Name() string { return "take" }

// Equal reports whether o picks along the same axis.
func (p take) Equal(o Primitive) bool { return o == p }

func (p take) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkIndices(in[1]); err != nil {
		return nil, err
	}
	return []Spec{{p.picked(in[0], in[1]), in[0].DType}}, nil
}

func checkIndices(s Spec) error {
	if !s.DType.IsInteger() {
		return fmt.Errorf("indices are %v, not integers", s.DType)
	}
	return nil
}

// picked is the shape of what is taken from x.
func (p take) picked(x, indices Spec) []int {
	return slices.Concat(x.Shape[:p.axis], indices.Shape[p.batch:], x.Shape[p.axis+1:])
}

func (p take) picks(x, indices Spec) kernel.Picks {
	return kernel.Picks{
		Batch: layout.Size(x.Shape[:p.batch]),
		Outer: layout.Size(x.Shape[p.batch:p.axis]),
		N:     x.Shape[p.axis],
		Inner: layout.Size(x.Shape[p.axis+1:]),
		K:     layout.Size(indices.Shape[p.batch:]),
	}
}

// ChecksValues tells that an index may be out of range.
func (take) ChecksValues() {}

func (p take) Eval(_ context.Context, in, out []View) error {
	x, indices := in[0], in[1]
	return kernel.Indices(indices.DType, indices.Bytes(), x.Shape[p.axis], func(at []int) {
		kernel.Take(p.picks(x.Spec, indices.Spec), x.DType.Size(), out[0].Bytes(), x.Bytes(), at)
	})
}

func (p take) VJP(in, _, dy []*Array, _ []int) ([]*Array, error) {
	return []*Array{Apply1(scatter{p, true}, ZerosLike(in[0]), in[1], dy[0])}, nil
}

func (p take) JVP(in, _, dx []*Array, _ []int) ([]*Array, error) { return Apply(p, dx[0], in[1]), nil }

func (p take) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	switch {
	case p.batch == 0 && axes[1] < 0:
		return Apply(take{0, p.axis + 1}, in[0].MoveAxis(axes[0], 0), in[1]), []int{0}, nil
	case p.batch == 0 && axes[0] < 0:
		return Apply(p, in[0], in[1].MoveAxis(axes[1], 0)), []int{p.axis}, nil
	}
	xs, _ := batchAll(in, axes)
	return Apply(take{p.batch + 1, p.axis + 1}, xs...), []int{0}, nil
}

// scatter adds its third input to what take picks from the first by the second,
// or puts it there.
type scatter struct {
	take
	add bool
}

func (p scatter) Name() string {
	if p.add {
		return "scatter_add"
	}
	return "scatter"
}

// Equal reports whether o does the same along the same axis.
func (p scatter) Equal(o Primitive) bool { return o == p }

func (p scatter) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkIndices(in[1]); err != nil {
		return nil, err
	}
	if want := p.picked(in[0], in[1]); !slices.Equal(in[2].Shape, want) {
		return nil, fmt.Errorf("updates have shape %v, want %v", in[2].Shape, want)
	}
	return in[:1], nil
}

// ChecksValues tells that an index may be out of range.
func (scatter) ChecksValues() {}

func (p scatter) Eval(_ context.Context, in, out []View) error {
	x, indices, updates := in[0], in[1], in[2]
	return kernel.Indices(indices.DType, indices.Bytes(), x.Shape[p.axis], func(at []int) {
		y := out[0].Bytes()
		copy(y, x.Bytes())
		picks := p.picks(x.Spec, indices.Spec)
		if p.add {
			kernel.AddRows(picks, x.DType, y, updates.Bytes(), at)
		} else {
			kernel.Put(picks, x.DType.Size(), y, updates.Bytes(), at)
		}
	})
}

func (p scatter) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		switch {
		case arg == 2:
			dx[i] = p.winners(in, Apply1(p.take, dy[0], in[1]))
		case p.add:
			dx[i] = dy[0]
		default:
			dx[i] = Apply1(p, dy[0], in[1], ZerosLike(in[2]))
		}
	}
	return dx, nil
}

// winners keeps the elements of d, shaped like the updates, whose update was not
// replaced by a later one.
func (p scatter) winners(in []*Array, d *Array) *Array {
	if p.add {
		return d
	}
	x, indices := in[0].spec(), in[1].spec()
	k := layout.Size(indices.Shape[p.batch:])
	number := Arange(0, float64(k), 1, indexType(k)).Reshape(indices.Shape[p.batch:]...).BroadcastTo(indices.Shape...)
	rows := take{p.batch, p.batch}
	none := Zeros(number.DType(), append(slices.Clone(x.Shape[:p.batch]), x.Shape[p.axis])...)
	last := Apply1(scatter{rows, false}, none, in[1], number)
	won := Apply1(rows, last, in[1]).Equal(number)
	shape := slices.Concat(x.Shape[:p.batch], slices.Repeat([]int{1}, p.axis-p.batch),
		indices.Shape[p.batch:], slices.Repeat([]int{1}, len(x.Shape)-p.axis-1))
	return d.onlyWhere(won.Reshape(shape...).BroadcastTo(d.spec().Shape...))
}

func (p scatter) JVP(in, _, dx []*Array, argnums []int) ([]*Array, error) {
	all := []*Array{ZerosLike(in[0]), in[1], ZerosLike(in[2])}
	for i, arg := range argnums {
		all[arg] = dx[i]
	}
	return Apply(p, all...), nil
}

func (p scatter) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	if p.batch == 0 && axes[1] < 0 {
		both, _ := batchAll([]*Array{in[0], in[2]}, []int{axes[0], axes[2]})
		return Apply(scatter{take{0, p.axis + 1}, p.add}, both[0], in[1], both[1]), []int{0}, nil
	}
	xs, _ := batchAll(in, axes)
	return Apply(scatter{take{p.batch + 1, p.axis + 1}, p.add}, xs...), []int{0}, nil
}
