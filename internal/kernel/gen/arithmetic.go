package main

import (
	"math"

	. "github.com/mmcloughlin/avo/reg"
)

// arithmetic writes the elementwise functions that round once.
func arithmetic() {
	for _, v := range []vector{ymm, zmm} {
		for _, e := range []element{single, double} {
			for _, f := range []struct {
				name, doc string
				op        op
			}{{"Add", "x + y", e.add}, {"Sub", "x - y", e.sub}, {"Mul", "x · y", e.mul}, {"Div", "x / y", e.div}} {
				each(e, v, f.name, f.doc, 2, 4, nil, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(f.op, x[0], x[1]) })
			}
			unary(e, v)
			each(e, v, "Max", "the greater of x and y, +0 before -0 and NaN before all,", 2, 4, nil, extremum(true))
			each(e, v, "Min", "the lesser of x and y, -0 before +0 and NaN before all,", 2, 4, nil, extremum(false))
		}
	}
}

func unary(e element, v vector) {
	sign := []float64{math.Copysign(0, -1)}
	each(e, v, "Neg", "-x", 1, 4, sign, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(e.xor, x[0], w.signBit()) })
	each(e, v, "Abs", "|x|", 1, 4, sign, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(e.andNot, w.signBit(), x[0]) })
	each(e, v, "Square", "x · x", 1, 4, nil, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(e.mul, x[0], x[0]) })
	each(e, v, "Sqrt", "the square roots", 1, 4, nil, func(w *writer, x []VecVirtual) VecVirtual { return w.root(x[0]) })
	each(e, v, "Reciprocal", "1 / x", 1, 4, []float64{1}, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(e.div, w.number(1), x[0]) })
	each(e, v, "Rsqrt", "1 / sqrt(x)", 1, 4, []float64{1}, func(w *writer, x []VecVirtual) VecVirtual { return w.do2(e.div, w.number(1), w.root(x[0])) })
}

func (w *writer) root(x VecVirtual) VecVirtual {
	r := w.new()
	w.sqrt(x, r)
	return r
}

// extremum is the greater or the lesser of two, or NaN if either is one.
func extremum(greater bool) body {
	return func(w *writer, x []VecVirtual) VecVirtual {
		if w.letter == "Z" {
			return w.rangeOf(greater, x[0], x[1])
		}
		f, join := w.min, w.or
		if greater {
			f, join = w.max, w.and
		}
		// As of two zeros or with a NaN the instruction gives its second operand, it
		// is taken in both orders. Of two zeros, join makes the right sign.
		both := w.do2(join, w.do2(f, x[0], x[1]), w.do2(f, x[1], x[0]))
		return w.where(isUnordered, x[0], x[1], w.do2(w.add, x[0], x[1]), both)
	}
}
