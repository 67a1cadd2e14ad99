package kernel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

func TestSumsAreThePortableOnesBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x32, x64 := random[float32](150000, r), random[float64](150000, r)
	fast(t, func(t *testing.T, k *kernels) {
		for _, n := range []int{0, 1, 7, 8, 9, 15, 64, 255, 256, 257, 600, 1023, 1023, 1024, 1025, 1056, 1500, 2048, 3000, 4096, 4999, 70000, 66 * 1024, 140001} {
			for from := range 2 {
				if got, want := sumBy(&k.sums32, x32[from:from+n]), sumRow[float32, float64](x32[from:from+n]); got != want {
					t.Errorf("%d float32: got %v, want %v", n, got, want)
				}
				if got, want := sumBy(&k.sums64, x64[from:from+n]), sumRow[float64, float64](x64[from:from+n]); got != want {
					t.Errorf("%d float64: got %v, want %v", n, got, want)
				}
			}
		}
	})
}

func TestSumsOfNumbersOfEverySizeAreThePortableOnes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	fill := func(f func(i int) float32) []float32 {
		x := make([]float32, 2*rowBlock+5)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	put := func(v ...float32) []float32 {
		x := fill(func(i int) float32 { return float32(i) })
		for i, v := range v {
			x[500+i] = v
		}
		return x
	}
	for name, x := range map[string][]float32{
		"denormals": fill(func(i int) float32 { return math.Float32frombits(uint32(i*i*7919) % (1 << 23)) }),
		"denormals of both signs and small numbers": fill(func(i int) float32 {
			return math.Float32frombits(uint32(i*i*7919)%(1<<24) | uint32(i)<<31)
		}),
		"the greatest":       fill(func(int) float32 { return math.MaxFloat32 }),
		"of every magnitude": fill(func(i int) float32 { return float32(math.Ldexp(float64(1-i%2*2), i%277-149)) }),
		"zeros of both signs": fill(func(i int) float32 {
			return math.Float32frombits(uint32(i) << 31)
		}),
		"an infinity":          put(inf),
		"infinities that meet": put(inf, -inf),
		"a NaN":                put(nan),
	} {
		fast(t, func(t *testing.T, k *kernels) {
			if got, want := sumBy(&k.sums32, x), sumRow[float32, float64](x); bitsOf(got) != bitsOf(want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		})
	}
}

func TestColumnSumsAreThePortableOnesBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	fast(t, func(t *testing.T, k *kernels) {
		for _, n := range []int{1, 2, 3, 4, 5, 63, 64, 65, 128, 129, 300} {
			for _, columns := range []int{1, 7, 8, 9, 31, 32, 40, 65} {
				checkColumns(t, &k.sums32, random[float32](n*(columns+3), r), n, columns)
				checkColumns(t, &k.sums64, random[float64](n*(columns+3), r), n, columns)
			}
		}
	})
}

func checkColumns[T float](t *testing.T, s *summing[T], x []T, n, columns int) {
	t.Helper()
	got, want := make([]float64, columns), make([]float64, columns)
	sumColumnsBy(s, got, x, 2, n, columns+3)
	sumColumns(want, x, 2, n, columns+3)
	for j := range want {
		if got[j] != want[j] {
			t.Fatalf("%T, %d rows, column %d of %d: got %v, want %v", x[0], n, j, columns, got[j], want[j])
		}
	}
}

func TestSharedReductionsKeepTheirBits(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const rows, columns = 300, 1111
	x := random[float64](rows*columns, r)
	in := Operand{Storage: buffer.Bytes(x), Size: 8, Strides: []int{columns, 1}}
	for _, reduction := range []Reduction{Sum, Mean, Max, Min} {
		for _, axes := range [][]int{{0}, {1}, {0, 1}} {
			with := func(workers int) []float64 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				out := make([]float64, columns)
				Reduce(reduction, dtype.Float64, buffer.Bytes(out), dtype.Float64, in, []int{rows, columns}, axes)
				return out
			}
			want := with(1)
			for _, workers := range []int{2, 3, 5} {
				if got := with(workers); !slices.Equal(got, want) {
					t.Errorf("%s over %v: other bits on %d processors", reduction, axes, workers)
				}
			}
		}
	}
}

func TestExtremaOfALevelAreThePortableOnes(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkExtremes(t, &k.extremes32)
		checkExtremes(t, &k.extremes64)
	})
}

func checkExtremes[T float](t *testing.T, e *extremes[T]) {
	zero, nan := T(0), T(math.NaN())
	for n := 1; n < 150; n++ {
		plain := random[T](n, rand.New(rand.NewPCG(23, uint64(n))))
		zeros := make([]T, n)
		for i := range zeros {
			zeros[i] = T(math.Copysign(0, float64(1-2*(i%2))))
		}
		for at := range n {
			for _, special := range []T{zero, -zero, nan, T(math.Inf(1)), T(math.Inf(-1))} {
				for _, x := range [][]T{slices.Clone(plain), slices.Clone(zeros)} {
					x[at] = special
					checkExtreme(t, x, e.max, maxRow[T])
					checkExtreme(t, x, e.min, minRow[T])
				}
			}
		}
	}
}

func checkExtreme[T float](t *testing.T, x []T, f func(n int, x *T) (T, bool), portable func([]T) T) {
	t.Helper()
	got, nan := f(len(x), &x[0])
	if want := portable(x); nan != (want != want) || !nan && bitsOf(got) != bitsOf(want) {
		t.Fatalf("of %v: got %v, NaN %v; want %v", x, got, nan, want)
	}
}

func TestExtremaOfColumnsAreThePortableOnes(t *testing.T) {
	x := awkward[float64]()
	for len(x) < 1000 {
		x = append(x, x[len(x)%21]*float64(len(x)%5))
	}
	fast(t, func(t *testing.T, k *kernels) {
		for _, n := range []int{1, 2, 4, 5, 6, 9} {
			for _, columns := range []int{1, 7, 8, 9, 40, 65} {
				e := &k.extremes64
				got, want := make([]float64, columns), make([]float64, columns)
				extremeColumns(e.vector, e.maxCol, maxColumns[float64], got, x, 3, n, columns+1)
				maxColumns(want, x, 3, n, columns+1)
				checkSame(t, "max", got, want)
				extremeColumns(e.vector, e.minCol, minColumns[float64], got, x, 3, n, columns+1)
				minColumns(want, x, 3, n, columns+1)
				checkSame(t, "min", got, want)
			}
		}
	})
}

func checkSame(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if bitsOf(got[i]) != bitsOf(want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestQuickExtremaAreThePortableOnes(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkQuick(t, &k.extremes32)
		checkQuick(t, &k.extremes64)
	})
}

// checkQuick puts what is awkward in every place of rows, and of columns, of the lengths that the quick
// functions take.
func checkQuick[T float](t *testing.T, e *extremes[T]) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, special := range append(awkward[T](), 0.5) {
		for _, sign := range []T{1, -1} {
			for at := range 2 * max(e.quick.many, 1) {
				x := random[T](2*max(e.quick.many, 1), r)
				for i := range x {
					x[i] = sign * max(x[i], -x[i]) // so that zeros are extrema
				}
				x[at] = special
				checkExtreme(t, x, e.quick.exactly(e.quick.max, e.max), maxRow[T])
				checkExtreme(t, x, e.quick.exactly(e.quick.min, e.min), minRow[T])
			}
			for _, rows := range []int{1, 2, 3, 9} {
				for _, columns := range []int{e.vector, 3 * e.vector, 8 * e.vector, 11 * e.vector} {
					x := random[T](rows*(columns+1), r)
					for i := range x {
						x[i] = sign * max(x[i], -x[i])
					}
					x[r.IntN(len(x))] = special
					checkStripes(t, e, e.quick.maxStripes, maxColumns[T], x, rows, columns)
					checkStripes(t, e, e.quick.minStripes, minColumns[T], x, rows, columns)
				}
			}
		}
	}
}

// checkStripes has results be right or not given.
func checkStripes[T float](t *testing.T, e *extremes[T], f func(n, rows int, x *T, stride int, acc *T) bool, portable func(acc, x []T, at, n, stride int), x []T, rows, columns int) {
	t.Helper()
	got, want := make([]T, columns+1), make([]T, columns)
	got[columns] = 12345
	sure := e.inStripes(f, got[:columns], x, 1, rows, columns+1)
	portable(want, x, 1, rows, columns+1)
	for i, w := range want {
		if sure && bitsOf(got[i]) != bitsOf(w) {
			t.Fatalf("%d rows, column %d of %d: got %v, want %v", rows, i, columns, got[i], w)
		}
	}
	if doubtful := slices.ContainsFunc(want, func(w T) bool { return w == 0 || w != w }); f != nil && sure == doubtful {
		t.Fatalf("sure of %v: %v", want, sure)
	}
	if got[columns] != 12345 {
		t.Fatal("wrote beyond the columns")
	}
}
