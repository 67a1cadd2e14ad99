package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// choices writes the choice between two operands by bytes that are 0 or 1.
func choices() {
	for _, v := range []vector{ymm, zmm} {
		for _, e := range []element{single, double} {
			choice(e, v)
		}
	}
}

func choice(e element, v vector) {
	bits := 8 * e.size
	w := start(e, v, fmt.Sprintf("choose%d%s", bits, v.letter), fmt.Sprintf("func(n int, z *uint%[1]d, yes *byte, x, y *uint%[1]d)", bits),
		"writes x where yes is not 0 and else y, of n elements, a multiple of 16.")
	n, z, yes := Load(Param("n"), GP64()), Load(Param("z"), GP64()), Load(Param("yes"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	lanes := v.lanes(e)
	for _, many := range []int{64, 16} {
		label := fmt.Sprintf("elements%d", many)
		Label(label)
		CMPQ(n, U32(many))
		JLT(LabelRef(label + "Done"))
		for i := 0; i < many; i += lanes {
			at := i * e.size
			w.chosen(Mem{Base: yes, Disp: i}, Mem{Base: x, Disp: at}, Mem{Base: y, Disp: at}, Mem{Base: z, Disp: at})
		}
		ADDQ(U32(many), yes)
		for _, p := range []Register{x, y, z} {
			ADDQ(U32(many*e.size), p)
		}
		SUBQ(U32(many), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	VZEROUPPER()
	RET()
}

// chosen handles one vector.
func (w *writer) chosen(yes, x, y, z Mem) {
	mask, r := w.new(), w.new()
	if w.size == 4 {
		VPMOVZXBD(yes, mask)
	} else {
		VPMOVZXBQ(yes, mask)
	}
	if w.letter == "Z" {
		k := K()
		if w.size == 4 {
			VPTESTMD(mask, mask, k)
		} else {
			VPTESTMQ(mask, mask, k)
		}
		w.move(y, r)
		w.move(x, k, r)
	} else {
		// The blend looks at the sign alone.
		if w.size == 4 {
			VPSLLD(U8(31), mask, mask)
		} else {
			VPSLLQ(U8(63), mask, mask)
		}
		w.move(y, r)
		w.blendY(mask, x, r, r)
	}
	w.move(r, z)
}
