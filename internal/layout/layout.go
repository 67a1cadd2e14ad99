// Package layout does the arithmetic of shapes and strides. Strides and
// offsets count elements, not bytes.
package layout

import "slices"

// Size is the number of elements of a shape; 1 for the empty shape.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Strides returns the row-contiguous strides of a shape.
func Strides(shape []int) []int {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// IsContiguous reports whether elements with these strides lie in row order
// without gaps. Axes of length 1 and empty arrays may have any strides.
func IsContiguous(shape, strides []int) bool {
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 0 {
			return true
		}
		if shape[i] != 1 && strides[i] != n {
			return false
		}
		n *= shape[i]
	}
	return true
}

// Coalesce joins neighbouring axes that can be walked as one and drops axes of
// length 1. All stride lists belong to the same shape; an axis pair is joined
// only if every list allows it. The result has at least one axis.
func Coalesce(shape []int, strides ...[]int) ([]int, [][]int) {
	outShape := make([]int, 0, len(shape))
	out := make([][]int, len(strides))
	for axis, d := range shape {
		if d == 1 {
			continue
		}
		last := len(outShape) - 1
		if last >= 0 && joinable(strides, out, axis, d, last) {
			outShape[last] *= d
			for k := range out {
				out[k][last] = strides[k][axis]
			}
			continue
		}
		outShape = append(outShape, d)
		for k := range out {
			out[k] = append(out[k], strides[k][axis])
		}
	}
	if len(outShape) == 0 {
		outShape = append(outShape, 1)
		for k := range out {
			out[k] = append(out[k], 0)
		}
	}
	return outShape, out
}

func joinable(strides, out [][]int, axis, d, last int) bool {
	for k := range strides {
		if out[k][last] != strides[k][axis]*d {
			return false
		}
	}
	return true
}

// Broadcast returns the shape that a and b broadcast to, by NumPy's rule: equal
// from the right, where 1 matches anything. ok is false when they do not.
func Broadcast(a, b []int) (shape []int, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape = slices.Clone(a)
	for i := range b {
		at := len(a) - len(b) + i
		switch {
		case shape[at] == b[i] || b[i] == 1:
		case shape[at] == 1:
			shape[at] = b[i]
		default:
			return nil, false
		}
	}
	return shape, true
}

// Axis turns an axis counted from either end into one from 0 to ndim-1.
func Axis(axis, ndim int) (int, bool) {
	if axis < 0 {
		axis += ndim
	}
	return axis, axis >= 0 && axis < ndim
}

// Rows calls f with the offset of every innermost row, in row order, for each
// of the stride lists. The innermost axis itself is left to f. It does nothing
// for an empty shape.
func Rows(shape []int, strides [][]int, offsets []int, f func(at []int)) {
	at := slices.Clone(offsets)
	outer := len(shape) - 1
	if Size(shape) == 0 {
		return
	}
	index := make([]int, max(outer, 0))
	for {
		f(at)
		axis := outer - 1
		for ; axis >= 0; axis-- {
			index[axis]++
			for k := range at {
				at[k] += strides[k][axis]
			}
			if index[axis] < shape[axis] {
				break
			}
			for k := range at {
				at[k] -= strides[k][axis] * shape[axis]
			}
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}
