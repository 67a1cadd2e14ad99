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
	VCVTPS2PH(U8(0), x, r)
	return r
}

func (w *writer) toBF16(x VecVirtual) VecVirtual { return w.words(w.roundToBF16(x)) }

// rounded stores what f computes as halves. The conversion of float16 keeps the
// payload of a NaN, so these are made canonical before: all vectors are looked
// through at once, as there are hardly ever any.
func (h half) rounded(w *writer, f func(at []Mem) (VecVirtual, Mem)) func(at [][]Mem) {
	return func(at [][]Mem) {
		var results []VecVirtual
		var places []Mem
		for _, m := range at {
			r, place := f(m)
			results, places = append(results, r), append(places, place)
		}
		if h.name == "F16" {
			w.canonical(results)
		}
		for i, r := range results {
			VMOVUPS(h.round(w, r), places[i])
		}
	}
}

// canonical replaces every NaN.
func (w *writer) canonical(x []VecVirtual) {
	label := fmt.Sprintf("numbers%d", len(x))
	if w.letter == "Z" {
		first, last := K(), K()
		VCMPPS(U8(isUnordered), x[len(x)/2], x[0], first)
		VCMPPS(U8(isUnordered), x[len(x)-1], x[len(x)/4], last)
		KORTESTW(first, last)
	} else {
		first, last := YMM(), YMM()
		VCMPPS(U8(isUnordered), x[len(x)/2], x[0], first)
		VCMPPS(U8(isUnordered), x[len(x)-1], x[len(x)/4], last)
		VORPS(first, last, first)
		VPTEST(first, first)
	}
	JZ(LabelRef(label))
	for _, r := range x {
		w.move(w.where(isUnordered, r, r, w.pattern(0x7fc00000), r), r)
	}
	Label(label)
}

// arithmetic writes an operation of two operands, computed in float32.
func (h half) arithmetic(v vector, name string, f op) {
	w := start(single, v, name+h.name+v.letter, "func(n int, z, x, y *uint16)",
		fmt.Sprintf("computes n elements, a multiple of %d, in float32 and rounds them.", v.lanes(single)))
	w.keepForRounding()
	n, z := Load(Param("n"), GP64()), Load(Param("z"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	width := v.lanes(single)
	w.wholeVectors(n, []Register{x, y, z}, []int{2 * width, 2 * width, 2 * width}, h.rounded(w, func(at []Mem) (VecVirtual, Mem) {
		a, b := v.new(), v.new()
		h.wider(at[0], a)
		h.wider(at[1], b)
		f(b, a, a)
		return a, at[2]
	}))
	VZEROUPPER()
	RET()
}

// wholeVectors walks n elements, a multiple of a vector of float32, with so many
// bytes of a vector behind each pointer: four vectors at a time, then one. f gets
// the places of each.
func (w *writer) wholeVectors(n Register, pointers []Register, bytes []int, f func(at [][]Mem)) {
	width := w.lanes(single)
	for _, many := range []int{4, 1} {
		label := fmt.Sprintf("vectors%d", many)
		Label(label)
		CMPQ(n, U32(many*width))
		JLT(LabelRef(label + "Done"))
		at := make([][]Mem, many)
		for i := range many {
			for j, p := range pointers {
				at[i] = append(at[i], Mem{Base: p, Disp: i * bytes[j]})
			}
		}
		f(at)
		for j, p := range pointers {
			ADDQ(U32(many*bytes[j]), p)
		}
		SUBQ(U32(many*width), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
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
	w.convert(2, 4, func(at [][]Mem) {
		for _, m := range at {
			r := w.new()
			h.wider(m[1], r)
			w.move(r, m[0])
		}
	})
}

// narrow gives the canonical NaN for every NaN.
func narrow(v vector, h half) {
	w := start(single, v, "narrow"+h.name+v.letter, "func(n int, y *uint16, x *float32)",
		fmt.Sprintf("rounds n elements, a multiple of %d, to nearest even.", v.lanes(single)))
	w.keepForRounding()
	w.convert(4, 2, h.rounded(w, func(at []Mem) (VecVirtual, Mem) {
		x := w.new()
		w.move(at[1], x)
		return x, at[0]
	}))
}

// convert walks elements of the given sizes.
func (w *writer) convert(fromSize, toSize int, f func(at [][]Mem)) {
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	width := w.lanes(single)
	w.wholeVectors(n, []Register{y, x}, []int{width * toSize, width * fromSize}, f)
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
