package main

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

var letters = map[dtype.Type]string{dtype.Float32: "s", dtype.Float64: "d"}

// products are those of the list, whose median counts too, and others that layers
// compute.
func products() []*workload {
	var all []*workload
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float64} {
		for _, s := range [][3]int{
			{128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {128, 784, 512}, {2048, 128, 512},
		} {
			w := product(t, "gemm", s[0], s[1], s[2], 0.72)
			w.list = letters[t] + "gemm"
			all = append(all, w)
		}
		for _, s := range [][3]int{{1024, 64, 64}, {1024, 64, 256}, {64, 16, 64}, {64, 64, 16}} {
			all = append(all, product(t, "gemm", s[0], s[1], s[2], 0.72))
		}
		all = append(all,
			vectorProduct(t, "gemv", 4096, 4096, 1), vectorProduct(t, "gemv", 256, 256, 1),
			vectorProduct(t, "gevm", 1, 4096, 4096), vectorProduct(t, "gevm", 1, 256, 256))
	}
	return all
}

func product(t dtype.Type, name string, m, k, n int, wanted float64) *workload {
	name = letters[t] + name
	return &workload{
		name: name, size: fmt.Sprintf("%dx%dx%d", m, k, n), reference: name, element: t.Size(), m: m, k: k, n: n,
		work: 2 * float64(m) * float64(k) * float64(n), unit: "GF/s", wanted: wanted,
		prepare: func(a *arena) func() {
			x, y := kernel.Matrix{Data: a.filled(t, m*k), Stride: k}, kernel.Matrix{Data: a.filled(t, k*n), Stride: n}
			z := a.bytes(m * n * t.Size())
			return func() { kernel.MatMul(t, m, n, k, x, y, z) }
		},
	}
}

// vectorProduct is a matrix times a column, or a row times a matrix.
func vectorProduct(t dtype.Type, name string, m, k, n int) *workload {
	w := product(t, name, m, k, n, 0.8)
	w.work, w.unit = float64(m*k*n*t.Size()), "GB/s"
	return w
}
