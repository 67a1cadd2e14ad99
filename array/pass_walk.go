package array

import (
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// walker gives the elements of an operand, in row order of the pass, tile by tile.
type walker struct {
	size   int
	offset int
	direct bool // elements lie side by side
	period int  // of a row that repeats; 0 if none does
	once   bool // every tile has the same elements
	shape  []int
	stride []int
}

func newWalker(v value, tile int) walker {
	joined, strides := layout.Coalesce(v.Shape, v.Strides)
	w := walker{size: v.DType.Size(), offset: v.Offset, shape: joined, stride: strides[0]}
	last := len(joined) - 1
	switch {
	case v.IsContiguous():
		w.direct = true
	case last == 0 && w.stride[0] == 0:
		w.once = true
	case last == 1 && w.stride[0] == 0 && w.stride[1] == 1:
		w.period = joined[1]
		w.once = w.period > 0 && tile%w.period == 0
	}
	return w
}

// elements returns n elements from the start-th on, in the operand's own memory
// where they lie side by side, else gathered into scratch. first says that scratch
// holds none of the operand yet.
func (w *walker) elements(from, scratch []byte, start, n int, first bool) []byte {
	if w.direct {
		return from[(w.offset+start)*w.size : (w.offset+start+n)*w.size]
	}
	if w.period >= n {
		if at := start % w.period; at+n <= w.period {
			return from[(w.offset+at)*w.size : (w.offset+at+n)*w.size]
		}
	}
	scratch = scratch[:n*w.size]
	if w.once && !first {
		return scratch
	}
	switch w.size {
	case 1:
		gatherTile(w, scratch, from, start)
	case 2:
		gatherTile(w, buffer.As[uint16](scratch), buffer.As[uint16](from), start)
	case 4:
		gatherTile(w, buffer.As[uint32](scratch), buffer.As[uint32](from), start)
	case 8:
		gatherTile(w, buffer.As[uint64](scratch), buffer.As[uint64](from), start)
	}
	return scratch
}

// gatherTile walks innermost rows from the start-th element on.
func gatherTile[T uint8 | uint16 | uint32 | uint64](w *walker, to, from []T, start int) {
	last := len(w.shape) - 1
	inner, step := w.shape[last], w.stride[last]
	for len(to) > 0 {
		col := start % inner
		at := w.offset + col*step
		for axis, row := last-1, start/inner; axis >= 0; axis-- {
			at += row % w.shape[axis] * w.stride[axis]
			row /= w.shape[axis]
		}
		n := min(len(to), inner-col)
		switch step {
		case 0:
			fillTile(to[:n], from[at])
		case 1:
			copy(to[:n], from[at:at+n])
		default:
			for i := range to[:n] {
				to[i] = from[at]
				at += step
			}
		}
		to, start = to[n:], start+n
	}
}

// fillTile doubles what it has written, which memmove does fast.
func fillTile[T any](to []T, x T) {
	if len(to) == 0 {
		return
	}
	to[0] = x
	for done := 1; done < len(to); done *= 2 {
		copy(to[done:], to[:done])
	}
}
