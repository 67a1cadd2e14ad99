package random

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// RandInt draws integers of type t from low up to but without high. The bias is
// at most (high-low)/2⁶⁴. An error if the range is empty or t does not hold it.
func RandInt(k Key, low, high int64, t dtype.Type, shape ...int) *array.Array {
	var err error
	least, greatest := limits(t)
	switch {
	case !t.IsInteger():
		err = fmt.Errorf("%v is not an integer type", t)
	case low >= high:
		err = fmt.Errorf("nothing from %d up to %d", low, high)
	case low < least || high-1 > greatest:
		err = fmt.Errorf("%v does not hold %d to %d", t, low, high-1)
	}
	return drawn(integers{low, high}, k, t, shape, err)
}

func limits(t dtype.Type) (least, greatest int64) {
	width := 8 * t.Size()
	switch {
	case t.IsUnsigned() && width < 64:
		return 0, 1<<width - 1
	case t.IsUnsigned():
		return 0, math.MaxInt64
	}
	return math.MinInt64 >> (64 - width), math.MaxInt64 >> (64 - width)
}

type integers struct{ low, high int64 }

func (integers) name() string { return "randint" }

func (p integers) fill(k Key, out array.View) {
	switch out.DType {
	case dtype.Uint8:
		fillIntegers[uint8](p, k, out)
	case dtype.Uint16:
		fillIntegers[uint16](p, k, out)
	case dtype.Uint32:
		fillIntegers[uint32](p, k, out)
	case dtype.Uint64:
		fillIntegers[uint64](p, k, out)
	case dtype.Int8:
		fillIntegers[int8](p, k, out)
	case dtype.Int16:
		fillIntegers[int16](p, k, out)
	case dtype.Int32:
		fillIntegers[int32](p, k, out)
	case dtype.Int64:
		fillIntegers[int64](p, k, out)
	}
}

func fillIntegers[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64](p integers, k Key, out array.View) {
	y := array.Elements[T](out)
	for i, w := range k.longWords(len(y)) {
		y[i] = T(p.low + int64(upTo(w, uint64(p.high)-uint64(p.low))))
	}
}

// upTo scales a random word to the range from 0 up to but without n.
func upTo(w, n uint64) uint64 {
	scaled, _ := bits.Mul64(w, n)
	return scaled
}

// Permutation draws an order of the numbers from 0 to n-1, as uint32.
func Permutation(k Key, n int) *array.Array {
	var err error
	if n < 0 {
		err = fmt.Errorf("%d numbers", n)
	}
	return drawn(permutation{}, k, dtype.Uint32, []int{n}, err)
}

// Shuffle draws an order of what lies along an axis of x and takes it in this
// order.
func Shuffle(k Key, x *array.Array, axis int) *array.Array {
	return x.Take(Permutation(k, x.Dim(axis)), axis)
}

type permutation struct{}

func (permutation) name() string { return "permutation" }

// fill is Fisher and Yates's shuffle.
func (permutation) fill(k Key, out array.View) {
	y := array.Elements[uint32](out)
	for i, w := range k.longWords(len(y)) {
		j := int(upTo(w, uint64(i)+1))
		y[i] = y[j]
		y[j] = uint32(i)
	}
}
