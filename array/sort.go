package array

import (
	"context"
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Sort puts the elements along an axis in ascending order, equal ones in their
// order. NaN come last; complex numbers are ordered by real part, then imaginary
// part. The gradient goes back to where the elements were.
func (x *Array) Sort(axis int) *Array {
	return x.sorted("sort", axis, func(rows *Array) *Array { return rows.TakeAlongAxis(Apply1(argSort{}, rows), -1) })
}

// ArgSort is the places, as uint32, of the elements along an axis in the order of
// Sort. It has no gradient.
func (x *Array) ArgSort(axis int) *Array {
	return x.sorted("argsort", axis, func(rows *Array) *Array { return Apply1(argSort{}, rows) })
}

// Partition puts the elements along an axis in such an order that element kth,
// from the end if negative, is the one that Sort would put there, none before it
// is greater and none after it is less. The order among these is that of Sort as
// well, but only the promise of this method is to be relied on.
func (x *Array) Partition(kth, axis int) *Array {
	if bad := x.checkPlace("partition", kth, axis); bad != nil {
		return bad
	}
	return x.Sort(axis)
}

// ArgPartition is the places, as uint32, of the elements in the order of
// Partition.
func (x *Array) ArgPartition(kth, axis int) *Array {
	if bad := x.checkPlace("argpartition", kth, axis); bad != nil {
		return bad
	}
	return x.ArgSort(axis)
}

// TopK takes the k greatest elements along an axis, the greatest first, and their
// places as uint32. A NaN counts as greatest, and of equal elements the later one
// comes first. An error if the axis has fewer than k elements. The gradient goes
// back to where the elements were.
func TopK(x *Array, k, axis int) (values, places *Array) {
	if x.Err() != nil {
		return x, x
	}
	at, err := x.oneAxis(axis)
	if err == nil && (k < 0 || k > x.Dim(at)) {
		err = fmt.Errorf("%d elements of axis %d of %v", k, axis, x.spec())
	}
	if err != nil {
		bad := x.fail("topk", err)
		return bad, bad
	}
	places = x.ArgSort(at).Flip(at).SliceAxis(at, 0, k)
	return x.TakeAlongAxis(places, at), places
}

func (x *Array) checkPlace(op string, kth, axis int) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err == nil {
		if _, ok := layout.Axis(kth, x.Dim(at)); !ok {
			err = fmt.Errorf("element %d of axis %d of %v", kth, axis, x.spec())
		}
	}
	if err != nil {
		return x.fail(op, err)
	}
	return nil
}

func (x *Array) sorted(op string, axis int, f func(rows *Array) *Array) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail(op, err)
	}
	return f(x.MoveAxis(at, -1)).MoveAxis(-1, at)
}

// argSort orders rows along the last axis.
type argSort struct{ noSlope }

func (argSort) Name() string { return "argsort" }

// Equal reports whether o is the same operation.
func (p argSort) Equal(o Primitive) bool { return o == p }

func (argSort) OutputSpecs(in []Spec) ([]Spec, error) {
	shape := in[0].Shape
	if n := shape[len(shape)-1]; n > math.MaxUint32 {
		return nil, fmt.Errorf("%d elements are too many", n)
	}
	return []Spec{{shape, dtype.Uint32}}, nil
}

func (argSort) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.ArgSort(in[0].DType, Elements[uint32](out[0]), in[0].Bytes(), shape[len(shape)-1])
	return nil
}

func (p argSort) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}
