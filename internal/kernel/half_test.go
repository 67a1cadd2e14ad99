package kernel

import (
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

var halfTypes = []dtype.Type{dtype.Float16, dtype.BFloat16}

func halfFrom(t dtype.Type, x float32) uint16 {
	if t == dtype.Float16 {
		return uint16(dtype.F16From(float64(x)))
	}
	return uint16(dtype.BF16From(float64(x)))
}

func halfValue(t dtype.Type, h uint16) float32 {
	if t == dtype.Float16 {
		return dtype.F16(h).Float32()
	}
	return dtype.BF16(h).Float32()
}

func TestWideningOfALevelIsExactForEveryHalf(t *testing.T) {
	x := make([]uint16, 1<<16)
	for i := range x {
		x[i] = uint16(i)
	}
	fast(t, func(t *testing.T, k *kernels) {
		for _, half := range halfTypes {
			y := make([]float32, len(x))
			if n := k.half(half).widened(y, x); n != len(x) {
				t.Fatalf("%v: %d elements converted, want all %d", half, n, len(x))
			}
			for i, v := range y {
				if want := halfValue(half, x[i]); bitsOf(v) != bitsOf(want) {
					t.Fatalf("%v %#04x is %v, want %v", half, x[i], v, want)
				}
			}
		}
	})
}

func TestNarrowingOfALevelRoundsAsThePortable(t *testing.T) {
	x := awkward[float32]()
	for bits := uint64(0); bits < 1<<32; bits += 4093 {
		x = append(x, math.Float32frombits(uint32(bits)))
	}
	for h := range 1 << 16 { // each half and what lies halfway to the next and beside that
		for _, half := range halfTypes {
			v := math.Float32bits(halfValue(half, uint16(h)))
			for _, more := range []uint32{0, 1 << 12, 1<<12 - 1, 1<<12 + 1, 1 << 15, 1<<15 - 1, 1<<15 + 1} {
				x = append(x, math.Float32frombits(v+more))
			}
		}
	}
	x = x[:len(x)/16*16]
	fast(t, func(t *testing.T, k *kernels) {
		for _, half := range halfTypes {
			y := make([]uint16, len(x))
			if n := k.half(half).narrowed(y, x); n != len(x) {
				t.Fatalf("%v: %d elements converted, want all %d", half, n, len(x))
			}
			for i, h := range y {
				if want := halfFrom(half, x[i]); h != want {
					t.Fatalf("%v of %v (%#08x) is %#04x, want %#04x", half, x[i], math.Float32bits(x[i]), h, want)
				}
			}
		}
	})
}

func TestConversionsOfAnyLength(t *testing.T) {
	for _, half := range halfTypes {
		for n := range 70 {
			x, back := make([]uint16, n+1), make([]uint16, n+1)
			for i := range x {
				x[i] = halfFrom(half, float32(i)-3.5)
			}
			wide := make([]float32, n)
			Widen(half, wide, buffer.Bytes(x[:n]))
			Narrow(half, buffer.Bytes(back[:n]), wide)
			for i := range n {
				if back[i] != x[i] || wide[i] != float32(i)-3.5 {
					t.Fatalf("%v, %d elements, at %d: %v and back %#04x, want %#04x", half, n, i, wide[i], back[i], x[i])
				}
			}
			if back[n] != 0 {
				t.Fatalf("%v: wrote beyond %d elements", half, n)
			}
		}
	}
}

func TestHalfArithmeticOfALevelRoundsAsThePortable(t *testing.T) {
	var x, y []float32
	for _, a := range awkward[float32]() {
		for _, b := range awkward[float32]() {
			x, y = append(x, a, a/3), append(y, b, b/7)
		}
	}
	fast(t, func(t *testing.T, k *kernels) {
		for _, half := range halfTypes {
			a, b := make([]uint16, len(x)), make([]uint16, len(x))
			Narrow(half, buffer.Bytes(a), x)
			Narrow(half, buffer.Bytes(b), y)
			for op := range k.half(half).binary {
				f := floatBinary[float32](op)
				for _, n := range []int{0, 1, 15, 16, 17, 40, len(a)} {
					out := make([]uint16, n+1)
					halfBinary(k, op, half)(buffer.Bytes(out[:n]), [][]byte{buffer.Bytes(a[:n]), buffer.Bytes(b[:n])})
					for i := range n {
						var z [1]float32
						f(z[:], []float32{halfValue(half, a[i])}, []float32{halfValue(half, b[i])})
						if want := halfFrom(half, z[0]); out[i] != want {
							t.Fatalf("%v of %v: %#04x and %#04x give %#04x, want %#04x", op, half, a[i], b[i], out[i], want)
						}
					}
					if out[n] != 0 {
						t.Fatalf("%v of %v: wrote beyond %d elements", op, half, n)
					}
				}
			}
		}
	})
}
