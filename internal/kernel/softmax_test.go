package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rowsOf are rows of every length and of awkward content.
func rowsOf[T float](f func(name string, x []T)) {
	r := rand.New(rand.NewPCG(11, 12))
	inf := T(math.Inf(1))
	for name, x := range map[string][]T{
		"a NaN": {1, T(math.NaN()), 3}, "all -Inf": {-inf, -inf}, "some -Inf": {-inf, 2, -inf, 1, 5}, "+Inf": {1, inf, 2},
		"NaN and -Inf": {-inf, T(math.NaN())}, "NaN and +Inf": {inf, T(math.NaN()), 1}, "all NaN": {T(math.NaN()), T(math.NaN())},
		"far below": {-1000, 0, -90}, "large": {1e30, 1e30, 3}, "one": {7}, "alike": {3, 3, 3, 3, 3, 3, 3, 3, 3},
	} {
		f(name, x)
	}
	for n := 1; n < 70; n++ {
		f("random", random[T](n, r))
	}
	f("long", random[T](3001, r))
}

func TestRowFunctionsOfALevelAreAccurate(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		rowsOf(func(name string, x []float32) { checkRow(t, &k.rows32, name, x) })
		rowsOf(func(name string, x []float64) { checkRow(t, &k.rows64, name, x) })
	})
}

func checkRow[T float](t *testing.T, f *rowFunctions[T], name string, x []T) {
	t.Helper()
	portable := &rowFunctions[T]{}
	tiny, rounding, limit := 1e-37, 1.2e-7, 4.0
	if sizeOf[T]() == 8 {
		tiny, rounding, limit = 1e-300, 2.3e-16, 20 // here the additions round too
	}
	for _, op := range []RowOp{Softmax, LogSoftmax, LogSumExp} {
		n := len(x)
		if op == LogSumExp {
			n = 1
		}
		y, want := make([]T, n+1), make([]T, n)
		y[n] = 12345
		eachOfRows(f, op, y[:n], x, len(x))
		eachOfRows(portable, op, want, x, len(x))
		for i, w := range want {
			near := ulps(y[i], float64(w)) <= limit || w >= 0 && float64(w) < tiny && float64(y[i]) < tiny ||
				op != Softmax && math.Abs(float64(y[i]-w)) <= 3*rounding // where two logarithms cancel
			if !near {
				t.Errorf("%s of %s, %d elements of %T, at %d: got %v, want %v", op, name, len(x), w, i, y[i], w)
				break
			}
		}
		if y[n] != 12345 {
			t.Errorf("%s of %s: wrote beyond %d elements", op, name, len(x))
		}
	}
}

func TestRowFunctionsOfLevelsHaveTheSameBits(t *testing.T) {
	levels := machine()
	if len(levels) < 3 {
		return // nothing to compare with
	}
	rowsOf(func(name string, x []float32) { compareRows(t, &levels[1].rows32, &levels[2].rows32, name, x) })
	rowsOf(func(name string, x []float64) { compareRows(t, &levels[1].rows64, &levels[2].rows64, name, x) })
}

func compareRows[T float](t *testing.T, low, high *rowFunctions[T], name string, x []T) {
	t.Helper()
	for _, op := range []RowOp{Softmax, LogSoftmax} {
		one, other := make([]T, len(x)), make([]T, len(x))
		eachOfRows(low, op, one, x, len(x))
		eachOfRows(high, op, other, x, len(x))
		for i := range x {
			if bitsOf(one[i]) != bitsOf(other[i]) {
				t.Errorf("%s of %s, %d elements of %T, at %d: %v and %v", op, name, len(x), x[0], i, one[i], other[i])
				break
			}
		}
	}
}

func TestNormalizedRowsOfALevelAreThePortableOnesBitForBit(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		rowsOf(func(name string, x []float32) { checkNormalized(t, &k.rows32, name, x) })
		rowsOf(func(name string, x []float64) { checkNormalized(t, &k.rows64, name, x) })
	})
}

func checkNormalized[T float](t *testing.T, f *rowFunctions[T], name string, x []T) {
	t.Helper()
	for _, center := range []bool{true, false} {
		y, want := make([]T, len(x)+1), make([]T, len(x)+1)
		scale, wantScale := make([]T, 1), make([]T, 1)
		normalize(f, y[:len(x)], scale, x, len(x), 1e-5, center)
		normalize(&rowFunctions[T]{}, want[:len(x)], wantScale, x, len(x), 1e-5, center)
		for i := range y {
			if bitsOf(y[i]) != bitsOf(want[i]) || bitsOf(scale[0]) != bitsOf(wantScale[0]) {
				t.Errorf("%s, %d elements of %T, at %d: %v with scale %v, want %v with %v", name, len(x), x[0], i, y[i], scale[0], want[i], wantScale[0])
				break
			}
		}
	}
}
