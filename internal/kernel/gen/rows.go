package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows writes the whole-row functions.
func rows() {
	for _, v := range []vector{ymm, zmm} {
		softmax(v)
	}
}

// softmax writes the whole-row function of float32.
func softmax(v vector) {
	w := start(single, v, "sSoftmax"+v.letter, "func(n int, y, x *float32)",
		"writes exp(x-max) / sum of a row of n > 0 elements to y: exponentials within 2 units in the last place, added in float64.")
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	for _, c := range keepers(v, 1, exp32) {
		w.keep(single.bits(c))
	}
	greatest := w.number(math.Inf(-1))
	w.overRow("max", n, []Register{x}, func(vectors []VecVirtual, m *edgeMask) {
		if m != nil {
			vectors[0] = w.fill(vectors[0], m, w.number(math.Inf(-1)))
		}
		w.max(greatest, vectors[0], greatest) // a NaN is passed over: its exponential is NaN
	})
	greatest = w.spread(greatest)
	s := lanes(zeros(v, 64/v.bytes))
	w.overRow("exp", n, []Register{x, y}, func(vectors []VecVirtual, m *edgeMask) {
		e := w.expBody([]VecVirtual{w.do2(w.sub, vectors[0], greatest)})
		if m != nil {
			e = w.fill(e, m, w.pattern(0))
		}
		w.addSingles(s, e)
		vectors[1] = e
	})
	scale := w.inverse(s.total())
	w.overRow("scale", n, []Register{y, y}, func(vectors []VecVirtual, _ *edgeMask) {
		vectors[1] = w.do2(w.mul, vectors[0], scale)
	})
	VZEROUPPER()
	RET()
}

// addSingles adds a vector of float32 in eight lanes, in one or two registers.
func (w *writer) addSingles(s lanes, x VecVirtual) {
	for i := range 2 {
		wide := w.new()
		w.widened(x, i, wide)
		VADDPD(wide, s[i*len(s)/2], s[i*len(s)/2])
	}
}

// inverse is 1/x of a number of float64, as float32 in every element.
func (w *writer) inverse(x VecVirtual) VecVirtual {
	one := XMM()
	VMOVSD(constant(double, double.bits(1)), one)
	VDIVSD(x, one, one)
	VCVTSD2SS(one, one, one)
	r := w.new()
	VBROADCASTSS(one, r)
	return r
}

// spread is the greatest element of x in every element.
func (w *writer) spread(x VecVirtual) VecVirtual {
	y := YMM()
	if w.letter == "Z" {
		VEXTRACTF64X4(U8(1), x, y)
		VMAXPS(y, x.AsY(), y)
	} else {
		VMOVUPS(x, y)
	}
	half := XMM()
	VEXTRACTF128(U8(1), y, half)
	VMAXPS(half, y.AsX(), half)
	other := XMM()
	VPERMILPS(U8(0b01_00_11_10), half, other)
	VMAXPS(other, half, half)
	VPERMILPS(U8(0b10_11_00_01), half, other)
	VMAXPS(other, half, half)
	r := w.new()
	VBROADCASTSS(half, r)
	return r
}

// edgeMask is the mask of an incomplete vector.
type edgeMask struct {
	k Register   // AVX-512
	m VecVirtual // AVX2
}

// fill is x where the mask is set, and elsewhere other.
func (w *writer) fill(x VecVirtual, m *edgeMask, other VecVirtual) VecVirtual {
	r := w.new()
	if w.letter == "Z" {
		w.move(other, r)
		w.move(x, m.k, r)
		return r
	}
	w.blendY(m.m, x, other, r)
	return r
}

// overRow walks n elements from the first pointer on. f computes what is stored
// at the second pointer, where there is one.
func (w *writer) overRow(name string, n Register, pointers []Register, f func(vectors []VecVirtual, m *edgeMask)) {
	left, at := GP64(), GP64()
	MOVQ(n, left)
	XORQ(at, at)
	address := func(i int) Mem { return Mem{Base: pointers[i], Index: at, Scale: uint8(w.size)} }
	vectors := func() []VecVirtual { return []VecVirtual{w.new(), nil} }
	width := w.lanes(w.element)
	Label(name)
	CMPQ(left, U32(width))
	JLT(LabelRef(name + "Rest"))
	x := vectors()
	w.move(address(0), x[0])
	f(x, nil)
	if len(pointers) > 1 {
		w.move(x[1], address(1))
	}
	ADDQ(U32(width), at)
	SUBQ(U32(width), left)
	JMP(LabelRef(name))
	Label(name + "Rest")
	TESTQ(left, left)
	JZ(LabelRef(name + "Done"))
	load, store, m := w.mask(left)
	x = vectors()
	load(address(0), x[0])
	f(x, m)
	if len(pointers) > 1 {
		store(x[1], address(1))
	}
	Label(name + "Done")
}

// start begins a function.
func start(e element, v vector, name, signature, doc string) *writer {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
	return &writer{e, v, map[uint64]VecVirtual{}}
}

// giveBack ends a function that returns a float64.
func (w *writer) giveBack(x VecVirtual) {
	Store(x, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
