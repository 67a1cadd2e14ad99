package main

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

var floats = []dtype.Type{dtype.Float32, dtype.Float64}

func (s sized) arithmetic() []*workload {
	var all []*workload
	for _, t := range floats {
		for _, op := range []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Maximum, kernel.Minimum} {
			all = append(all, s.binary(op, t))
		}
		for _, op := range []kernel.Op{kernel.Neg, kernel.Abs, kernel.Square, kernel.Sqrt, kernel.Rsqrt, kernel.Reciprocal} {
			all = append(all, s.unary(op, t))
		}
		all = append(all, s.where(t))
	}
	return all
}

func (s sized) functions() []*workload {
	var all []*workload
	for _, t := range floats {
		for _, op := range []kernel.Op{kernel.Exp, kernel.Log, kernel.Tanh, kernel.Erf, kernel.Sigmoid, kernel.Gelu} {
			all = append(all, s.unary(op, t))
		}
	}
	return all
}

func (s sized) binary(op kernel.Op, t dtype.Type) *workload {
	return s.row(string(op), t, 3, func(a *arena, n int) func() {
		loop, _ := kernel.Binary(op, t)
		in := [][]byte{a.filled(t, n), a.filled(t, n)}
		out := a.bytes(n * t.Size())
		return each(loop, t, out, in)
	})
}

func (s sized) unary(op kernel.Op, t dtype.Type) *workload {
	return s.row(string(op), t, 2, func(a *arena, n int) func() {
		loop, _ := kernel.Unary(op, t)
		in := [][]byte{fill(a.bytes(n*t.Size()), t, op == kernel.Log)}
		out := a.bytes(n * t.Size())
		return each(loop, t, out, in)
	})
}

// each runs a loop as arrays do, which shares large ones out.
func each(loop kernel.Loop, t dtype.Type, out []byte, in [][]byte) func() {
	var operands []kernel.Operand
	for _, x := range in {
		operands = append(operands, kernel.Operand{Storage: x, Size: t.Size(), Strides: []int{1}})
	}
	shape := []int{len(in[0]) / t.Size()}
	return func() { kernel.Each(loop, out, len(out)/shape[0], shape, operands) }
}

func (s sized) where(t dtype.Type) *workload {
	arrays := 3 + 1/float64(t.Size())
	return s.row("where", t, arrays, func(a *arena, n int) func() {
		x, y, z, yes := a.filled(t, n), a.filled(t, n), a.bytes(n*t.Size()), a.bytes(n)
		for i := range yes {
			yes[i] = byte(uint32(i) * 2654435761 >> 13 & 1)
		}
		operands := []kernel.Operand{
			{Storage: yes, Size: 1, Strides: []int{1}},
			{Storage: x, Size: t.Size(), Strides: []int{1}}, {Storage: y, Size: t.Size(), Strides: []int{1}},
		}
		loop := kernel.Select(t.Size())
		return func() { kernel.Each(loop, z, t.Size(), []int{n}, operands) }
	})
}

// halves has the conversions, which read or write float32, and arithmetic.
func (s sized) halves() []*workload {
	var all []*workload
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16} {
		all = append(all,
			s.row("widen", t, 3, func(a *arena, n int) func() {
				x, y := a.filled(t, n), buffer.As[float32](a.bytes(4*n))
				return func() { kernel.Widen(t, y, x) }
			}),
			s.narrow(t), s.binary(kernel.Add, t), s.binary(kernel.Mul, t))
	}
	return all
}

func (s sized) narrow(t dtype.Type) *workload {
	w := s.row("narrow", dtype.Float32, 1.5, func(a *arena, n int) func() {
		x, y := buffer.As[float32](a.filled(dtype.Float32, n)), a.bytes(2*n)
		return func() { kernel.Narrow(t, y, x) }
	})
	w.name, w.reference = "narrow "+t.String(), "narrow"+suffixes[t]
	return w
}
