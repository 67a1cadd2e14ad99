// Package buffer gives storage for elements and views the same storage as
// bytes or as typed elements.
package buffer

import (
	"unsafe"

	"github.com/lockstep-go/lockstep/dtype"
)

// alignment suits every element type and a cache line.
const alignment = 64

// Make returns n bytes whose address is a multiple of 64. The content is zero.
func Make(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	raw := make([]byte, n+alignment)
	shift := -uintptr(unsafe.Pointer(&raw[0])) & (alignment - 1)
	return raw[shift : int(shift)+n : int(shift)+n]
}

// As views b as elements of type T without copying. The length of b must be a
// multiple of the element's size and its address aligned for T, which holds for
// slices of Make at element boundaries.
func As[T dtype.Element](b []byte) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
}

// Aligned reports whether As may view b as elements of t.
func Aligned(b []byte, t dtype.Type) bool {
	if len(b) == 0 {
		return true
	}
	size := t.Size()
	if t == dtype.Complex64 {
		size = 4
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(size) == 0
}

// Bytes views x as bytes without copying.
func Bytes[T dtype.Element](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(zero)))
}
