package main

import (
	"fmt"
	"iter"

	"github.com/mmcloughlin/avo/attr"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// together computes several vectors, whose instructions take turns. Each waits for the one
// before it; those that wait fill the processor's queues, and with turns fewer do. Bodies with labels cannot
// take turns.
func (w *writer) together(f body, operands ...[]VecVirtual) []VecVirtual {
	results := make([]VecVirtual, len(operands))
	left := make([]func() (struct{}, bool), len(operands))
	for i, x := range operands {
		left[i], _ = iter.Pull(func(yield func(struct{}) bool) {
			turn := *w
			turn.element = w.element.then(func() { yield(struct{}{}) })
			results[i] = f(&turn, x)
		})
	}
	for len(left) > 0 {
		var after []func() (struct{}, bool)
		for _, next := range left {
			if _, ok := next(); ok {
				after = append(after, next)
			}
		}
		left = after
	}
	return results
}

// then is the element with f called after each instruction that computes.
func (e element) then(f func()) element {
	for _, o := range []*op{&e.add, &e.sub, &e.mul, &e.div, &e.min, &e.max, &e.and, &e.or, &e.andNot, &e.xor, &e.fma, &e.fma213, &e.fnma, &e.compare} {
		plain := *o
		*o = func(operands ...Op) {
			plain(operands...)
			f()
		}
	}
	return e
}

// operand is v in each element: a register that holds it, else memory for AVX2 and, which
// has registers to spare, a register for AVX-512.
func (w *writer) operand(v float64) Op { return w.patternOperand(w.element.bits(v)) }

func (w *writer) patternOperand(bits uint64) Op {
	if r, ok := w.kept[bits]; ok {
		return r
	}
	if w.letter == "Z" {
		return w.pattern(bits)
	}
	return repeated(w.element, bits)
}

// repeated is a vector of AVX2 with a pattern of bits in each element.
func repeated(e element, bits uint64) Mem {
	name := fmt.Sprintf("%sAll%0*x", e.prefix, 2*e.size, bits)
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := 0; i < ymm.bytes; i += e.size {
			if e.size == 4 {
				DATA(i, U32(bits))
			} else {
				DATA(i, U64(bits))
			}
		}
		constants[name] = m
	}
	return m
}

// loopTogether is loop with vectors that take turns. beyond, unless it is nil, says of
// which f knows nothing: these go to slow, one by one.
func (w *writer) loopTogether(next string, vectors int, n Register, pointers []Register, f, slow body, beyond func(x VecVirtual) VecVirtual) {
	const label = "together"
	Label(label)
	CMPQ(n, U32(vectors*w.lanes(w.element)))
	JLT(LabelRef(next))
	x := make([][]VecVirtual, vectors)
	for i := range x {
		x[i] = []VecVirtual{w.new()}
		w.move(Mem{Base: pointers[1], Disp: i * w.bytes}, x[i][0])
	}
	if beyond != nil {
		w.jumpIfAny(label+"Slow", x, beyond)
	}
	for i, r := range w.together(f, x...) {
		w.move(r, Mem{Base: pointers[0], Disp: i * w.bytes})
	}
	for _, p := range pointers {
		ADDQ(U32(vectors*w.bytes), p)
	}
	SUBQ(U32(vectors*w.lanes(w.element)), n)
	JMP(LabelRef(label))
	if beyond == nil {
		return
	}
	Label(label + "Slow")
	left := GP64()
	MOVQ(U32(vectors), left)
	Label(label + "One")
	one := w.new()
	w.move(Mem{Base: pointers[1]}, one)
	w.move(slow(w, []VecVirtual{one}), Mem{Base: pointers[0]})
	for _, p := range pointers {
		ADDQ(U32(w.bytes), p)
	}
	SUBQ(U32(w.lanes(w.element)), n)
	DECQ(left)
	JNZ(LabelRef(label + "One"))
	JMP(LabelRef(label))
}

// jumpIfAny jumps if an element of any vector is beyond, for which that is a mask.
func (w *writer) jumpIfAny(label string, x [][]VecVirtual, beyond func(x VecVirtual) VecVirtual) {
	var any VecVirtual
	for _, v := range x {
		m := beyond(v[0])
		if any != nil {
			w.or(m, any, any)
		} else {
			any = m
		}
	}
	VPTEST(any, any)
	JNZ(LabelRef(label))
}
