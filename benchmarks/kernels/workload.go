package main

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// workload is a row of the table.
type workload struct {
	name, size string
	reference  string  // what the reference calls it
	element    int     // bytes of an element of the first operand
	m, k, n    int     // a product; element-wise: 1, elements, 1
	work       float64 // of one run
	unit       string  // of work in a nanosecond
	wanted     float64 // ratio
	list       string  // the list whose median counts too
	prepare    func(a *arena) func()
}

func cases() []*workload {
	all := products()
	for _, bytes := range []int{64 << 10, 16 << 20} {
		size := sized{bytes}
		all = append(all, size.arithmetic()...)
		all = append(all, size.functions()...)
		all = append(all, size.reductions()...)
		all = append(all, size.rows()...)
		all = append(all, size.halves()...)
	}
	return all
}

// sized makes rows whose first operand has so many bytes.
type sized struct{ bytes int }

// row has arrays as many times the bytes of x to read and write.
func (s sized) row(name string, t dtype.Type, arrays float64, prepare func(a *arena, n int) func()) *workload {
	n := s.bytes / t.Size()
	return &workload{
		name: name + " " + t.String(), size: fmt.Sprintf("%d KiB", s.bytes>>10), reference: name + suffixes[t],
		element: t.Size(), m: 1, k: n, n: 1, work: arrays * float64(s.bytes), unit: "GB/s", wanted: 0.9,
		prepare: func(a *arena) func() { return prepare(a, n) },
	}
}

var suffixes = map[dtype.Type]string{dtype.Float32: "32", dtype.Float64: "64", dtype.Float16: "_f16", dtype.BFloat16: "_bf16"}

// fill writes the numbers that the reference has too.
func fill(b []byte, t dtype.Type, positive bool) []byte {
	for i := range len(b) / t.Size() {
		v := (float64(uint32(i)*2654435761%4093) - 2046) / 1024
		if positive {
			v = max(v, -v) + 0.5
		}
		switch t {
		case dtype.Float32:
			buffer.As[float32](b)[i] = float32(v)
		case dtype.Float64:
			buffer.As[float64](b)[i] = v
		default:
			buffer.As[uint16](b)[i] = uint16(0x3c00 + i%512)
		}
	}
	return b
}
