package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// format is a floating-point type in memory.
type format struct {
	name     string
	size     int
	fraction int // explicit bits of it
	least    int // exponent of the least normal number
	// single converts to float32 in a register with one element for each.
	single func(from Mem, to VecVirtual)
	// pack stores float32 values that the type can hold.
	pack func(x VecVirtual, to Mem)
}

var (
	float16 = format{"F16", 2, 10, -14,
		func(from Mem, to VecVirtual) { VCVTPH2PS(from, to) },
		func(x VecVirtual, to Mem) { VCVTPS2PH(U8(0), x, to) }}
	bfloat16 = format{"BF16", 2, 7, -126,
		func(from Mem, to VecVirtual) {
			VPMOVZXWD(from, to)
			VPSLLD(U8(16), to, to)
		},
		func(x VecVirtual, to Mem) {
			VPSRLD(U8(16), x, x)
			packWords(x, to)
		}}
	float32s = format{"F32", 4, 23, -126,
		func(from Mem, to VecVirtual) { VMOVUPS(from, to) },
		func(x VecVirtual, to Mem) { VMOVUPS(x, to) }}
	float64s = format{"F64", 8, 52, -1022, nil, nil}
)

func (f format) isHalf() bool { return f.size == 2 }

// packWords stores the lower halves of 32-bit elements; the upper ones are zero.
func packWords(x VecVirtual, to Mem) {
	switch x.Size() {
	case 16:
		VPACKUSDW(x, x, x)
		VMOVQ(x, to)
	case 32:
		high := XMM()
		VEXTRACTI128(U8(1), x, high)
		VPACKUSDW(high, x.AsX(), high)
		VMOVDQU(high, to)
	default:
		VPMOVDW(x, to)
	}
}

// double loads elements as float64.
func (f format) double(v vector) func(from Mem, to VecVirtual) {
	switch {
	case f.size == 8:
		return func(from Mem, to VecVirtual) { VMOVUPD(from, to) }
	case f.size == 4:
		return func(from Mem, to VecVirtual) { VCVTPS2PD(from, to) }
	}
	return func(from Mem, to VecVirtual) {
		x := v.half()
		f.single(from, x)
		VCVTPS2PD(x, to)
	}
}

// rounder rounds float64 to a half type: it adds and takes away a number so large
// that the type's last bit is the sum's last bit. The number follows from the
// exponent, of which those of subnormal numbers count as the least one, and those
// of infinity as one that keeps the sum finite.
type rounder struct{ exponent, least, most, factor, sign VecVirtual }

func newRounder(v vector, f format) rounder {
	number := func(x float64) VecVirtual { return doubles(v.whole, math.Float64bits(x)) }
	return rounder{
		exponent: doubles(v.whole, 0x7ff0000000000000),
		least:    number(math.Ldexp(1, f.least)),
		most:     number(0x1p500),
		factor:   number(math.Ldexp(1.5, 52-f.fraction)),
		sign:     doubles(v.whole, 1<<63),
	}
}

func (r rounder) round(x VecVirtual) {
	c, sign := like(x), like(x)
	VANDPD(r.sign, x, sign)
	VANDPD(r.exponent, x, c)
	VMAXPD(r.least, c, c)
	VMINPD(r.most, c, c)
	VMULPD(r.factor, c, c)
	VADDPD(c, x, x)
	VSUBPD(c, x, x)
	VORPD(sign, x, x) // of what became zero
}

// narrow stores float64 values, rounded once and with every NaN canonical. It
// first fills the registers it needs.
func (f format) narrow(v vector) func(acc VecVirtual, to Mem) {
	if f.size == 8 {
		nan := doubles(v.whole, nan64)
		return func(acc VecVirtual, to Mem) {
			quiet64(acc, nan)
			VMOVUPD(acc, to)
		}
	}
	nan := singles(v.half, nan32)
	round := func(VecVirtual) {}
	if f.isHalf() {
		round = newRounder(v, f).round
	}
	return func(acc VecVirtual, to Mem) {
		round(acc)
		x := v.half()
		if v.letter == "Y" {
			VCVTPD2PSY(acc, x)
		} else {
			VCVTPD2PS(acc, x)
		}
		quiet32(x, nan)
		f.pack(x, to)
	}
}
