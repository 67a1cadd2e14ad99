package dtype

import (
	"math"
	"strconv"

	"github.com/x448/float16"
)

// F16 holds one IEEE 754 half-precision number as its bits: 1 sign, 5 exponent
// and 10 fraction bits. The largest finite value is 65504.
type F16 uint16

// BF16 holds one bfloat16 number as its bits: the upper half of a float32.
type BF16 uint16

// F16From rounds x once, to nearest with ties to even. Values beyond the range
// become infinities; a NaN becomes the canonical quiet NaN.
func F16From(x float64) F16 {
	if x != x {
		return 0x7e00
	}
	return F16(float16.Fromfloat32(roundToOdd(x)).Bits())
}

// Float64 is the exact value of h.
func (h F16) Float64() float64 { return float64(float16.Frombits(uint16(h)).Float32()) }

// Float32 is the exact value of h.
func (h F16) Float32() float32 { return float16.Frombits(uint16(h)).Float32() }

// String formats the value as the shortest decimal of its float32 value.
func (h F16) String() string { return strconv.FormatFloat(h.Float64(), 'g', -1, 32) }

// BF16From rounds x once, to nearest with ties to even. Values beyond the range
// become infinities; a NaN becomes the canonical quiet NaN.
func BF16From(x float64) BF16 {
	if x != x {
		return 0x7fc0
	}
	bits := math.Float32bits(roundToOdd(x))
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float64 is the exact value of h.
func (h BF16) Float64() float64 { return float64(h.Float32()) }

// Float32 is the exact value of h.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// String formats the value as the shortest decimal of its float32 value.
func (h BF16) String() string { return strconv.FormatFloat(h.Float64(), 'g', -1, 32) }

// roundToOdd narrows x so that a second rounding to a type with at least two
// fraction bits fewer gives the same result as one rounding of x: truncate, and
// make the last bit odd when anything was cut off (Boldo and Melquiond 2005).
func roundToOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || math.IsInf(x, 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		bits--
	}
	return math.Float32frombits(bits | 1)
}
