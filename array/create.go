package array

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// From returns an array with a copy of data in row order. Without a shape it has
// one axis. The lengths of shape must multiply to len(data); one of them may be
// -1, meaning whatever is left.
func From[T dtype.Element](data []T, shape ...int) *Array {
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	shape, err := fill(shape, len(data))
	if err != nil {
		return Fail("from", err)
	}
	v := NewView(Spec{Shape: shape, DType: dtype.Of[T]()})
	copy(buffer.As[T](v.Storage), data)
	return constant(v)
}

// FromBytes returns an array with a copy of data, which holds little-endian
// elements of type t in row order.
func FromBytes(data []byte, t dtype.Type, shape ...int) *Array {
	if err := checkShape(t, shape); err != nil {
		return Fail("from_bytes", err)
	}
	spec := Spec{Shape: slices.Clone(shape), DType: t}
	if len(data) != spec.Bytes() {
		return Fail("from_bytes", fmt.Errorf("%d bytes for %v, want %d", len(data), spec, spec.Bytes()))
	}
	v := NewView(spec)
	copy(v.Storage, data)
	return constant(v)
}

// Scalar returns an array without axes that holds value.
func Scalar[T dtype.Element](value T) *Array {
	v := NewView(Spec{DType: dtype.Of[T]()})
	buffer.As[T](v.Storage)[0] = value
	return constant(v)
}

// Full returns an array of the given shape in which every element is value,
// rounded once to t; for an integer type it is truncated towards zero and wraps.
// It takes no memory to speak of.
func Full(value float64, t dtype.Type, shape ...int) *Array {
	if err := checkShape(t, shape); err != nil {
		return Fail("full", err)
	}
	one := number(value, t)
	v, _ := one.view()
	v.Shape, v.Strides = slices.Clone(shape), make([]int, len(shape))
	return constant(v)
}

// Zeros returns an array of zeros.
func Zeros(t dtype.Type, shape ...int) *Array { return Full(0, t, shape...) }

// Ones returns an array of ones.
func Ones(t dtype.Type, shape ...int) *Array { return Full(1, t, shape...) }

// number is a scalar of type t.
func number(x float64, t dtype.Type) *Array {
	switch t {
	case dtype.Bool:
		return Scalar(x != 0)
	case dtype.Uint8:
		return Scalar(uint8(int64(x)))
	case dtype.Uint16:
		return Scalar(uint16(int64(x)))
	case dtype.Uint32:
		return Scalar(uint32(int64(x)))
	case dtype.Uint64:
		if x >= 1<<63 {
			return Scalar(uint64(x))
		}
		return Scalar(uint64(int64(x)))
	case dtype.Int8:
		return Scalar(int8(int64(x)))
	case dtype.Int16:
		return Scalar(int16(int64(x)))
	case dtype.Int32:
		return Scalar(int32(int64(x)))
	case dtype.Int64:
		return Scalar(int64(x))
	case dtype.Float16:
		return Scalar(dtype.F16From(x))
	case dtype.BFloat16:
		return Scalar(dtype.BF16From(x))
	case dtype.Float32:
		return Scalar(float32(x))
	case dtype.Complex64:
		return Scalar(complex(float32(x), 0))
	}
	return Scalar(x)
}

// constant is an array that has its value from the start.
func constant(v View) *Array {
	n := newNode(nil)
	n.kind.spec = v.Spec
	n.value.Store(&v)
	return (*Array)(n)
}

func checkShape(t dtype.Type, shape []int) error {
	if !t.Valid() {
		return fmt.Errorf("invalid element type %v", t)
	}
	for _, d := range shape {
		if d < 0 {
			return fmt.Errorf("shape %v has a negative length", shape)
		}
	}
	return checkSize(t, shape)
}

// checkSize refuses shapes whose elements no memory can hold, before an int
// overflows.
func checkSize(t dtype.Type, shape []int) error {
	bytes := t.Size()
	for _, d := range shape {
		if d > 0 && bytes > math.MaxInt/d {
			return fmt.Errorf("shape %v of %v is too large", shape, t)
		}
		bytes *= max(1, d)
	}
	return nil
}

// fill replaces a single -1 in shape so that it has size elements.
func fill(shape []int, size int) ([]int, error) {
	if err := checkSize(dtype.Bool, shape); err != nil {
		return nil, err
	}
	shape = slices.Clone(shape)
	open, known := -1, 1
	for i, d := range shape {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0:
			return nil, fmt.Errorf("shape %v: lengths are 0 or more, and one may be -1", shape)
		default:
			known *= d
		}
	}
	if open >= 0 && known > 0 && size%known == 0 {
		shape[open] = size / known
		return shape, nil
	}
	if open >= 0 || layout.Size(shape) != size {
		return nil, fmt.Errorf("%d elements do not fill shape %v", size, shape)
	}
	return shape, nil
}
