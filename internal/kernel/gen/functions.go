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
	erfSmall32 = []float64{0.12837916612625122, -0.3761262595653534, 0.11283599585294724, -0.02685442753136158,
		0.005189505405724049, -0.0008020589011721313, 7.888318214099854e-05}
	// log(1 - erf(x)) for 1 ≤ x ≤ 4; error of erf 2e-11.
	erfLarge32 = []float64{0.00018779610400088131, -1.1295772790908813, -0.6332221031188965, -0.10841625928878784,
		0.025206824764609337, -0.004204044118523598, 0.0004412351700011641, -2.167859929613769e-05}
	// (tanh(x)/x - 1)/x² in x² for |x| ≤ 0.6; error of tanh 1e-10.
	tanhSmall32 = []float64{-0.3333333134651184, 0.13333237171173096, -0.053950875997543335, 0.021724577993154526,
		-0.008239855989813805, 0.0022033625282347202}
	// The same for float64; error 2e-18.
	tanhSmall64 = []float64{-0.33333333333333326, 0.1333333333333181, -0.05396825396723952, 0.021869488502222516, -0.00886323486332283,
		0.003592119676404718, -0.0014557641864198524, 0.000589622743437037, -0.00023751451603036257, 9.249332425451543e-05,
		-3.1183393886452754e-05, 6.505898987280764e-06}
	// (log(1+f)-f+f²/2)/f³ for 1+f from 1/√2 to √2; relative error of log 6e-9.
	log32 = []float64{0.3333333134651184, -0.2500081956386566, 0.20001226663589478, -0.16623356938362122,
		0.14201758801937103, -0.13160185515880585, 0.12761570513248444, -0.0763448178768158}
	// (log((1+s)/(1-s)) - 2s)/s³ in s² for (1+s)/(1-s) from 1/√2 to √2; error 3e-18.
	log64 = []float64{0.6666666666666735, 0.39999999999410524, 0.2857142874332776, 0.22222198471443316, 0.18183569920040987,
		0.15313899568443715, 0.14797537139842387}
)

// functions writes the elementwise functions that approximate.
func functions() {
	for _, v := range []vector{ymm, zmm} {
		function(single, v, "Exp", "e to the power x, within 1 unit in the last place,", 4, [][]float64{exp32, single.expParts()}, (*writer).expBody, (*writer).beyondExp)
		function(double, v, "Exp", "e to the power x, within 2 units in the last place,", 3, [][]float64{exp64, double.expParts()}, (*writer).expBody, (*writer).beyondExp)
		for _, e := range []element{single, double} {
			c := e.coefficients()
			each(e, v, "Log", "the natural logarithm, within 1 unit in the last place,", 1, 1, keepers(v, 1, c.log, e.logParts()), (*writer).log)
			function(e, v, "Erf", "the error function, within 2 units in the last place,", 2, [][]float64{c.erfSmall, c.erfLarge}, (*writer).erf, nil)
			function(e, v, "Gelu", "x/2 · (1 + erf(x/√2)), with the error function of Erf,", 2, [][]float64{c.erfSmall, c.erfLarge}, (*writer).gelu, nil)
			function(e, v, "Tanh", "the hyperbolic tangent, within 2 units in the last place,", 2, [][]float64{c.tanhSmall, c.exp, e.expParts(), {math.Copysign(0, -1), 2, 0.6, 10}}, (*writer).tanh, nil)
			function(e, v, "Sigmoid", "1 / (1 + exp(-x)), within 3 units in the last place, 0 below the normal range,", 3, [][]float64{c.exp, e.expParts(), {math.Copysign(0, -1)}}, (*writer).sigmoid, (*writer).beyondExp)
		}
	}
}

// function writes an elementwise function: by AVX-512 vector by vector, with constants in registers; by AVX2, which
// has few of these, several vectors by turns. What is beyond an exponential that these
// share is computed the long way.
func function(e element, v vector, name, doc string, vectors int, keep [][]float64, f body, beyond func(w *writer, x VecVirtual) VecVirtual) {
	if v.letter == "Z" {
		each(e, v, name, doc, 1, 1, keepers(v, 1, keep...), f)
		return
	}
	w, n, pointers := startEach(e, v, name, doc, 1)
	if beyond == nil {
		w.loopTogether("one", vectors, n, pointers, f, nil, nil)
	} else {
		within := *w
		within.within = true
		within.loopTogether("one", vectors, n, pointers, f, func(_ *writer, x []VecVirtual) VecVirtual { return f(w, x) }, func(x VecVirtual) VecVirtual { return beyond(w, x) })
	}
	w.loop("one", "rest", 1, n, pointers, f)
	w.endEach(n, pointers, f)
}

// coefficients are the polynomials for a type.
type coefficients struct{ exp, log, erfSmall, erfLarge, tanhSmall []float64 }

func (e element) coefficients() coefficients {
	if e.size == 4 {
		return coefficients{exp32, log32, erfSmall32, erfLarge32, tanhSmall32}
	}
	return coefficients{exp: exp64, log: log64, tanhSmall: tanhSmall64}
}

// keepers are the constants that registers hold: what fits beside those at work.
func keepers(v vector, first float64, lists ...[]float64) []float64 {
	room := map[string]int{"Y": 5, "Z": 22}[v.letter]
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
	if w.within {
		return w.expWithin(x[0])
	}
	low, high := w.limits()
	// The data is the operand that the instructions give when it is NaN.
	clamped := w.do2(w.max, w.number(low), w.do2(w.min, w.number(high), x[0]))
	return w.exp(clamped)
}

// exp is e to the power x within limits: 2^n·exp(r) with r = x - n·ln(2), which is
// taken off in two parts.
func (w *writer) exp(x VecVirtual) VecVirtual {
	parts, c := w.expParts(), w.coefficients().exp
	high, low := parts[0], parts[1]
	n := w.nearest(w.do2(w.mul, x, w.operand(math.Log2E)))
	r := w.new()
	w.move(x, r)
	w.fnma(w.operand(high), n, r)
	w.fnma(w.operand(low), n, r)
	p := w.polynomial(r, c)
	w.fma213(r, w.do2(w.mul, r, r), p)
	return w.scale(w.do2(w.add, p, w.operand(1)), n)
}

// expWithin is exp, bit for bit, of what has a result in the normal range that is not quite
// the greatest, where AVX2 adds to the exponent instead of multiplying twice. NaN gives
// anything.
func (w *writer) expWithin(x VecVirtual) VecVirtual {
	if w.letter == "Z" {
		return w.exp(x)
	}
	parts, c := w.expParts(), w.coefficients().exp
	integer, shift, add, bits := 0x1.8p23, VPSLLD, VPADDD, uint64(23)
	if w.size == 8 {
		integer, shift, add, bits = 0x1.8p52, VPSLLQ, VPADDQ, 52
	}
	n, r := w.do2(w.add, w.do2(w.mul, x, w.operand(math.Log2E)), w.operand(integer)), w.new() // n as the last bits
	number := w.do2(w.sub, n, w.operand(integer))
	w.move(x, r)
	w.fnma(w.operand(parts[0]), number, r)
	w.fnma(w.operand(parts[1]), number, r)
	p := w.polynomial(r, c)
	w.fma213(r, w.do2(w.mul, r, r), p)
	p = w.do2(w.add, p, w.operand(1))
	shift(U8(bits), n, n)
	add(n, p, p)
	return p
}

// beyondExp are elements whose size is too large for expWithin, and NaN.
func (w *writer) beyondExp(x VecVirtual) VecVirtual {
	m := w.do2(w.and, x, w.patternOperand(1<<(8*w.size-1)-1))
	w.compare(U8(isNotAtMost), w.operand(w.ordinaryLimit()), m, m)
	return m
}

func (w *writer) ordinaryLimit() float64 {
	if w.size == 4 {
		return 86
	}
	return 707
}

// expParts are ln(2) in two parts, and what else exp needs.
func (e element) expParts() []float64 {
	if e.size == 4 {
		return []float64{0.693145751953125, 1.428606765330187e-06, math.Log2E}
	}
	return []float64{0.6931471803691238, 1.9082149292705877e-10, math.Log2E}
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
func (w *writer) erf(x []VecVirtual) VecVirtual { return w.erfOf(x[0], x[0]) }

// erfOf is erf of x, which has the sign of signed.
func (w *writer) erfOf(x, signed VecVirtual) VecVirtual {
	if w.size == 8 {
		return w.erfByTable(x, signed)
	}
	const limit = 4
	c := w.coefficients()
	near := w.polynomial(w.do2(w.mul, x, x), c.erfSmall)
	w.fma213(x, x, near)
	size := w.do2(w.andNot, w.signBit(), x)
	far := w.expWithin(w.polynomial(w.do2(w.min, w.number(limit), size), c.erfLarge))
	far = w.withSign(w.do2(w.sub, w.number(1), far), signed)
	return w.where(isGreater, size, w.number(1), far, near)
}

// gelu rounds each step.
func (w *writer) gelu(x []VecVirtual) VecVirtual {
	e := w.erfOf(w.do2(w.mul, x[0], w.operand(math.Sqrt2/2)), x[0])
	return w.do2(w.mul, w.do2(w.mul, x[0], w.operand(0.5)), w.do2(w.add, e, w.operand(1)))
}

// log takes x apart into 2^n·(1+f) with 1+f from 1/√2 to √2. Vectors with an element
// that is not positive, finite and in the normal range are computed a second time.
func (w *writer) log(x []VecVirtual) VecVirtual {
	n, f := w.takenApart(x[0])
	r := w.logOf(n, f)
	done := w.label("ordinary")
	w.jumpIfOrdinary(x[0], done)
	w.move(w.logOfAny(x[0]), r)
	Label(done)
	return r
}

// logOf is n·ln(2) + log(1+f). For float32 log(1+f) is f - f²/2 + f³·P(f). For float64,
// where P were too long, it is f - f²/2 + s·(f²/2 + s²·P(s²)) with s = f/(2+f). What
// multiplies n comes in two parts, of which the first is exact.
func (w *writer) logOf(n, f VecVirtual) VecVirtual {
	parts := w.logParts()
	high, low := parts[0], parts[1]
	if w.size == 4 {
		square := w.do2(w.mul, f, f)
		p := w.do2(w.mul, w.do2(w.mul, f, square), w.polynomialOf(f, square, w.coefficients().log))
		w.fma(w.number(low), n, p)
		w.fnma(w.number(0.5), square, p)
		r := w.do2(w.add, f, p)
		w.fma(w.number(high), n, r)
		return r
	}
	s := w.do2(w.div, f, w.do2(w.add, f, w.number(2)))
	z := w.do2(w.mul, s, s)
	p := w.do2(w.mul, z, w.polynomial(z, w.coefficients().log))
	square := w.do2(w.mul, w.do2(w.mul, f, w.number(0.5)), f)
	p = w.do2(w.mul, s, w.do2(w.add, p, square))
	w.fma(w.number(low), n, p)
	r := w.do2(w.sub, f, w.do2(w.sub, square, p))
	w.fma(w.number(high), n, r)
	return r
}

// logParts are ln(2) in two parts, and what else every vector needs.
func (e element) logParts() []float64 {
	if e.size == 4 {
		return []float64{0.693138122558594, 9.058000614e-06, 0.5, math.Sqrt2 / 2, math.Ldexp(1, -126)}
	}
	return []float64{0.6931471803691238, 1.9082149292705877e-10, 0.5, math.Sqrt2 / 2, math.Ldexp(1, -1022)}
}

// logOfAny makes numbers below the normal range greater first.
func (w *writer) logOfAny(x VecVirtual) VecVirtual {
	least, up := math.Ldexp(1, -126), 25.0
	if w.size == 8 {
		least, up = math.Ldexp(1, -1022), 54
	}
	x1 := w.where(isLess, x, w.number(least), w.do2(w.mul, x, w.number(math.Exp2(up))), x)
	down := w.where(isLess, x, w.number(least), w.number(-up), w.pattern(0))
	n, f := w.takenApart(x1)
	r := w.logOf(w.do2(w.add, n, down), f)
	zero := w.pattern(0)
	r = w.where(isEqual, x, w.number(math.Inf(1)), x, r)
	r = w.where(isEqual, x, zero, w.number(math.Inf(-1)), r)
	return w.where(isNotAtLeast, x, zero, w.pattern(w.bits(math.NaN())), r)
}

// takenApart is n and f of log, of numbers in the normal range.
func (w *writer) takenApart(x VecVirtual) (n, f VecVirtual) {
	exponent := uint64(0xff800000)
	if w.size == 8 {
		exponent = 0xfff0000000000000
	}
	from, rest, m := w.new(), w.new(), w.new()
	root := w.pattern(w.bits(math.Sqrt2 / 2))
	if w.size == 4 {
		VPSUBD(root, x, from)
		w.integer(VPANDD, VPAND, w.pattern(exponent), from, rest)
		VPSUBD(rest, x, m)
	} else {
		VPSUBQ(root, x, from)
		w.integer(VPANDQ, VPAND, w.pattern(exponent), from, rest)
		VPSUBQ(rest, x, m)
	}
	return w.exponents(from), w.do2(w.sub, m, w.number(1))
}

// jumpIfOrdinary jumps if all elements are positive, finite and in the normal range, whose
// bits lie between those of the least such number and of infinity.
func (w *writer) jumpIfOrdinary(x VecVirtual, label string) {
	least := w.bits(math.Ldexp(1, -126))
	subtract, compareZ, greater := VPSUBD, VPCMPUD, VPCMPGTD
	if w.size == 8 {
		least = w.bits(math.Ldexp(1, -1022))
		subtract, compareZ, greater = VPSUBQ, VPCMPUQ, VPCMPGTQ
	}
	infinity := w.bits(math.Inf(1))
	if w.letter == "Z" {
		above, k := w.new(), K()
		subtract(w.pattern(least), x, above)
		compareZ(U8(isNoLessUnsigned), w.pattern(infinity-least), above, k)
		KORTESTW(k, k)
		JZ(LabelRef(label))
		return
	}
	below, beyond := w.new(), w.new()
	greater(x, w.pattern(least), below)
	greater(w.pattern(infinity-1), x, beyond)
	VPOR(below, beyond, below)
	VPTEST(below, below)
	JZ(LabelRef(label))
}

// exponents are the exponents in the bits of x, as numbers.
func (w *writer) exponents(x VecVirtual) VecVirtual {
	n := w.new()
	switch {
	case w.size == 4:
		VPSRAD(U8(23), x, n)
		VCVTDQ2PS(n, n)
	case w.letter == "Z":
		VPSRAQ(U8(52), x, n)
		VCVTQQ2PD(n, n)
	default:
		VPSRAD(U8(20), x, n)
		high := XMM()
		VEXTRACTI128(U8(1), n, high)
		VSHUFPS(U8(0b11_01_11_01), high, n.AsX(), high)
		VCVTDQ2PD(high, n)
	}
	return n
}

// tanh is odd: near zero x + x³·P(x²), elsewhere 1 - 2/(exp(2|x|)+1). The sum near
// zero would turn -0 into +0, so both take the sign of x at the end.
func (w *writer) tanh(x []VecVirtual) VecVirtual {
	limit := 10.0 // where it is 1
	if w.size == 8 {
		limit = 20
	}
	square := w.do2(w.mul, x[0], x[0])
	near := w.polynomial(square, w.coefficients().tanhSmall)
	w.fma213(x[0], w.do2(w.mul, square, x[0]), near)
	size := w.do2(w.andNot, w.signBit(), x[0])
	limited := w.do2(w.min, w.number(limit), size)
	e := w.expWithin(w.do2(w.add, limited, limited))
	far := w.do2(w.div, w.number(2), w.do2(w.add, e, w.operand(1)))
	far = w.do2(w.sub, w.number(1), far)
	return w.withSign(w.where(isGreater, size, w.number(0.6), far, near), x[0])
}

// withSign gives x, which is positive or has the sign of y, the sign of y.
func (w *writer) withSign(x, y VecVirtual) VecVirtual {
	return w.do2(w.or, x, w.do2(w.and, y, w.patternOperand(1<<(8*w.size-1))))
}

func (w *writer) sigmoid(x []VecVirtual) VecVirtual {
	e := w.expBody([]VecVirtual{w.do2(w.xor, x[0], w.patternOperand(1<<(8*w.size-1)))})
	return w.do2(w.div, w.number(1), w.do2(w.add, e, w.operand(1)))
}
