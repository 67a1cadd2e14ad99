package layout

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Copy writes the strided elements of src, which start at offset, into dst in
// row order. Elements are size bytes long: 1, 2, 4 or 8.
func Copy(dst, src []byte, size int, shape, strides []int, offset int) {
	copySized(dst, src, size, shape, [][]int{Strides(shape), strides}, []int{0, offset})
}

// Put writes the elements of src, which are in row order, to the strided places
// of dst that start at offset.
func Put(dst, src []byte, size int, shape, strides []int, offset int) {
	copySized(dst, src, size, shape, [][]int{strides, Strides(shape)}, []int{offset, 0})
}

func copySized(dst, src []byte, size int, shape []int, strides [][]int, offsets []int) {
	shape, strides = Coalesce(shape, strides...)
	switch size {
	case 1:
		copyRows(dst, src, shape, strides, offsets)
	case 2:
		copyRows(buffer.As[uint16](dst), buffer.As[uint16](src), shape, strides, offsets)
	case 4:
		copyRows(buffer.As[uint32](dst), buffer.As[uint32](src), shape, strides, offsets)
	case 8:
		copyRows(buffer.As[uint64](dst), buffer.As[uint64](src), shape, strides, offsets)
	}
}

func copyRows[T dtype.Element](dst, src []T, shape []int, strides [][]int, offsets []int) {
	inner := len(shape) - 1
	n, to, from := shape[inner], strides[0][inner], strides[1][inner]
	Rows(shape, strides, offsets, func(at []int) {
		if to == 1 && from == 1 {
			copy(dst[at[0]:at[0]+n], src[at[1]:at[1]+n])
			return
		}
		d, s := at[0], at[1]
		for range n {
			dst[d] = src[s]
			d += to
			s += from
		}
	})
}

// Move copies elements between two strided places of the same shape, which do
// not overlap.
func Move(dst, src []byte, size int, shape, to, from []int, dstOffset, srcOffset int) {
	copySized(dst, src, size, shape, [][]int{to, from}, []int{dstOffset, srcOffset})
}
