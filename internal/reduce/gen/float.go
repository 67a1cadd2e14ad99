package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wide writes the sum and the mean that accumulate in float64.
func wide(v vector, f format) {
	accumulators := 4
	if v.letter == "Y" && f.isHalf() {
		accumulators = 2 // the constants of rounding take the other registers
	}
	for _, mean := range []bool{false, true} {
		name, doc := "sum", "adds in float64"
		if mean {
			name, doc = "mean", "adds in float64 and divides by the number of parts"
		}
		var narrow func(acc VecVirtual, to Mem)
		var divisor VecVirtual
		kernel{
			name: name + f.name + v.letter, doc: doc, accumulators: accumulators, bytes: v.bytes / 8 * f.size,
			begin: func(count Register) {
				narrow = f.narrow(v)
				if mean {
					divisor = spread(v, count)
				}
			},
			load: f.double(v), room: v.whole,
			combine: func(acc, x VecVirtual) { VADDPD(x, acc, acc) },
			store: func(acc VecVirtual, to Mem) {
				if mean {
					VDIVPD(divisor, acc, acc)
				}
				narrow(acc, to)
			},
		}.write()
	}
}

// spread is a register with n as float64 in each element.
func spread(v vector, n Register) VecVirtual {
	x, r := XMM(), v.whole()
	VXORPD(x, x, x)
	VCVTSI2SDQ(n, x, x)
	VBROADCASTSD(x, r)
	return r
}

// floats are the instructions of one width of floating-point elements.
type floats struct {
	add, max, min, and, or func(...Op)
	unordered              func(a, b, to Op)
	blend                  func(mask, yes, no, to Op)
}

var (
	singleOps = floats{VADDPS, VMAXPS, VMINPS, VANDPS, VORPS,
		func(a, b, to Op) { VCMPPS(U8(isUnordered), a, b, to) }, func(m, yes, no, to Op) { VBLENDVPS(m, yes, no, to) }}
	doubleOps = floats{VADDPD, VMAXPD, VMINPD, VANDPD, VORPD,
		func(a, b, to Op) { VCMPPD(U8(isUnordered), a, b, to) }, func(m, yes, no, to Op) { VBLENDVPD(m, yes, no, to) }}
)

// extremes writes max and min, in float32 or float64: all values are those of
// parts, so that nothing is rounded.
func extremes(v vector, f format) {
	ops, load, width := singleOps, f.single, v.bytes/4
	if f.size == 8 {
		ops, load, width = doubleOps, f.double(v), v.bytes/8
	}
	for _, max := range []bool{true, false} {
		name, of, join := "max", ops.max, ops.and
		if !max {
			name, of, join = "min", ops.min, ops.or
		}
		var store func(acc VecVirtual, to Mem)
		kernel{
			name: name + f.name + v.letter, doc: "takes the " + name + " of", accumulators: 2, bytes: width * f.size,
			begin:   func(Register) { store = f.storeExact(v) },
			load:    load,
			room:    v.whole,
			combine: func(acc, x VecVirtual) { extremum(ops, of, join, acc, x) },
			store:   func(acc VecVirtual, to Mem) { store(acc, to) },
		}.write()
	}
}

// extremum takes the instruction in both orders, as of two zeros or with a NaN it
// gives its second operand. Of two zeros, join makes the right sign.
func extremum(ops floats, of, join func(...Op), acc, x VecVirtual) {
	one, two := like(acc), like(acc)
	of(x, acc, one)
	of(acc, x, two)
	join(one, two, one)
	if isZ(acc) {
		k := K()
		ops.unordered(x, acc, k)
		ops.add(x, acc, k, one)
		VMOVAPD(one, acc)
		return
	}
	ops.add(x, acc, two)
	ops.unordered(x, acc, x)
	ops.blend(x, two, one, acc)
}

// storeExact stores values that the type can hold, with every NaN canonical.
func (f format) storeExact(v vector) func(x VecVirtual, to Mem) {
	if f.size == 8 {
		return f.narrow(v)
	}
	nan := singles(v.whole, nan32)
	return func(x VecVirtual, to Mem) {
		quiet32(x, nan)
		f.pack(x, to)
	}
}

// pairOfFloat16 writes the sum of two parts of float16: that of float32, rounded
// again, has the same bits as that of float64, since float32 has more than twice the
// fraction bits of both and two more.
func pairOfFloat16(v vector) {
	var nan VecVirtual
	kernel{
		name: "pairF16" + v.letter, doc: "adds two parts in float32", accumulators: 2, bytes: v.bytes / 2,
		begin:   func(Register) { nan = singles(v.whole, nan32) },
		load:    float16.single,
		room:    v.whole,
		combine: func(acc, x VecVirtual) { VADDPS(x, acc, acc) },
		store: func(acc VecVirtual, to Mem) {
			quiet32(acc, nan)
			float16.pack(acc, to)
		},
	}.write()
}

// pairOfBFloat16 writes the same for bfloat16. Elements stay where they are: those
// with an even number are moved to the upper half of their 32 bits, those with an odd
// one are there already, so that nothing crosses the register.
func pairOfBFloat16(v vector) {
	TEXT("pairBF16"+v.letter, NOSPLIT, "func(n int, dst *byte, parts *[]byte, count, from int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("pairBF16%s adds two parts in float32 n bytes, a multiple of %d, from an offset in each part on.", v.letter, v.bytes))
	n, dst, parts := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("parts"), GP64())
	from, one, two := Load(Param("from"), GP64()), GP64(), GP64()
	MOVQ(Mem{Base: parts}, one)
	MOVQ(Mem{Base: parts, Disp: headerBytes}, two)
	nan, upper, round := singles(v.whole, nan32), singles(v.whole, 0xffff0000), roundedBF16(v)
	Label("step")
	CMPQ(n, U32(v.bytes))
	JLT(LabelRef("done"))
	odd, other, even, otherEven := v.whole(), v.whole(), v.whole(), v.whole()
	VMOVUPS(Mem{Base: one, Index: from, Scale: 1}, odd)
	VMOVUPS(Mem{Base: two, Index: from, Scale: 1}, other)
	VPSLLD(U8(16), odd, even)
	VPSLLD(U8(16), other, otherEven)
	VANDPS(upper, odd, odd)
	VANDPS(upper, other, other)
	VADDPS(otherEven, even, even)
	VADDPS(other, odd, odd)
	for _, x := range []VecVirtual{even, odd} {
		quiet32(x, nan)
		round(x)
	}
	VPSRLD(U8(16), even, even)
	VANDPS(upper, odd, odd)
	VORPS(even, odd, odd)
	VMOVUPS(odd, Mem{Base: dst})
	ADDQ(U32(v.bytes), from)
	ADDQ(U32(v.bytes), dst)
	SUBQ(U32(v.bytes), n)
	JMP(LabelRef("step"))
	Label("done")
	VZEROUPPER()
	RET()
}

// roundedBF16 rounds to nearest even what is then to be cut: it adds half of the last
// bit that stays, or a little less where that bit is even.
func roundedBF16(v vector) func(x VecVirtual) {
	one, almostHalf := singles(v.whole, 1), singles(v.whole, 0x7fff)
	return func(x VecVirtual) {
		odd := like(x)
		VPSRLD(U8(16), x, odd)
		VANDPS(one, odd, odd)
		VPADDD(almostHalf, odd, odd)
		VPADDD(odd, x, x)
	}
}

// pairOfSingles writes the sum of two parts of float32: the sum of float64 has the
// same bits. It waits for memory, so that wider registers gain nothing.
func pairOfSingles() {
	var nan VecVirtual
	kernel{
		name: "pairF32Y", doc: "adds two parts in float32", accumulators: 4, bytes: 32,
		begin:   func(Register) { nan = singles(YMM, nan32) },
		load:    float32s.single,
		room:    YMM,
		combine: func(acc, x VecVirtual) { VADDPS(x, acc, acc) },
		store: func(acc VecVirtual, to Mem) {
			quiet32(acc, nan)
			VMOVUPS(acc, to)
		},
	}.write()
}

// integers writes the reductions of integers and bool; those of 64 bits have no
// max and min below AVX-512.
func integers() {
	for _, f := range []struct {
		name string
		v    vector
		op   func(...Op)
	}{
		{"sumI8", ymm, VPADDB}, {"sumI16", ymm, VPADDW}, {"sumI32", ymm, VPADDD}, {"sumI64", ymm, VPADDQ},
		{"maxI8", ymm, VPMAXSB}, {"maxI16", ymm, VPMAXSW}, {"maxI32", ymm, VPMAXSD}, {"maxI64", zmm, VPMAXSQ},
		{"minI8", ymm, VPMINSB}, {"minI16", ymm, VPMINSW}, {"minI32", ymm, VPMINSD}, {"minI64", zmm, VPMINSQ},
		{"maxU8", ymm, VPMAXUB}, {"maxU16", ymm, VPMAXUW}, {"maxU32", ymm, VPMAXUD}, {"maxU64", zmm, VPMAXUQ},
		{"minU8", ymm, VPMINUB}, {"minU16", ymm, VPMINUW}, {"minU32", ymm, VPMINUD}, {"minU64", zmm, VPMINUQ},
	} {
		kernel{
			name: f.name + f.v.letter, doc: fmt.Sprintf("takes the %s of", f.name[:3]), accumulators: 4, bytes: f.v.bytes,
			load:    func(from Mem, to VecVirtual) { VMOVUPS(from, to) },
			room:    f.v.whole,
			combine: func(acc, x VecVirtual) { f.op(x, acc, acc) },
			store:   func(acc VecVirtual, to Mem) { VMOVUPS(acc, to) },
		}.write()
	}
}
