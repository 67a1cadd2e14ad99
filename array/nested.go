package array

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/lockstep-go/lockstep/dtype"
)

// Nested returns an array of a Go value that is written as it looks: a number, or
// slices or arrays of any depth that hold numbers, such as
//
//	array.Nested([][]float32{{1, 2}, {3, 4}})
//
// The element type is that of the numbers; Go's int gives int64. An error if
// rows of the same axis differ in length or the elements are of another type.
func Nested(v any) *Array {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return Fail("nested", errors.New("value is nil"))
	}
	shape, leaf := nestedShape(value)
	switch reflect.Zero(leaf).Interface().(type) {
	case bool:
		return nested[bool](value, shape)
	case uint8:
		return nested[uint8](value, shape)
	case uint16:
		return nested[uint16](value, shape)
	case uint32:
		return nested[uint32](value, shape)
	case uint64:
		return nested[uint64](value, shape)
	case int8:
		return nested[int8](value, shape)
	case int16:
		return nested[int16](value, shape)
	case int32:
		return nested[int32](value, shape)
	case int64, int:
		return nested[int64](value, shape)
	case dtype.F16:
		return nested[dtype.F16](value, shape)
	case dtype.BF16:
		return nested[dtype.BF16](value, shape)
	case float32:
		return nested[float32](value, shape)
	case float64:
		return nested[float64](value, shape)
	case complex64:
		return nested[complex64](value, shape)
	}
	return Fail("nested", fmt.Errorf("elements of type %v", leaf))
}

// nestedShape follows the first element of every axis. Below an empty one all
// lengths are zero.
func nestedShape(v reflect.Value) (shape []int, leaf reflect.Type) {
	leaf = v.Type()
	for leaf.Kind() == reflect.Slice || leaf.Kind() == reflect.Array {
		leaf = leaf.Elem()
		n := 0
		if v.IsValid() {
			n = v.Len()
		}
		shape = append(shape, n)
		if n > 0 {
			v = v.Index(0)
		} else {
			v = reflect.Value{}
		}
	}
	return shape, leaf
}

func nested[T dtype.Element](v reflect.Value, shape []int) *Array {
	data := make([]T, 0, Spec{Shape: shape}.Size())
	data, err := collect(data, v, shape)
	switch {
	case err != nil:
		return Fail("nested", err)
	case len(shape) == 0:
		return Scalar(data[0])
	}
	return From(data, shape...)
}

// collect appends the elements of v in row order.
func collect[T dtype.Element](data []T, v reflect.Value, shape []int) ([]T, error) {
	if len(shape) == 0 {
		return append(data, v.Convert(reflect.TypeFor[T]()).Interface().(T)), nil
	}
	if v.Len() != shape[0] {
		return nil, fmt.Errorf("a row has %d elements where the first one has %d", v.Len(), shape[0])
	}
	for i := range v.Len() {
		var err error
		if data, err = collect(data, v.Index(i), shape[1:]); err != nil {
			return nil, err
		}
	}
	return data, nil
}
