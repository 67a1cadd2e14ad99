package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// From every type to every type, numbers that both hold come back unchanged.
func TestCastOfNumbersThatAllTypesHold(t *testing.T) {
	values := []float64{0, 1, 2, 3, 100, 127}
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			x := buffer.Make(len(values) * from.Size())
			Cast(dtype.Float64, from)(x, [][]byte{stored(values...)})
			y := buffer.Make(len(values) * to.Size())
			Cast(from, to)(y, [][]byte{x})
			back := buffer.Make(len(values) * 8)
			Cast(to, dtype.Float64)(back, [][]byte{y})
			want := slices.Clone(values)
			if from == dtype.Bool || to == dtype.Bool {
				want = []float64{0, 1, 1, 1, 1, 1}
			}
			if got := buffer.As[float64](back); !slices.Equal(got, want) {
				t.Errorf("%v to %v: %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestCastAtTheLimits(t *testing.T) {
	nan := math.NaN()
	check := func(name string, same bool) {
		t.Helper()
		if !same {
			t.Error(name)
		}
	}
	check("floats are truncated towards zero", slices.Equal(run1[int32](Cast(dtype.Float64, dtype.Int32), 1.9, -1.9, -0.5), []int32{1, -1, 0}))
	check("and wrap", slices.Equal(run1[uint8](Cast(dtype.Float32, dtype.Uint8), float32(257), -1), []uint8{1, 255}))
	check("integers wrap", slices.Equal(run1[int8](Cast(dtype.Int32, dtype.Int8), int32(130), -129), []int8{-126, 127}))
	check("signs are extended", slices.Equal(run1[uint64](Cast(dtype.Int8, dtype.Uint64), int8(-1)), []uint64{math.MaxUint64}))
	check("uint64 takes all of its range from floats", slices.Equal(run1[uint64](Cast(dtype.Float64, dtype.Uint64), math.Ldexp(1, 63)), []uint64{1 << 63}))
	check("and gives it", slices.Equal(run1[float32](Cast(dtype.Uint64, dtype.Float32), uint64(math.MaxUint64)), []float32{1 << 64}))
	check("NaN is true", slices.Equal(run1[bool](Cast(dtype.Float64, dtype.Bool), nan, 0, math.Copysign(0, -1), 1e-300), []bool{true, false, false, true}))
	check("also in halves", slices.Equal(run1[bool](Cast(dtype.Float16, dtype.Bool), dtype.F16From(nan), dtype.F16From(0)), []bool{true, false}))
	check("complex numbers lose their imaginary part", slices.Equal(run1[int16](Cast(dtype.Complex64, dtype.Int16), complex64(3.5+9i)), []int16{3}))
	check("but it makes them true", slices.Equal(run1[bool](Cast(dtype.Complex64, dtype.Bool), complex64(1i)), []bool{true}))
	check("halves overflow to infinity", slices.Equal(run1[dtype.F16](Cast(dtype.Float32, dtype.Float16), float32(65520), 65519), []dtype.F16{0x7c00, 0x7bff}))
	check("halves are rounded once from float64", slices.Equal(run1[dtype.F16](Cast(dtype.Float64, dtype.Float16), 1+math.Ldexp(1, -11)+math.Ldexp(1, -40)), []dtype.F16{0x3c01}))
	check("halves become each other through their value", slices.Equal(run1[dtype.BF16](Cast(dtype.Float16, dtype.BFloat16), dtype.F16From(1.5)), []dtype.BF16{dtype.BF16From(1.5)}))
}

// More elements than one block holds.
func TestCastOfManyHalves(t *testing.T) {
	x := make([]dtype.F16, 3*block+1)
	for i := range x {
		x[i] = dtype.F16From(float64(i % 2000))
	}
	for i, got := range run1[int32](Cast(dtype.Float16, dtype.Int32), x...) {
		if got != int32(i%2000) {
			t.Fatalf("element %d is %d", i, got)
		}
	}
}
