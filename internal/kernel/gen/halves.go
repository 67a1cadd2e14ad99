package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// halves writes the conversions of half precision. They handle whole vectors of 8
// or 16 elements; n is a multiple of that.
func halves() {
	for _, v := range []vector{ymm, zmm} {
		for _, h := range []half{{"F16", fromF16, (*writer).toF16}, {"BF16", fromBF16, (*writer).toBF16}} {
			widen(v, h)
			narrow(v, h)
			h.arithmetic(v, "add", single.add)
			h.arithmetic(v, "sub", single.sub)
			h.arithmetic(v, "mul", single.mul)
		}
	}
}

// half is a type of half precision.
type half struct {
	name  string
	wider func(from Mem, to VecVirtual)
	round func(w *writer, x VecVirtual) VecVirtual // to half as wide a register
}

func fromF16(from Mem, to VecVirtual) { VCVTPH2PS(from, to) }

func fromBF16(from Mem, to VecVirtual) {
	VPMOVZXWD(from, to)
	VPSLLD(U8(16), to, to)
}

func (w *writer) toF16(x VecVirtual) VecVirtual {
	r := map[string]func() VecVirtual{"Y": XMM, "Z": YMM}[w.letter]()
	VCVTPS2PH(U8(0), w.where(isUnordered, x, x, w.pattern(0x7fc00000), x), r)
	return r
}

func (w *writer) toBF16(x VecVirtual) VecVirtual { return w.words(w.roundToBF16(x)) }

// arithmetic writes an operation of two operands, computed in float32.
func (h half) arithmetic(v vector, name string, f op) {
	w := start(single, v, name+h.name+v.letter, "func(n int, z, x, y *uint16)",
		fmt.Sprintf("computes n elements, a multiple of %d, in float32 and rounds them.", v.lanes(single)))
	w.keepForRounding()
	n, z := Load(Param("n"), GP64()), Load(Param("z"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	width := v.lanes(single)
	Label("vector")
	CMPQ(n, U32(width))
	JLT(LabelRef("done"))
	a, b := v.new(), v.new()
	h.wider(Mem{Base: x}, a)
	h.wider(Mem{Base: y}, b)
	VMOVUPS(h.round(w, w.do2(f, a, b)), Mem{Base: z})
	for _, p := range []Register{x, y, z} {
		ADDQ(U32(2*width), p)
	}
	SUBQ(U32(width), n)
	JMP(LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

// keepForRounding holds the constants of rounding in registers.
func (w *writer) keepForRounding() {
	for _, bits := range []uint64{1, 0x7fff, 0x7fc0, 0x7fc00000} {
		w.keep(bits)
	}
}

func widen(v vector, h half) {
	w := start(single, v, "widen"+h.name+v.letter, "func(n int, y *float32, x *uint16)",
		fmt.Sprintf("writes n elements, a multiple of %d, as float32 to y.", v.lanes(single)))
	w.convert(2, 4, func(from, to Mem) {
		r := w.new()
		h.wider(from, r)
		w.move(r, to)
	})
}

// narrow gives the canonical NaN for every NaN.
func narrow(v vector, h half) {
	w := start(single, v, "narrow"+h.name+v.letter, "func(n int, y *uint16, x *float32)",
		fmt.Sprintf("rounds n elements, a multiple of %d, to nearest even.", v.lanes(single)))
	w.keepForRounding()
	w.convert(4, 2, func(from, to Mem) {
		x := w.new()
		w.move(from, x)
		VMOVUPS(h.round(w, x), to)
	})
}

// convert walks elements of the given sizes.
func (w *writer) convert(fromSize, toSize int, f func(from, to Mem)) {
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	width := w.lanes(single)
	Label("vector")
	CMPQ(n, U32(width))
	JLT(LabelRef("done"))
	f(Mem{Base: x}, Mem{Base: y})
	ADDQ(U32(width*fromSize), x)
	ADDQ(U32(width*toSize), y)
	SUBQ(U32(width), n)
	JMP(LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

// roundToBF16 leaves the rounded upper half of each float32 in its lower half, and
// of a NaN the canonical one.
func (w *writer) roundToBF16(x VecVirtual) VecVirtual {
	odd := w.new()
	VPSRLD(U8(16), x, odd)
	w.integer(VPANDD, VPAND, w.pattern(1), odd, odd)
	VPADDD(w.pattern(0x7fff), odd, odd)
	VPADDD(x, odd, odd)
	VPSRLD(U8(16), odd, odd)
	return w.where(isUnordered, x, x, w.pattern(0x7fc0), odd)
}

// integer is an instruction that has another name for AVX-512.
func (w *writer) integer(z op, y func(mxy, xy, xy1 Op), a, b, to VecVirtual) {
	if w.letter == "Z" {
		z(a, b, to)
	} else {
		y(a, b, to)
	}
}

// words packs the lower halves of 32-bit elements.
func (w *writer) words(x VecVirtual) VecVirtual {
	if w.letter == "Z" {
		r := YMM()
		VPMOVDW(x, r)
		return r
	}
	low, high := XMM(), XMM()
	VEXTRACTI128(U8(1), x, high)
	VEXTRACTI128(U8(0), x, low)
	VPACKUSDW(high, low, low)
	return low
}
