package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// casts writes the conversions between float32 and float64.
func casts() {
	for _, v := range []vector{ymm, zmm} {
		cast(v, "widenSingle", single, double, func(from Mem, w *writer) Op {
			r := w.new()
			VCVTPS2PD(from, r)
			return r
		})
		cast(v, "narrowDouble", double, single, func(from Mem, w *writer) Op {
			if v.letter == "Z" {
				r := YMM()
				VCVTPD2PS(from, r)
				return r
			}
			r := XMM()
			VCVTPD2PSY(from, r)
			return r
		})
	}
}

// cast writes a conversion of as many elements at a time as a vector of float64
// has.
func cast(v vector, name string, from, to element, f func(from Mem, w *writer) Op) {
	w := start(double, v, name+v.letter, fmt.Sprintf("func(n int, y *%s, x *%s)", to.goType, from.goType),
		fmt.Sprintf("converts n elements, a multiple of %d, to nearest even.", v.lanes(double)))
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	lanes := v.lanes(double)
	for _, many := range []int{4, 1} {
		label := fmt.Sprintf("vectors%d", many)
		Label(label)
		CMPQ(n, U32(many*lanes))
		JLT(LabelRef(label + "Done"))
		for i := range many {
			VMOVUPS(f(Mem{Base: x, Disp: i * lanes * from.size}, w), Mem{Base: y, Disp: i * lanes * to.size})
		}
		ADDQ(U32(many*lanes*from.size), x)
		ADDQ(U32(many*lanes*to.size), y)
		SUBQ(U32(many*lanes), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	VZEROUPPER()
	RET()
}
