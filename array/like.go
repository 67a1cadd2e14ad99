package array

import (
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/internal/layout"
)

// ZerosLike returns zeros of the shape and type of x.
func ZerosLike(x *Array) *Array { return FullLike(x, 0) }

// OnesLike returns ones of the shape and type of x.
func OnesLike(x *Array) *Array { return FullLike(x, 1) }

// FullLike returns an array of the shape and type of x in which every element is
// value, converted as Full does. Like it, this takes no memory to speak of.
func FullLike(x *Array, value float64) *Array {
	if x.Err() != nil {
		return x
	}
	return Full(value, x.DType(), x.spec().Shape...)
}

// BroadcastArrays broadcasts all arrays to one shape. If they do not fit, or one
// carries an error, all results carry the error.
func BroadcastArrays(xs []*Array) []*Array {
	if bad := firstBad(xs); bad != nil {
		return repeated(bad, len(xs))
	}
	shape := []int{}
	for _, x := range xs {
		both, ok := layout.Broadcast(shape, x.spec().Shape)
		if !ok {
			return repeated(x.fail("broadcast_arrays", fmt.Errorf("shapes %v and %v do not broadcast", shape, x.spec().Shape)), len(xs))
		}
		shape = both
	}
	out := make([]*Array, len(xs))
	for i, x := range xs {
		out[i] = x.BroadcastTo(shape...)
	}
	return out
}

// Meshgrid makes coordinates of a grid from one vector for each of its axes: as
// many arrays as vectors, each with one axis for every vector, along which the
// vector of the same number varies. (This is NumPy's indexing "ij"; for its "xy"
// swap the first two vectors and results.)
func Meshgrid(vectors []*Array) []*Array {
	if bad := firstBad(vectors); bad != nil {
		return repeated(bad, len(vectors))
	}
	apart := make([]*Array, len(vectors))
	for i, x := range vectors {
		if x.NDim() != 1 {
			return repeated(x.fail("meshgrid", errors.New("an argument is not a vector")), len(vectors))
		}
		apart[i] = x.ExpandDims(others([]int{i}, len(vectors))...)
	}
	return BroadcastArrays(apart)
}

// firstBad returns an array with the first mistake that xs carry, or nil.
func firstBad(xs []*Array) *Array {
	for i, x := range xs {
		if x == nil {
			return Fail("argument", fmt.Errorf("number %d: %w", i, errNil))
		}
		if x.Err() != nil {
			return x
		}
	}
	return nil
}
