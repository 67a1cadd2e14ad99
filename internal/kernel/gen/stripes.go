package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// stripes writes, for AVX2, what folds the rows of a matrix that the second cache holds into one
// row, a stripe of columns at a time, which stays in registers; and extrema that leave the
// zeros of two signs and NaN to the slower functions. Sums of float32, which wait for their conversion, are
// quicker row by row.
func stripes() {
	sumStripes(double, ymm)
	for _, e := range []element{single, double} {
		for _, greater := range []bool{true, false} {
			extremumStripes(e, ymm, greater)
			quickExtremum(e, ymm, greater)
		}
	}
}

// stripeCount is how many registers hold a stripe.
const stripeCount = 8

// overStripes walks stripes of many registers and then narrow ones, of unit columns. Each
// begins with begin, has fold called for each row, and ends with end.
func (w *writer) overStripes(to element, unit int, begin func(acc []VecVirtual), fold func(row Register, acc []VecVirtual), end func(acc []VecVirtual)) {
	n, rows, x := Load(Param("n"), GP64()), Load(Param("rows"), GP64()), Load(Param("x"), GP64())
	down, out := stride(w.element, "stride"), Load(Param("acc"), GP64())
	row, left := GP64(), GP64()
	for _, columns := range []int{stripeCount * w.lanes(to), unit} {
		label := fmt.Sprintf("stripe%d", columns)
		Label(label)
		CMPQ(n, U32(columns))
		JLT(LabelRef(label + "Done"))
		acc := make([]VecVirtual, columns/w.lanes(to))
		for i := range acc {
			acc[i] = w.new()
		}
		begin(acc)
		MOVQ(x, row)
		MOVQ(rows, left)
		Label(label + "Row")
		fold(row, acc)
		ADDQ(down, row)
		DECQ(left)
		JNZ(LabelRef(label + "Row"))
		end(acc)
		for i, r := range acc {
			VMOVUPS(r, Mem{Base: out, Disp: i * w.bytes})
		}
		ADDQ(U32(columns*w.size), x)
		ADDQ(U32(columns*to.size), out)
		SUBQ(U32(columns), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
}

func sumStripes(e element, v vector) {
	w := start(e, v, e.prefix+"SumStripes"+v.letter, fmt.Sprintf("func(n, rows int, x *%s, stride int, acc *float64)", e.goType),
		"writes the sums of n columns, a multiple of 8, of rows > 0 rows, stride elements apart, to acc; each is added in the order of the rows to zero.")
	w.overStripes(double, 8, func(acc []VecVirtual) {
		for _, r := range acc {
			VXORPS(r, r, r)
		}
	}, func(row Register, acc []VecVirtual) {
		for i, r := range acc {
			w.addWide(Mem{Base: row, Disp: i * v.lanes(double) * e.size}, r)
		}
	}, func([]VecVirtual) {})
	VZEROUPPER()
	RET()
}

func extremumStripes(e element, v vector, greater bool) {
	w := start(e, v, e.prefix+nameOf(greater)+"Stripes"+v.letter, fmt.Sprintf("func(n, rows int, x *%[1]s, stride int, acc *%[1]s) (unsure bool)", e.goType),
		fmt.Sprintf("writes the extrema of n columns, a multiple of %d, of rows > 0 rows, stride elements apart, to acc. If there is a NaN or an extremum is zero, of either sign, which it tells, acc means nothing.", v.lanes(e)))
	seen, zero, worst := nans{w: w, m: YMM()}, v.new(), w.worst(greater)
	VXORPS(seen.m, seen.m, seen.m)
	VXORPS(zero, zero, zero)
	w.overStripes(e, v.lanes(e), func(acc []VecVirtual) {
		for _, r := range acc {
			w.move(worst, r)
		}
	}, func(row Register, acc []VecVirtual) {
		var last VecVirtual
		for i, r := range acc {
			x := v.new()
			w.move(Mem{Base: row, Disp: i * v.bytes}, x)
			w.quickBetter(greater, r, x)
			if i%2 == 1 {
				seen.look(last, x)
			} else if i == len(acc)-1 {
				seen.look(x, x)
			}
			last = x
		}
	}, func(acc []VecVirtual) {
		for _, r := range acc {
			seen.lookForZero(r, zero)
		}
	})
	Store(seen.any(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// quickExtremum is extremumOf but for zeros.
func quickExtremum(e element, v vector, greater bool) {
	w := start(e, v, e.prefix+"Quick"+nameOf(greater)+v.letter, fmt.Sprintf("func(n int, x *%[1]s) (r %[1]s, nan bool)", e.goType),
		fmt.Sprintf("is the extremum of n elements, a multiple of %d, and whether any is NaN, in which case r means nothing. A result of zero may have either sign.", stripeCount*v.lanes(e)))
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	seen, worst := nans{w: w, m: YMM()}, w.worst(greater)
	VXORPS(seen.m, seen.m, seen.m)
	best := make([]VecVirtual, stripeCount)
	for i := range best {
		best[i] = v.new()
		w.move(worst, best[i])
	}
	Label("vectors")
	CMPQ(n, U32(stripeCount*v.lanes(e)))
	JLT(LabelRef("done"))
	for i := 0; i < stripeCount; i += 2 {
		one, other := v.new(), v.new()
		w.move(Mem{Base: x, Disp: i * v.bytes}, one)
		w.move(Mem{Base: x, Disp: (i + 1) * v.bytes}, other)
		w.quickBetter(greater, best[i], one)
		w.quickBetter(greater, best[i+1], other)
		seen.look(one, other)
	}
	ADDQ(U32(stripeCount*v.bytes), x)
	SUBQ(U32(stripeCount*v.lanes(e)), n)
	JMP(LabelRef("vectors"))
	Label("done")
	for _, b := range best[1:] {
		w.quickBetter(greater, best[0], b)
	}
	Store(w.acrossExtremum(greater, best[0]), ReturnIndex(0))
	Store(seen.any(), ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// worst is what any number is at least as good as.
func (w *writer) worst(greater bool) VecVirtual {
	if greater {
		return w.number(math.Inf(-1))
	}
	return w.number(math.Inf(1))
}

// quickBetter leaves the extremum of two numbers in a; of two zeros it leaves any.
func (w *writer) quickBetter(greater bool, a, b VecVirtual) {
	if greater {
		w.max(b, a, a)
	} else {
		w.min(b, a, a)
	}
}

func (s nans) lookForZero(x, zero VecVirtual) {
	m := YMM()
	s.w.compare(U8(isEqual), zero, x, m)
	VORPS(m, s.m, s.m)
}
