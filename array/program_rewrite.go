package array

import (
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// rewrite puts one kernel in the place of operations that it computes bit for bit:
// z/2 · (1 + erf(z/√2)), written as the product of z·0.5 and 1 + erf(z·√½), is Gelu.
// What lies between must have no other reader.
func (b *programBuilder) rewrite() {
	readers := make([]int, len(b.stores))
	for _, op := range b.ops {
		for _, v := range op.in {
			readers[v.store]++
		}
	}
	r := rewriter{b, readers}
	for _, op := range b.ops {
		if z, ok := r.gelu(op); ok {
			p := unary{op: kernel.Gelu}
			*op = operation{prim: p, loop: p.loop([]Spec{z.Spec}), in: []value{z}, out: op.out}
		}
	}
	b.removeUnread()
}

type rewriter struct {
	*programBuilder
	readers []int
}

// made returns the operands of the operation that makes v for one reader alone.
func (r rewriter) made(v value, op kernel.Op) ([]value, bool) {
	s := r.stores[v.store]
	if s.maker < 0 || s.kind != inArena || r.readers[v.store] != 1 {
		return nil, false
	}
	maker := r.ops[s.maker]
	switch p := maker.prim.(type) {
	case *binary:
		return maker.in, p.op == op
	case unary:
		return maker.in, p.op == op
	}
	return nil, false
}

// scaled returns the operand of an operation whose other one is a fixed number.
func (r rewriter) scaled(v value, op kernel.Op, number float64) (value, bool) {
	in, ok := r.made(v, op)
	if !ok || len(in) != 2 || !r.isNumber(in[1], number) {
		return value{}, false
	}
	return in[0], true
}

// isNumber reports whether v repeats the number, as rounded to its type.
func (r rewriter) isNumber(v value, number float64) bool {
	s := r.stores[v.store]
	if s.kind != isFixed || slices.ContainsFunc(v.Strides, func(stride int) bool { return stride != 0 }) {
		return false
	}
	switch v.DType {
	case dtype.Float32:
		return buffer.As[float32](s.fixed)[v.Offset] == float32(number)
	case dtype.Float64:
		return buffer.As[float64](s.fixed)[v.Offset] == number
	}
	return false
}

func (r rewriter) gelu(op *operation) (z value, ok bool) {
	if p, isBinary := op.prim.(*binary); !isBinary || p.op != kernel.Mul {
		return z, false
	}
	half, ok := r.scaled(op.in[0], kernel.Mul, 0.5)
	if !ok {
		return z, false
	}
	sum, ok := r.scaled(op.in[1], kernel.Add, 1)
	if !ok {
		return z, false
	}
	arg, ok := r.made(sum, kernel.Erf)
	if !ok {
		return z, false
	}
	z, ok = r.scaled(arg[0], kernel.Mul, math.Sqrt2/2)
	return z, ok && sameView(half, z)
}

// removeUnread takes out operations whose results nobody reads any more, and numbers the
// others anew.
func (b *programBuilder) removeUnread() {
	read := make([]bool, len(b.stores))
	kept := make([]bool, len(b.ops))
	for i, op := range slices.Backward(b.ops) {
		kept[i] = slices.ContainsFunc(op.out, func(v value) bool { return read[v.store] || b.stores[v.store].kind == inResult })
		if _, fallible := op.prim.(Fallible); fallible {
			kept[i] = true
		}
		if kept[i] {
			for _, v := range op.in {
				read[v.store] = true
			}
		}
	}
	var ops []*operation
	for i, op := range b.ops {
		if !kept[i] {
			for _, v := range op.out {
				b.stores[v.store].kind = inRegister
			}
			continue
		}
		for _, v := range op.out {
			b.stores[v.store].maker = len(ops)
		}
		ops = append(ops, op)
	}
	b.ops = ops
}
