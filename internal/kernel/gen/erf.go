package main

import (
	"math"
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The error function of float64 is read from a table at r, the next multiple of a step below, and
// continued by d = |x| - r: erf(r+d) = erf(r) + erf'(r)·d·P with
//
//	P = ∫ exp(-2·s·t - w·t²) dt over t from 0 to 1, s = r·d and w = d²,
//
// whose power series in s and w ends soon, since d is less than a step. That d is never
// negative keeps what is added from cancelling.
const (
	erfSteps = 128  // in 1
	erfEnd   = 5.95 // where it has become 1

	erfEntries = 763 // so that the end is in the last step
)

// erfSeries are the coefficients of the powers of s, for each power of w.
var erfSeries = [][]float64{
	{1, -1, 2.0 / 3, -1.0 / 3, 2.0 / 15, -2.0 / 45},
	{-1.0 / 3, 1.0 / 2, -2.0 / 5, 2.0 / 9},
	{1.0 / 10, -1.0 / 6},
	{-1.0 / 42},
}

// erfTable has erf(r) and its derivative for each step.
func erfTable() Mem {
	m, ok := constants["erf"]
	if !ok {
		m = GLOBL("erf", attr.RODATA|attr.NOPTR)
		for i := range erfEntries {
			value, slope := erfAt(float64(i) / erfSteps)
			DATA(16*i, U64(math.Float64bits(value)))
			DATA(16*i+8, U64(math.Float64bits(slope)))
		}
		constants["erf"] = m
	}
	return m
}

// erfAt is erf(r) = 2/√π · exp(-r²) · Σ 2ⁿ·r²ⁿ⁺¹ / (1·3·…·(2n+1)) and its derivative, rounded once.
func erfAt(r float64) (value, slope float64) {
	const bits = 300
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	square := number(0).Mul(number(r), number(r))
	term, sum := number(r), number(0)
	for n := 1; n < 400; n++ {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term.Mul(term, number(2)), number(float64(2*n+1)))
	}
	// exp(r²) by its series, which has no terms that cancel, and π by Machin's formula.
	exp, power := number(0), number(1)
	for n := 1; n < 400; n++ {
		exp.Add(exp, power)
		power.Quo(power.Mul(power, square), number(float64(n)))
	}
	arctan := func(of float64) *big.Float { // of 1/of
		sum, power := number(0), number(0).Quo(number(1), number(of))
		for n := 0; n < 200; n++ {
			t := number(0).Quo(power, number(float64(2*n+1)))
			if n%2 == 1 {
				t.Neg(t)
			}
			sum.Add(sum, t)
			power.Quo(power, number(of*of))
		}
		return sum
	}
	pi := number(0).Sub(number(0).Mul(number(16), arctan(5)), number(0).Mul(number(4), arctan(239)))
	s := number(0).Quo(number(2), number(0).Sqrt(pi))
	s.Quo(s, exp)
	slope, _ = s.Float64()
	value, _ = s.Mul(s, sum).Float64()
	return value, slope
}

// erfByTable is the error function of float64; x and signed have one sign.
func (w *writer) erfByTable(x, signed VecVirtual) VecVirtual {
	size := w.do2(w.and, x, w.patternOperand(1<<63-1))
	place := w.do2(w.min, size, w.operand(erfEnd)) // the end for NaN, too
	// The sum's last bits are the number of the step.
	place = w.do2(w.add, w.do2(w.sub, place, w.operand(0.5/erfSteps)), w.operand(0x1.8p52/erfSteps))
	r, d := w.do2(w.sub, place, w.operand(0x1.8p52/erfSteps)), w.new()
	w.min(size, w.number(erfEnd), d) // NaN stays
	w.sub(r, d, d)
	value, slope := w.looked(place)
	w.mul(d, slope, slope)
	s := w.do2(w.mul, r, d)
	square := w.do2(w.mul, d, d)
	p := w.new()
	w.move(w.operand(erfSeries[len(erfSeries)-1][0]), p)
	for i := len(erfSeries) - 2; i >= 0; i-- {
		w.fma213(w.horner(s, erfSeries[i]), square, p)
	}
	w.fma213(value, slope, p)
	return w.withSign(p, signed)
}

// looked are the values and slopes of the table of erf at the steps whose numbers are the
// last bits of place.
func (w *writer) looked(place VecVirtual) (value, slope VecVirtual) {
	if w.letter == "Y" {
		return lookedY(place)
	}
	high := YMM()
	VEXTRACTF64X4(U8(1), place, high)
	value, slope = ZMM(), ZMM()
	lowValue, lowSlope := lookedY(place.AsY())
	highValue, highSlope := lookedY(high)
	VINSERTF64X4(U8(1), highValue, lowValue.AsZ(), value)
	VINSERTF64X4(U8(1), highSlope, lowSlope.AsZ(), slope)
	return value, slope
}

func lookedY(place Op) (value, slope VecVirtual) {
	at, high := YMM(), XMM()
	VPSLLQ(U8(4), place, at) // bytes of a step
	VEXTRACTI128(U8(1), at, high)
	table := GP64()
	LEAQ(erfTable(), table)
	step := func(of Op, i uint64) Mem {
		r := GP64()
		if i == 0 {
			VMOVD(of, r.As32())
		} else {
			VPEXTRD(U8(2), of, r.As32())
		}
		return Mem{Base: table, Index: r, Scale: 1}
	}
	even, odd := YMM(), YMM()
	VBROADCASTF128(step(at.AsX(), 0), even)
	VINSERTF128(U8(1), step(high, 0), even, even)
	VBROADCASTF128(step(at.AsX(), 1), odd)
	VINSERTF128(U8(1), step(high, 1), odd, odd)
	value, slope = YMM(), YMM()
	VUNPCKLPD(odd, even, value)
	VUNPCKHPD(odd, even, slope)
	return value, slope
}
