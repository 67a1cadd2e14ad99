package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// bitsOf is what NaN of any kind have in common, and else the bits of v.
func bitsOf[T float](v T) uint64 {
	switch x := any(v).(type) {
	case float32:
		if x == x {
			return uint64(math.Float32bits(x))
		}
	case float64:
		if x == x {
			return math.Float64bits(x)
		}
	}
	return math.MaxUint64
}

// awkward are numbers at which something changes.
func awkward[T float]() []T {
	inf, tiny, most := math.Inf(1), math.SmallestNonzeroFloat32, math.MaxFloat32
	if any(T(0)) == any(float64(0)) {
		tiny, most = math.SmallestNonzeroFloat64, math.MaxFloat64
	}
	all := []T{T(math.NaN())}
	for _, v := range []float64{0, inf, tiny, 3 * tiny, most, 1, 1.5, 3, 1e-30, 1e30} {
		all = append(all, T(v), T(-v))
	}
	return all
}

func TestVectorsOfTwoOperandsAreThePortableLoopsBitForBit(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkBinary(t, k.vectors32)
		checkBinary(t, k.vectors64)
	})
}

func checkBinary[T float](t *testing.T, v vectors[T]) {
	var x, y []T
	for _, a := range awkward[T]() {
		for _, b := range awkward[T]() {
			x, y = append(x, a), append(y, b)
		}
	}
	for op := range v.binary {
		t.Run(fmt.Sprintf("%v of %T", op, x[0]), func(t *testing.T) {
			want := make([]T, len(x))
			floatBinary[T](op)(want, x, y)
			f := fastBinary(v, op)
			everyLength(t, x, want, func(z, x []T, from int) { f(z, x, y[from:from+len(x)]) })
		})
	}
}

func TestVectorsOfOneOperandAreThePortableLoopsBitForBit(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkUnary(t, k.vectors32)
		checkUnary(t, k.vectors64)
	})
}

// inexactOps, with how many units in the last place they may be off, have tests of
// their own.
var inexactOps = map[Op]float64{Exp: 2, Log: 2, Erf: 2, Tanh: 2, Sigmoid: 3, Rsqrt: 2}

func checkUnary[T float](t *testing.T, v vectors[T]) {
	x := awkward[T]()
	for range 3 {
		x = append(x, random[T](29, rand.New(rand.NewPCG(5, 6)))...)
	}
	for op := range v.unary {
		if _, ok := inexactOps[op]; ok || op == Gelu {
			continue
		}
		t.Run(fmt.Sprintf("%v of %T", op, x[0]), func(t *testing.T) {
			want := make([]T, len(x))
			floatUnary[T](op)(want, x)
			f := fastUnary(v, op)
			everyLength(t, x, want, func(z, x []T, _ int) { f(z, x) })
		})
	}
}

// everyLength runs f over parts of x of every length, into memory with guards and
// in place.
func everyLength[T float](t *testing.T, x, want []T, f func(z, x []T, from int)) {
	t.Helper()
	const guard = 12345
	for n := range len(x) + 1 {
		from := (len(x) - n) / 2
		out := make([]T, n+2)
		out[0], out[n+1] = guard, guard
		f(out[1:n+1], x[from:from+n], from)
		same := append([]T(nil), x[from:from+n]...)
		f(same, same, from)
		for i := range n {
			if w := want[from+i]; bitsOf(out[1+i]) != bitsOf(w) || bitsOf(same[i]) != bitsOf(w) {
				t.Fatalf("%d elements: of %v got %v and in place %v, want %v", n, x[from+i], out[1+i], same[i], w)
			}
		}
		if out[0] != guard || out[n+1] != guard {
			t.Fatalf("%d elements: wrote beyond them", n)
		}
		if n > 80 {
			return
		}
	}
}

// ulps is the distance of got from want in units in the last place of T.
func ulps[T float](got T, want float64) float64 {
	w := T(want)
	switch {
	case bitsOf(got) == bitsOf(w):
		return 0
	case got != got || w != w || math.IsInf(float64(w), 0) || got == 0 && w == 0: // zeros of two signs
		return math.Inf(1)
	}
	unit := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
	if any(T(0)) == any(float32(0)) {
		unit = float64(math.Nextafter32(float32(math.Abs(want)), float32(math.Inf(1)))) - math.Abs(float64(w))
	}
	return math.Abs(float64(got)-want) / max(unit, math.SmallestNonzeroFloat64)
}

var trueFunctions = map[Op]func(float64) float64{
	Exp: math.Exp, Log: trueLog, Erf: math.Erf, Tanh: math.Tanh,
	Sigmoid: func(x float64) float64 {
		if x < 0 { // where exp(-x) may be infinite
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	},
	Rsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
}

// trueLog is math.Log, which on some processors does not know of numbers below the
// normal range.
func trueLog(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p1022) - 1022*math.Ln2
	}
	return math.Log(x)
}

func TestLogarithmsBelowTheNormalRange(t *testing.T) {
	x := []float64{5e-324, 1e-310, 0x1p-1023}
	y := make([]float64, len(x))
	log(y, x)
	for i, want := range []float64{-744.4400719213812, -713.8013788281542, -709.0895657128241} {
		if math.Abs(y[i]-want) > 1e-12 {
			t.Errorf("of %v: got %v, want %v", x[i], y[i], want)
		}
	}
}

func TestVectorsOfFunctionsAreAccurate(t *testing.T) {
	var x []float32
	for bits := uint64(0); bits < 1<<32; bits += 9973 { // the whole range of float32
		x = append(x, math.Float32frombits(uint32(bits)))
	}
	x = append(x, awkward[float32]()...)
	fast(t, func(t *testing.T, k *kernels) {
		checkFunctions(t, k.vectors32, x)
		checkFunctions(t, k.vectors64, widened64(x))
	})
}

// widened64 spreads x over more of the arguments at which float64 functions are
// neither zero nor infinite. Above 709 the standard library's exponential is
// infinite too early on some processors.
func widened64(x []float32) []float64 {
	y := awkward[float64]()
	for i, v := range x {
		if w := float64(v) * (1 + float64(i%1000)/1e5); w < 709 {
			y = append(y, w, 709+1454*(float64(i)/float64(len(x))-1))
		}
	}
	return y
}

func checkFunctions[T float](t *testing.T, v vectors[T], x []T) {
	for op, limit := range inexactOps {
		f := v.unary[op]
		if f == nil {
			continue
		}
		t.Run(fmt.Sprintf("%v of %T", op, x[0]), func(t *testing.T) {
			y := make([]T, len(x))
			f(len(x), &y[0], &x[0])
			worst := 0.0
			for i, v := range x {
				want := trueFunctions[op](float64(v))
				if op == Sigmoid && math.Abs(want) < leastNormal[T]() && y[i] == 0 {
					continue
				}
				d := ulps(y[i], want)
				if worst = max(worst, d); d > limit {
					t.Fatalf("of %v got %v, want %v: %.2f units in the last place, over %v", v, y[i], want, d, limit)
				}
			}
			t.Logf("at most %.2f units in the last place off", worst)
		})
	}
}

func leastNormal[T float]() float64 {
	if any(T(0)) == any(float32(0)) {
		return 0x1p-126
	}
	return 0x1p-1022
}

// Gelu is made of other operations, each rounded.
func TestVectorsOfGeluAreItsStepsBitForBit(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkGelu(t, k.vectors32)
		checkGelu(t, k.vectors64)
	})
}

func checkGelu[T float](t *testing.T, v vectors[T]) {
	x := append(awkward[T](), random[T](77, rand.New(rand.NewPCG(31, 32)))...)
	want := make([]T, len(x))
	for i, a := range x {
		want[i] = T(a * (math.Sqrt2 / 2))
	}
	fastUnary(v, Erf)(want, want)
	for i, a := range x {
		want[i] = T(a*0.5) * T(want[i]+1)
	}
	f := fastUnary(v, Gelu)
	everyLength(t, x, want, func(z, x []T, _ int) { f(z, x) })
}

func TestVectorsOfExpOverflowAndVanishWhereTheyMust(t *testing.T) {
	x := []float64{709.782712893384, 709.782712893385, -745.13, -745.14, math.Inf(1), math.Inf(-1)}
	want := []float64{1.7976931348622732e308, math.Inf(1), math.SmallestNonzeroFloat64, 0, math.Inf(1), 0}
	fast(t, func(t *testing.T, k *kernels) {
		y := make([]float64, len(x))
		k.vectors64.unary[Exp](len(x), &y[0], &x[0])
		for i := range x {
			if math.Abs(y[i]-want[i]) > 1e-12*want[i] && y[i] != want[i] {
				t.Errorf("exp(%v) is %v, want %v", x[i], y[i], want[i])
			}
		}
	})
}

// A job may run on processors of different levels.
func TestLevelsHaveTheSameBits(t *testing.T) {
	levels := machine()
	if len(levels) < 3 {
		return // nothing to compare with
	}
	checkLevels(t, levels[1].vectors32, levels[2].vectors32)
	checkLevels(t, levels[1].vectors64, levels[2].vectors64)
}

func checkLevels[T float](t *testing.T, low, high vectors[T]) {
	x := append(awkward[T](), random[T](1000, rand.New(rand.NewPCG(7, 8)))...)
	for op, f := range low.unary {
		one, other := make([]T, len(x)), make([]T, len(x))
		f(len(x), &one[0], &x[0])
		high.unary[op](len(x), &other[0], &x[0])
		for i := range x {
			if bitsOf(one[i]) != bitsOf(other[i]) {
				t.Errorf("%v of %v: %v with AVX2 and %v with AVX-512", op, x[i], one[i], other[i])
				break
			}
		}
	}
}
