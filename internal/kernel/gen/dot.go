package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// dot writes the inner products of rows and a vector, added up in as many lanes as
// four AVX-512 registers have, element i in lane i modulo their number, so that
// vectors of both widths give the same bits. The lanes are added in halves.
func dot() {
	for _, e := range []element{single, double} {
		for _, v := range []vector{ymm, zmm} {
			dotRows(e, v)
			addRows(e, v)
		}
	}
}

func dotRows(e element, v vector) {
	all := 256 / e.size
	w := start(e, v, e.prefix+"DotRows"+v.letter, fmt.Sprintf("func(m, n int, a *%[1]s, stride int, x, y *%[1]s)", e.goType),
		fmt.Sprintf("writes the sums of a · x over n > 0 elements, a multiple of %d, of m rows of a, stride elements apart, to y.", all))
	m, a, down := Load(Param("m"), GP64()), Load(Param("a"), GP64()), stride(e, "stride")
	y := Load(Param("y"), GP64())
	together := []int{4, 1}
	if v.letter == "Y" {
		together = []int{1} // there are no registers for more
	}
	for _, rows := range together {
		label := fmt.Sprintf("rows%d", rows)
		Label(label)
		CMPQ(m, U32(rows))
		JLT(LabelRef(label + "Done"))
		w.dotsOf(label, rows, all, a, down, y)
		for range rows {
			ADDQ(down, a)
		}
		ADDQ(U32(rows*e.size), y)
		SUBQ(U32(rows), m)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	VZEROUPPER()
	RET()
}

// dotsOf handles some rows at once.
func (w *writer) dotsOf(label string, rows, all int, a, down, y Register) {
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	at := make([]Register, rows)
	sums := make([][]VecVirtual, rows)
	for r := range at {
		at[r] = GP64()
		if r == 0 {
			MOVQ(a, at[r])
		} else {
			LEAQ(Mem{Base: at[r-1], Index: down, Scale: 1}, at[r])
		}
		sums[r] = zeros(w.vector, 256/w.bytes)
	}
	Label(label + "Lanes")
	for i := range sums[0] {
		v := w.new()
		w.move(Mem{Base: x, Disp: i * w.bytes}, v)
		for r := range at {
			w.fma(Mem{Base: at[r], Disp: i * w.bytes}, v, sums[r][i])
		}
	}
	for _, p := range append(at, x) {
		ADDQ(U32(256), p)
	}
	SUBQ(U32(all), n)
	JNZ(LabelRef(label + "Lanes"))
	for r, s := range sums {
		for len(s) > 1 {
			middle := len(s) / 2
			for i := range middle {
				w.add(s[middle+i], s[i], s[i])
			}
			s = s[:middle]
		}
		to := Mem{Base: y, Disp: r * w.size}
		if w.size == 4 {
			VMOVSS(w.joined(s[0]), to)
		} else {
			VMOVSD(w.joined(s[0]), to)
		}
	}
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

// addRows writes the sum of rows, each times a number, as chains of fused
// multiply-adds. The rows are walked four at a time as they lie, and their sum
// stays in the first cache.
func addRows(e element, v vector) {
	w := start(e, v, e.prefix+"AddRows"+v.letter, fmt.Sprintf("func(n, rows int, b *%[1]s, stride int, x *%[1]s, step int, acc *%[1]s, ahead int)", e.goType),
		fmt.Sprintf("adds n elements, a multiple of %d, of each of rows rows, stride elements apart and times one of x, step elements apart, to acc.", v.lanes(e)))
	x, xStep := Load(Param("x"), GP64()), stride(e, "step")
	var factors []VecVirtual
	columnsOf(w, "b", e, v.lanes(e), func(count int) {
		factors = nil
		for range count {
			f := v.new()
			e.broadcast(Mem{Base: x}, f)
			ADDQ(xStep, x)
			factors = append(factors, f)
		}
	}, func(row, _ int, from Mem, acc VecVirtual) { e.fma(from, factors[row], acc) })
	VZEROUPPER()
	RET()
}
