package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
)

// Values computes x if need be and returns a copy of its elements in row order.
// T must be x's element type: values are not converted. It may wait for peers as
// Eval does.
func Values[T dtype.Element](ctx context.Context, x *Array) ([]T, error) {
	if err := Eval(ctx, x); err != nil {
		return nil, err
	}
	v, ok := x.view()
	if !ok {
		return nil, newOpError("values", ErrDonated)
	}
	if want := dtype.Of[T](); v.DType != want {
		return nil, newOpError("values", fmt.Errorf("array is %v, not %v", v.DType, want))
	}
	v = v.Contiguous()
	defer v.keep()
	return slices.Clone(Elements[T](v)), nil
}

// Item computes x if need be and returns its only element. T must be x's element
// type.
func Item[T dtype.Element](ctx context.Context, x *Array) (T, error) {
	var zero T
	if err := x.Err(); err != nil {
		Eval(ctx, x) // tells peers that wait for collectives of x
		return zero, err
	}
	if x.Size() != 1 {
		return zero, newOpError("item", fmt.Errorf("array has shape %v, not one element", x.Shape()))
	}
	values, err := Values[T](ctx, x)
	if err != nil {
		return zero, err
	}
	return values[0], nil
}

// Bytes computes x if need be and returns a copy of its elements as
// little-endian bytes in row order.
func Bytes(ctx context.Context, x *Array) ([]byte, error) {
	if err := Eval(ctx, x); err != nil {
		return nil, err
	}
	v, ok := x.view()
	if !ok {
		return nil, newOpError("bytes", ErrDonated)
	}
	v = v.Contiguous()
	defer v.keep()
	return slices.Clone(v.Bytes()), nil
}
