package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The polynomials are nearly minimax: least squares at Chebyshev nodes in 40
// digits, reweighted until the errors are level, then rounded to the type.
var (
	// (exp(r)-1-r)/r² for |r| ≤ ln(2)/2; relative errors of exp 3e-9 and 6e-20.
	exp32 = []float64{0.5, 0.16666513681411743, 0.04166616499423981, 0.00836950819939375, 0.001395288622006774}
	exp64 = []float64{0.5, 0.16666666666666685, 0.041666666666666734, 0.00833333333331537, 0.001388888888885548, 0.0001984126990047887,
		2.4801587378443663e-05, 2.755723080398418e-06, 2.75572299235504e-07, 2.5113439645844566e-08, 2.092788665871299e-09}
	// erf(x)/x - 1 in x² for |x| ≤ 1; error 1e-9.
	erfSmall = []float64{0.12837916612625122, -0.3761262595653534, 0.11283599585294724, -0.02685442753136158,
		0.005189505405724049, -0.0008020589011721313, 7.888318214099854e-05}
	// log(1 - erf(x)) for 1 ≤ x ≤ 4; error of erf 2e-11.
	erfLarge = []float64{0.00018779610400088131, -1.1295772790908813, -0.6332221031188965, -0.10841625928878784,
		0.025206824764609337, -0.004204044118523598, 0.0004412351700011641, -2.167859929613769e-05}
	// (tanh(x)/x - 1)/x² in x² for |x| ≤ 0.6; error of tanh 1e-10.
	tanhSmall = []float64{-0.3333333134651184, 0.13333237171173096, -0.053950875997543335, 0.021724577993154526,
		-0.008239855989813805, 0.0022033625282347202}
)

// functions writes the elementwise functions that approximate.
func functions() {
	for _, v := range []vector{ymm, zmm} {
		each(single, v, "Exp", "e to the power x, within 1 unit in the last place,", 1, 1, keepers(v, 1, exp32), (*writer).expBody)
		each(double, v, "Exp", "e to the power x, within 2 units in the last place,", 1, 1, keepers(v, 1, exp64), (*writer).expBody)
		each(single, v, "Erf", "the error function, within 2 units in the last place,", 1, 1, keepers(v, 1, erfSmall, erfLarge), (*writer).erf)
		each(single, v, "Tanh", "the hyperbolic tangent, within 2 units in the last place,", 1, 1, keepers(v, 1, tanhSmall, exp32), (*writer).tanh)
		each(single, v, "Sigmoid", "1 / (1 + exp(-x)), within 3 units in the last place, 0 below the normal range,", 1, 1, keepers(v, 1, exp32), (*writer).sigmoid)
	}
}

// keepers are the constants that registers hold: what fits beside those at work.
func keepers(v vector, first float64, lists ...[]float64) []float64 {
	room := map[string]int{"Y": 5, "Z": 20}[v.letter]
	all := []float64{first}
	for _, list := range lists {
		all = append(all, list...)
	}
	return all[:min(room, len(all))]
}

// limits are where exp has overflowed or vanished for certain.
func (w *writer) limits() (low, high float64) {
	if w.size == 4 {
		return -104, 89
	}
	return -746, 710
}

func (w *writer) expBody(x []VecVirtual) VecVirtual {
	low, high := w.limits()
	// The data is the operand that the instructions give when it is NaN.
	clamped := w.do2(w.max, w.number(low), w.do2(w.min, w.number(high), x[0]))
	return w.exp(clamped)
}

// exp is e to the power x within limits: 2^n·exp(r) with r = x - n·ln(2), which is
// taken off in two parts.
func (w *writer) exp(x VecVirtual) VecVirtual {
	high, low, c := 0.693145751953125, 1.428606765330187e-06, exp32
	if w.size == 8 {
		high, low, c = 0.6931471803691238, 1.9082149292705877e-10, exp64
	}
	n := w.nearest(w.do2(w.mul, x, w.number(math.Log2E)))
	r := w.new()
	w.move(x, r)
	w.fnma(w.number(high), n, r)
	w.fnma(w.number(low), n, r)
	p := w.polynomial(r, c)
	w.fma213(r, w.do2(w.mul, r, r), p)
	return w.scale(w.do2(w.add, p, w.number(1)), n)
}

// nearest rounds to integers, ties to even.
func (w *writer) nearest(x VecVirtual) VecVirtual {
	r := w.new()
	if w.letter == "Z" {
		w.roundZ(U8(8), x, r)
	} else {
		w.roundY(U8(8), x, r)
	}
	return r
}

// scale is x·2^n, rounded once. AVX2 multiplies twice, of which only the second
// can round.
func (w *writer) scale(x, n VecVirtual) VecVirtual {
	if w.letter == "Z" {
		r := w.new()
		w.scaleZ(n, x, r)
		return r
	}
	first, second := w.powers(n)
	return w.do2(w.mul, w.do2(w.mul, x, first), second)
}

// powers are two powers of two whose product is 2^n.
func (w *writer) powers(n VecVirtual) (first, second VecVirtual) {
	if w.size == 4 {
		whole, half := YMM(), YMM()
		VCVTPS2DQ(n, whole)
		VPSRAD(U8(1), whole, half)
		VPSUBD(half, whole, whole)
		bias := w.pattern(127)
		for _, i := range []VecVirtual{half, whole} {
			VPADDD(bias, i, i)
			VPSLLD(U8(23), i, i)
		}
		return half, whole
	}
	whole, half := XMM(), XMM()
	VCVTPD2DQY(n, whole)
	VPSRAD(U8(1), whole, half)
	VPSUBD(half, whole, whole)
	bias := w.pattern(1023)
	wide := []VecVirtual{YMM(), YMM()}
	for i, x := range []VecVirtual{half, whole} {
		VPMOVSXDQ(x, wide[i])
		VPADDQ(bias, wide[i], wide[i])
		VPSLLQ(U8(52), wide[i], wide[i])
	}
	return wide[0], wide[1]
}

// erf is odd: near zero x + x·P(x²), elsewhere 1 - exp(Q(|x|)).
func (w *writer) erf(x []VecVirtual) VecVirtual {
	near := w.polynomial(w.do2(w.mul, x[0], x[0]), erfSmall)
	w.fma213(x[0], x[0], near)
	size := w.do2(w.andNot, w.signBit(), x[0])
	far := w.exp(w.polynomial(w.do2(w.min, w.number(4), size), erfLarge))
	far = w.withSign(w.do2(w.sub, w.number(1), far), x[0])
	return w.where(isGreater, size, w.number(1), far, near)
}

// tanh is odd: near zero x + x³·P(x²), elsewhere 1 - 2/(exp(2|x|)+1). The sum near
// zero would turn -0 into +0, so both take the sign of x at the end.
func (w *writer) tanh(x []VecVirtual) VecVirtual {
	square := w.do2(w.mul, x[0], x[0])
	near := w.polynomial(square, tanhSmall)
	w.fma213(x[0], w.do2(w.mul, square, x[0]), near)
	size := w.do2(w.andNot, w.signBit(), x[0])
	limited := w.do2(w.min, w.number(10), size)
	e := w.exp(w.do2(w.add, limited, limited))
	far := w.do2(w.div, w.number(2), w.do2(w.add, e, w.number(1)))
	far = w.do2(w.sub, w.number(1), far)
	return w.withSign(w.where(isGreater, size, w.number(0.6), far, near), x[0])
}

// withSign gives x, which is positive or has the sign of y, the sign of y.
func (w *writer) withSign(x, y VecVirtual) VecVirtual {
	return w.do2(w.or, x, w.do2(w.and, y, w.signBit()))
}

func (w *writer) sigmoid(x []VecVirtual) VecVirtual {
	e := w.expBody([]VecVirtual{w.do2(w.xor, x[0], w.signBit())})
	return w.do2(w.div, w.number(1), w.do2(w.add, e, w.number(1)))
}
