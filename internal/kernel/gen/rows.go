package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows writes the sums and the whole-row functions.
func rows() {
	for _, v := range []vector{ymm, zmm} {
		for _, e := range []element{single, double} {
			sum(e, v)
			sumOfFour(e, v)
		}
		softmax(v)
	}
}

// Sums are taken in eight lanes of float64, element i in lane i%8, in one or two
// registers.
type lanes []VecVirtual

func newLanes(v vector) lanes { return zeros(v, 64/v.bytes) }

// add adds the eight elements at m.
func (s lanes) add(w *writer, m Mem) {
	for i := range s {
		at := m
		at.Disp += i * len64(w.vector) * w.size
		if w.size == 8 {
			VADDPD(at, s[i], s[i])
			continue
		}
		wide := w.new()
		VCVTPS2PD(at, wide)
		VADDPD(wide, s[i], s[i])
	}
}

// addSingles adds a vector of float32.
func (s lanes) addSingles(w *writer, x VecVirtual) {
	for i := range 2 {
		wide := w.new()
		if w.letter == "Z" {
			half := YMM()
			VEXTRACTF64X4(U8(i), x, half)
			VCVTPS2PD(half, wide)
			VADDPD(wide, s[0], s[0])
			continue
		}
		half := XMM()
		VEXTRACTF128(U8(i), x, half)
		VCVTPS2PD(half, wide)
		VADDPD(wide, s[i], s[i])
	}
}

func len64(v vector) int { return v.bytes / 8 }

// total is ((0+4)+(2+6)) + ((1+5)+(3+7)).
func (s lanes) total(w *writer) VecVirtual {
	four := YMM()
	if w.letter == "Z" {
		VEXTRACTF64X4(U8(1), s[0], four)
		VADDPD(four, s[0].AsY(), four)
	} else {
		VADDPD(s[1], s[0], four)
	}
	two, one := XMM(), XMM()
	VEXTRACTF128(U8(1), four, two)
	VADDPD(two, four.AsX(), two)
	VUNPCKHPD(two, two, one)
	VADDSD(one, two, one)
	return one
}

// sum writes the sum of the last block of a row.
func sum(e element, v vector) {
	name := e.prefix + "Sum" + v.letter
	w := start(e, v, name, fmt.Sprintf("func(n int, x *%s) float64", e.goType),
		"is the sum of n elements, added up in eight lanes of float64 as by sumRow of a block.")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	s := newLanes(v)
	Label("eight")
	CMPQ(n, U32(8))
	JLT(LabelRef("rest"))
	s.add(w, Mem{Base: x})
	ADDQ(U32(8*e.size), x)
	SUBQ(U32(8), n)
	JMP(LabelRef("eight"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	w.addRest(s, n, x)
	Label("done")
	w.giveBack(s.total(w))
}

// addRest adds fewer than eight elements, one to a lane, through a copy on the
// stack that zeros fill up.
func (w *writer) addRest(s lanes, n, x Register) {
	copied := AllocLocal(8 * w.size)
	zero := YMM()
	VXORPS(zero, zero, zero)
	for i := 0; i < 8*w.size; i += 32 {
		VMOVUPS(zero, copied.Offset(i))
	}
	to, word := GP64(), GP64()
	LEAQ(copied, to)
	Label("copy")
	if w.size == 4 {
		MOVL(Mem{Base: x}, word.As32())
		MOVL(word.As32(), Mem{Base: to})
	} else {
		MOVQ(Mem{Base: x}, word)
		MOVQ(word, Mem{Base: to})
	}
	ADDQ(U32(w.size), x)
	ADDQ(U32(w.size), to)
	DECQ(n)
	JNZ(LabelRef("copy"))
	s.add(w, copied)
}

// sumOfFour writes the sum of four whole blocks, whose additions overlap.
func sumOfFour(e element, v vector) {
	w := start(e, v, e.prefix+"SumOfFour"+v.letter, fmt.Sprintf("func(x *%s) float64", e.goType),
		"is the sum of four blocks, which is that of sumRow.")
	const block = 256
	x := Load(Param("x"), GP64())
	n := GP64()
	MOVQ(U32(block/8), n)
	var blocks [4]lanes
	for i := range blocks {
		blocks[i] = newLanes(v)
	}
	Label("eight")
	for i, s := range blocks {
		s.add(w, Mem{Base: x, Disp: i * block * e.size})
	}
	ADDQ(U32(8*e.size), x)
	DECQ(n)
	JNZ(LabelRef("eight"))
	var sums [4]VecVirtual
	for i, s := range blocks {
		sums[i] = s.total(w)
	}
	VADDSD(sums[1], sums[0], sums[0])
	VADDSD(sums[3], sums[2], sums[2])
	VADDSD(sums[2], sums[0], sums[0])
	w.giveBack(sums[0])
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
	s := newLanes(v)
	w.overRow("exp", n, []Register{x, y}, func(vectors []VecVirtual, m *edgeMask) {
		e := w.expBody([]VecVirtual{w.do2(w.sub, vectors[0], greatest)})
		if m != nil {
			e = w.fill(e, m, w.pattern(0))
		}
		s.addSingles(w, e)
		vectors[1] = e
	})
	scale := w.inverse(s.total(w))
	w.overRow("scale", n, []Register{y, y}, func(vectors []VecVirtual, _ *edgeMask) {
		vectors[1] = w.do2(w.mul, vectors[0], scale)
	})
	VZEROUPPER()
	RET()
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
