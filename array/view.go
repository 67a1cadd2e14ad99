package array

import (
	"runtime"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// View is computed elements as a primitive's Eval sees them: storage, and how
// the axes walk through it. Those that Eval is given are lent for the call.
type View struct {
	Spec
	Strides []int  // in elements
	Offset  int    // of the first element, in elements
	Storage []byte // whole storage, little-endian

	owner *buffer.Buffer // gives the storage back when nothing points to it; nil if Go's heap has it
}

// NewView returns row-contiguous storage for a spec; its content is undefined. The
// storage is used again once the view is gone: keep the view, not its Storage alone.
func NewView(s Spec) View { return newView(s, layout.Strides(s.Shape)) }

func newView(s Spec, strides []int) View {
	v := View{Spec: s, Strides: strides}
	switch n := s.Bytes(); {
	case buffer.Pooled(n):
		v.owner = buffer.New(n)
		v.Storage = v.owner.Bytes()
	default:
		v.Storage = buffer.Small(n)
	}
	return v
}

// keep is called after the last use of the storage, which is there until then.
func (v View) keep() { runtime.KeepAlive(v.owner) }

// IsContiguous reports whether the elements lie in row order without gaps.
func (v View) IsContiguous() bool { return layout.IsContiguous(v.Shape, v.Strides) }

// isRowsOf reports whether v has this shape and the strides that Strides gives it.
func (v View) isRowsOf(shape []int) bool { return rowsOf(shape, v.Shape, v.Strides) }

// rowsOf reports whether have is the shape that is wanted, with the strides of row order.
func rowsOf(want, have, strides []int) bool {
	if !slices.Equal(want, have) {
		return false
	}
	n := 1
	for i := len(want) - 1; i >= 0; i-- {
		if strides[i] != n {
			return false
		}
		n *= want[i]
	}
	return true
}

// Bytes returns the elements of a contiguous view.
func (v View) Bytes() []byte {
	size := v.DType.Size()
	return v.Storage[v.Offset*size : v.Offset*size+v.Spec.Bytes()]
}

// Contiguous returns v itself, or a copy of its elements in row order.
func (v View) Contiguous() View {
	if v.IsContiguous() {
		return v
	}
	c := NewView(v.Spec)
	layout.Copy(c.Storage, v.Storage, v.DType.Size(), v.Shape, v.Strides, v.Offset)
	v.keep()
	return c
}

// Repeated returns the bytes of the one element that fills a computed array, as
// in those made by Full; ok is false when x may hold several, or is not computed.
func (x *Array) Repeated() (element []byte, ok bool) {
	v, computed := x.view()
	if !computed || v.Size() == 0 {
		return nil, false
	}
	for i, d := range v.Shape {
		if d > 1 && v.Strides[i] != 0 {
			return nil, false
		}
	}
	defer v.keep()
	at := v.Offset * v.DType.Size()
	return slices.Clone(v.Storage[at : at+v.DType.Size()]), true
}

// Elements returns the elements of a contiguous view as type T, which must be
// the view's, without copying.
func Elements[T dtype.Element](v View) []T { return buffer.As[T](v.Bytes()) }

// StorageOf returns the whole storage of a view as type T, for kernels that
// walk its strides from its offset.
func StorageOf[T dtype.Element](v View) []T { return buffer.As[T](v.Storage) }
