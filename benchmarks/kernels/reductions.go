package main

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// length is that of the rows of which functions are computed and whose columns
// are added.
const length = 1024

func (s sized) reductions() []*workload {
	var all []*workload
	for _, t := range floats {
		for _, r := range []kernel.Reduction{kernel.Sum, kernel.Max} {
			all = append(all,
				s.row(string(r), t, 1, func(a *arena, n int) func() { return reduce(r, t, a, []int{n}, []int{1}) }),
				s.row(string(r)+"_columns", t, 1, func(a *arena, n int) func() {
					return reduce(r, t, a, []int{n / length, length}, []int{length, 1})
				}))
		}
	}
	return all
}

// reduce folds the first axis.
func reduce(r kernel.Reduction, t dtype.Type, a *arena, shape, strides []int) func() {
	n := shape[0] * strides[0]
	x := kernel.Operand{Storage: a.filled(t, n), Size: t.Size(), Strides: strides}
	y := a.bytes(n / shape[0] * t.Size())
	return func() { kernel.Reduce(r, t, y, t, x, shape, []int{0}) }
}

func (s sized) rows() []*workload {
	var all []*workload
	for _, t := range floats {
		for _, op := range []kernel.RowOp{kernel.Softmax, kernel.LogSoftmax, kernel.LogSumExp} {
			arrays := 2.0
			if op == kernel.LogSumExp {
				arrays = 1
			}
			all = append(all, s.row(string(op), t, arrays, func(a *arena, n int) func() {
				x, y := a.filled(t, n), a.bytes(n*t.Size())
				if op == kernel.LogSumExp {
					y = y[:n/length*t.Size()]
				}
				return func() { kernel.Rows(op, t, y, x, length) }
			}))
		}
		all = append(all, s.row("layer_norm", t, 2, func(a *arena, n int) func() {
			x, y, scale := a.filled(t, n), a.bytes(n*t.Size()), a.bytes(n/length*t.Size())
			return func() { kernel.Normalize(t, y, scale, x, length, 1e-5, true) }
		}))
	}
	return all
}
