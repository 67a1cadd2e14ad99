package array

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/dtype"
)

// Array is an immutable, lazy n-dimensional array: a shape, an element type and
// the operation that will produce its elements. Operations return at once;
// elements are computed by Eval, Values or Item. The methods may be called from
// several goroutines.
//
// An operation on wrong arguments returns an array that carries the error, with
// the caller's file and line. Every later operation passes the first error on;
// Err shows it and evaluation returns it.
type Array struct {
	kind *kind     // nil for all outputs of a node but the first
	pair [2]*Array // the inputs of the node, if there are no more than two; nil after evaluation
	rare *rare     // nil for most

	value  atomic.Pointer[View] // of the first output; nil before evaluation
	state  atomic.Uint32        // flags, see node.go
	unread atomic.Int32         // how many operations on a temporary node have not run; see donate.go

	trace uint64 // number of the innermost trace that the node belongs to; 0 if concrete
	stamp uint64 // number of the last plan that met the node; under planning

	// Of other outputs than the first pair[0] is the node, and stamp says which one it is.
}

// Shape returns the lengths of the axes. The caller may keep and change it.
func (x *Array) Shape() []int { return slices.Clone(x.spec().Shape) }

// DType is the element type; Invalid if the array carries an error.
func (x *Array) DType() dtype.Type { return x.spec().DType }

// Spec returns shape and type together.
func (x *Array) Spec() Spec { return Spec{Shape: x.Shape(), DType: x.DType()} }

// NDim is the number of axes.
func (x *Array) NDim() int { return len(x.spec().Shape) }

// Size is the number of elements.
func (x *Array) Size() int { return x.spec().Size() }

// Dim is the length of an axis, counted from the end if negative; 0 if there is
// no such axis.
func (x *Array) Dim(axis int) int {
	shape := x.spec().Shape
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return 0
	}
	return shape[axis]
}

// Err is the first mistake made in building this array, nil if there is none.
// It does not compute anything.
func (x *Array) Err() error {
	if x == nil {
		return errNil
	}
	return x.node().err()
}

// spec is shared: callers inside the package do not change it.
func (x *Array) spec() Spec {
	if x == nil {
		return Spec{}
	}
	return x.node().specOf(x.out())
}

var errNil = fmt.Errorf("array is nil")

// view returns the computed elements; ok is false before evaluation
// and once the storage has been given away. Whoever uses it keeps the view alive
// meanwhile.
func (x *Array) view() (view View, ok bool) {
	if x == nil {
		return View{}, false
	}
	v := x.pointer()
	if v == nil {
		return View{}, false
	}
	return *v, true
}
