package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// dot writes the inner products of vectors, added up in as many lanes as four
// AVX-512 registers have, element i in lane i modulo their number, so that
// vectors of both widths give the same bits. The lanes are added in halves.
func dot() {
	for _, e := range []element{single, double} {
		for _, v := range []vector{ymm, zmm} {
			dotOf(e, v)
		}
	}
}

func dotOf(e element, v vector) {
	all := 256 / e.size
	w := start(e, v, e.prefix+"Dot"+v.letter, fmt.Sprintf("func(n int, x, y *%[1]s) %[1]s", e.goType),
		fmt.Sprintf("is the sum of x · y over n elements, a multiple of %d.", all))
	n, x, y := Load(Param("n"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	sums := zeros(v, 256/v.bytes)
	Label("lanes")
	CMPQ(n, U32(all))
	JLT(LabelRef("done"))
	for i, s := range sums {
		a := v.new()
		e.move(Mem{Base: x, Disp: i * v.bytes}, a)
		e.fma(Mem{Base: y, Disp: i * v.bytes}, a, s)
	}
	ADDQ(U32(256), x)
	ADDQ(U32(256), y)
	SUBQ(U32(all), n)
	JMP(LabelRef("lanes"))
	Label("done")
	for len(sums) > 1 {
		middle := len(sums) / 2
		for i := range middle {
			e.add(sums[middle+i], sums[i], sums[i])
		}
		sums = sums[:middle]
	}
	Store(w.joined(sums[0]), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// joined adds the elements of x in halves.
func (w *writer) joined(x VecVirtual) VecVirtual {
	y := YMM()
	if w.letter == "Z" {
		VEXTRACTF64X4(U8(1), x, y)
		w.add(y, x.AsY(), y)
	} else {
		VMOVUPS(x, y)
	}
	r, other := XMM(), XMM()
	VEXTRACTF128(U8(1), y, r)
	w.add(r, y.AsX(), r)
	VUNPCKHPD(r, r, other)
	w.add(other, r, r)
	if w.size == 4 {
		VMOVSHDUP(r, other)
		VADDSS(other, r, r)
	}
	return r
}
