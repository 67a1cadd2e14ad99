package reduce

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// folds is how op combines the accumulator with the next part, both as the
// float64 values of type t.
func folds(op Op, t dtype.Type) func(acc, x []float64) {
	switch {
	case op == Sum || op == Mean:
		return addWide
	case t.IsComplex() && op == Max:
		return largestPair
	case t.IsComplex():
		return smallestPair
	case op == Max:
		return largestWide
	}
	return smallestWide
}

func addWide(acc, x []float64) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] += x[i]
	}
}

// The built-in max and min propagate NaN and order -0 before +0.

func largestWide(acc, x []float64) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] = max(acc[i], x[i])
	}
}

func smallestWide(acc, x []float64) {
	x = x[:len(acc)]
	for i := range acc {
		acc[i] = min(acc[i], x[i])
	}
}

func divide(acc []float64, ranks int) {
	n := float64(ranks)
	for i := range acc {
		acc[i] /= n
	}
}

// largestPair orders (real, imaginary) pairs. Equal pairs may differ in the sign
// of a zero, which max settles.
func largestPair(acc, x []float64) {
	for i := 0; i+1 < len(acc); i += 2 {
		a, b := (*[2]float64)(acc[i:]), (*[2]float64)(x[i:])
		switch {
		case hasNaN(a) || hasNaN(b):
			*a = [2]float64{math.NaN(), math.NaN()}
		case less(a, b):
			*a = *b
		case !less(b, a):
			a[0], a[1] = max(a[0], b[0]), max(a[1], b[1])
		}
	}
}

func smallestPair(acc, x []float64) {
	negate(acc)
	negate(x)
	largestPair(acc, x)
	negate(acc)
}

func hasNaN(a *[2]float64) bool { return a[0] != a[0] || a[1] != a[1] }

func less(a, b *[2]float64) bool {
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

func negate(x []float64) {
	for i := range x {
		x[i] = -x[i]
	}
}
