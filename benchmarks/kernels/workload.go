package main

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// workload is a row of the table.
type workload struct {
	name, size string
	element    int // bytes of an element
	m, k, n    int // a product; element-wise: 1, elements, 1
	work       float64
	unit       string  // of work in a nanosecond
	wanted     float64 // ratio
	prepare    func() func()
}

func cases() []*workload {
	var all []*workload
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float64} {
		for _, s := range [][3]int{
			{128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {128, 784, 512}, {2048, 128, 512},
			{1024, 64, 64}, {1024, 64, 256}, {64, 16, 64}, {64, 64, 16},
		} {
			all = append(all, product(t, s[0], s[1], s[2], 0.72))
		}
		all = append(all, vectorProduct(t, 4096, 4096))
	}
	for _, bytes := range []int{64 << 10, 16 << 20} {
		all = append(all, elementwise(bytes)...)
	}
	return all
}

var letters = map[dtype.Type]string{dtype.Float32: "s", dtype.Float64: "d"}

func product(t dtype.Type, m, k, n int, wanted float64) *workload {
	return &workload{
		name: letters[t] + "gemm", size: fmt.Sprintf("%dx%dx%d", m, k, n), element: t.Size(), m: m, k: k, n: n,
		work: 2 * float64(m) * float64(k) * float64(n), unit: "GF/s", wanted: wanted,
		prepare: func() func() {
			a, b := kernel.Matrix{Data: fill(t, m*k), Stride: k}, kernel.Matrix{Data: fill(t, k*n), Stride: n}
			c := buffer.Make(m * n * t.Size())
			return func() { kernel.MatMul(t, m, n, k, a, b, c) }
		},
	}
}

func vectorProduct(t dtype.Type, m, k int) *workload {
	w := product(t, m, k, 1, 0.8)
	w.name = letters[t] + "gemv"
	w.work, w.unit = float64(m*k*t.Size()), "GB/s"
	return w
}

func elementwise(bytes int) []*workload {
	var all []*workload
	row := func(name string, t dtype.Type, arrays int, prepare func(n int) func()) {
		n := bytes / t.Size()
		all = append(all, &workload{
			name: name, size: fmt.Sprintf("%d KiB", bytes>>10), element: t.Size(), m: 1, k: n, n: 1,
			work: float64(arrays * bytes), unit: "GB/s", wanted: 0.9, prepare: func() func() { return prepare(n) },
		})
	}
	for _, c := range []struct {
		name string
		op   kernel.Op
		t    dtype.Type
	}{
		{"add32", kernel.Add, dtype.Float32}, {"add64", kernel.Add, dtype.Float64},
		{"mul32", kernel.Mul, dtype.Float32}, {"div32", kernel.Div, dtype.Float32},
		{"max32", kernel.Maximum, dtype.Float32}, {"max64", kernel.Maximum, dtype.Float64},
		{"addf16", kernel.Add, dtype.Float16}, {"addbf16", kernel.Add, dtype.BFloat16},
	} {
		row(c.name, c.t, 3, func(n int) func() {
			loop, _ := kernel.Binary(c.op, c.t)
			out, in := buffer.Make(n*c.t.Size()), [][]byte{fill(c.t, n), fill(c.t, n)}
			return func() { loop(out, in) }
		})
	}
	for _, c := range []struct {
		name string
		op   kernel.Op
		t    dtype.Type
	}{
		{"sqrt32", kernel.Sqrt, dtype.Float32}, {"sqrt64", kernel.Sqrt, dtype.Float64},
		{"exp32", kernel.Exp, dtype.Float32}, {"exp64", kernel.Exp, dtype.Float64},
		{"tanh32", kernel.Tanh, dtype.Float32}, {"erf32", kernel.Erf, dtype.Float32},
	} {
		row(c.name, c.t, 2, func(n int) func() {
			loop, _ := kernel.Unary(c.op, c.t)
			out, in := buffer.Make(n*c.t.Size()), [][]byte{fill(c.t, n)}
			return func() { loop(out, in) }
		})
	}
	row("sum32", dtype.Float32, 1, sum(dtype.Float32))
	row("sum64", dtype.Float64, 1, sum(dtype.Float64))
	row("softmax32", dtype.Float32, 2, func(n int) func() {
		x, y := fill(dtype.Float32, n), buffer.Make(4*n)
		return func() { kernel.Rows(kernel.Softmax, dtype.Float32, y, x, 1024) }
	})
	return all
}

func sum(t dtype.Type) func(n int) func() {
	return func(n int) func() {
		x, y := kernel.Operand{Storage: fill(t, n), Size: t.Size(), Strides: []int{1}}, buffer.Make(t.Size())
		return func() { kernel.Reduce(kernel.Sum, t, y, t, x, []int{n}, []int{0}) }
	}
}

// fill makes the numbers that the reference has too.
func fill(t dtype.Type, n int) []byte {
	b := buffer.Make(n * t.Size())
	for i := range n {
		v := (float64(uint32(i)*2654435761%4093) - 2046) / 1024
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
