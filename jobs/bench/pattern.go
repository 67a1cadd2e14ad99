package main

import (
	"encoding/binary"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// period is after how many elements values come again: a prime, so that no slice
// begins as its neighbour does.
const period = 61

// element is the value at index i of what stands for salt, mostly a rank: 0 to 4,
// so that sums are exact in every type.
func element(i, salt int) int64 { return int64((i%period*7 + salt*3) % 5) }

// filled is size bytes of elements, of which the first has index first.
func filled(t dtype.Type, size, first, salt int) []byte {
	return tiled(t, size, first, func(i int) int64 { return element(i, salt) })
}

// summed is the sum of what all ranks give with their rank as salt.
func summed(t dtype.Type, size, first, ranks int) []byte {
	return tiled(t, size, first, func(i int) (sum int64) {
		for rank := range ranks {
			sum += element(i, rank)
		}
		return sum
	})
}

// tiled repeats the elements of one period.
func tiled(t dtype.Type, size, first int, value func(i int) int64) []byte {
	var tile []byte
	for i := range period {
		tile = encode(tile, t, value((first+i)%period))
	}
	data := make([]byte, size)
	for done := 0; done < size; {
		done += copy(data[done:], tile)
	}
	return data
}

// encode appends one element. What is not 0 is true.
func encode(to []byte, t dtype.Type, v int64) []byte {
	order := binary.LittleEndian
	switch t {
	case dtype.Bool:
		return append(to, byte(min(1, v)))
	case dtype.Float16:
		return order.AppendUint16(to, uint16(dtype.F16From(float64(v))))
	case dtype.BFloat16:
		return order.AppendUint16(to, uint16(dtype.BF16From(float64(v))))
	case dtype.Float32:
		return order.AppendUint32(to, math.Float32bits(float32(v)))
	case dtype.Float64:
		return order.AppendUint64(to, math.Float64bits(float64(v)))
	case dtype.Complex64:
		return order.AppendUint64(to, uint64(math.Float32bits(float32(v))))
	}
	return append(to, order.AppendUint64(nil, uint64(v))[:t.Size()]...)
}
