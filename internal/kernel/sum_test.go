package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSumsAreThePortableOnesBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x32, x64 := random[float32](5000, r), random[float64](5000, r)
	fast(t, func(t *testing.T, k *kernels) {
		for _, n := range []int{0, 1, 7, 8, 9, 15, 64, 255, 256, 257, 600, 1023, 1024, 1025, 1500, 2048, 3000, 4096, 4999} {
			for from := range 2 {
				if got, want := sumBy(k.sums32, x32[from:from+n]), sumRow[float32, float64](x32[from:from+n]); got != want {
					t.Errorf("%d float32: got %v, want %v", n, got, want)
				}
				if got, want := sumBy(k.sums64, x64[from:from+n]), sumRow[float64, float64](x64[from:from+n]); got != want {
					t.Errorf("%d float64: got %v, want %v", n, got, want)
				}
			}
		}
	})
}

func TestSoftmaxOfALevelIsAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	inf := float32(math.Inf(1))
	special := map[string][]float32{
		"a NaN": {1, float32(math.NaN()), 3}, "all -Inf": {-inf, -inf}, "some -Inf": {-inf, 2, -inf, 1, 5}, "+Inf": {1, inf, 2},
		"far below": {-1000, 0, -90}, "large": {1e30, 1e30, 3}, "one": {7},
	}
	fast(t, func(t *testing.T, k *kernels) {
		for name, x := range special {
			checkSoftmax(t, k, name, x)
		}
		for n := 1; n < 70; n++ {
			checkSoftmax(t, k, "random", random[float32](n, r))
		}
		checkSoftmax(t, k, "long", random[float32](3001, r))
	})
}

func checkSoftmax(t *testing.T, k *kernels, name string, x []float32) {
	t.Helper()
	y := make([]float32, len(x)+1)
	y[len(x)] = 12345
	rows32(k, Softmax, y[:len(x)], x, len(x))
	want := make([]float32, len(x))
	softmax(want, x)
	for i := range x {
		if d := ulps(y[i], float64(want[i])); d > 3 && !(want[i] < 1e-37) {
			t.Errorf("%s, %d elements, at %d: got %v, want %v", name, len(x), i, y[i], want[i])
			return
		}
	}
	if y[len(x)] != 12345 {
		t.Errorf("%s: wrote beyond %d elements", name, len(x))
	}
}

func TestSoftmaxOfLevelsHasTheSameBits(t *testing.T) {
	levels := machine()
	if len(levels) < 3 {
		return // nothing to compare with
	}
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 5, 16, 31, 64, 300, 1024} {
		x := random[float32](n, r)
		one, other := make([]float32, n), make([]float32, n)
		rows32(levels[1], Softmax, one, x, n)
		rows32(levels[2], Softmax, other, x, n)
		for i := range x {
			if one[i] != other[i] {
				t.Fatalf("%d elements, at %d: %v and %v", n, i, one[i], other[i])
			}
		}
	}
}
