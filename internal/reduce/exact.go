package reduce

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// exact holds the folds of the types that need no wider accumulator.
var exact = [...][ops]func(acc, part []byte){
	dtype.Bool:   {Sum: or, Max: or, Min: and},
	dtype.Uint8:  integers[uint8](),
	dtype.Uint16: integers[uint16](),
	dtype.Uint32: integers[uint32](),
	dtype.Uint64: integers[uint64](),
	dtype.Int8:   integers[int8](),
	dtype.Int16:  integers[int16](),
	dtype.Int32:  integers[int32](),
	dtype.Int64:  integers[int64](),
}

type integer interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

func integers[T integer]() [ops]func(acc, part []byte) {
	return [ops]func(acc, part []byte){Sum: add[T], Max: largest[T], Min: smallest[T]}
}

func add[T integer](acc, part []byte) {
	a, x := buffer.As[T](acc), buffer.As[T](part)
	x = x[:len(a)]
	for i := range a {
		a[i] += x[i]
	}
}

func largest[T integer](acc, part []byte) {
	a, x := buffer.As[T](acc), buffer.As[T](part)
	x = x[:len(a)]
	for i := range a {
		a[i] = max(a[i], x[i])
	}
}

func smallest[T integer](acc, part []byte) {
	a, x := buffer.As[T](acc), buffer.As[T](part)
	x = x[:len(a)]
	for i := range a {
		a[i] = min(a[i], x[i])
	}
}

func or(acc, part []byte) {
	part = part[:len(acc)]
	for i := range acc {
		acc[i] |= part[i]
	}
}

func and(acc, part []byte) {
	part = part[:len(acc)]
	for i := range acc {
		acc[i] &= part[i]
	}
}

func addFloat32(acc, part []byte) {
	a, x := buffer.As[float32](acc), buffer.As[float32](part)
	x = x[:len(a)]
	for i := range a {
		a[i] = quiet32(a[i] + x[i])
	}
}
