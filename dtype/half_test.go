package dtype_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
)

// format is one of the two half-precision formats, with its values worked out
// from the definition.
type format struct {
	name               string
	exponent, fraction int
	quiet              uint16
	from               func(float64) uint16
	value              func(uint16) float64
	value32            func(uint16) float32
}

var formats = []format{
	{"float16", 5, 10, 0x7e00,
		func(x float64) uint16 { return uint16(dtype.F16From(x)) },
		func(b uint16) float64 { return dtype.F16(b).Float64() },
		func(b uint16) float32 { return dtype.F16(b).Float32() }},
	{"bfloat16", 8, 7, 0x7fc0,
		func(x float64) uint16 { return uint16(dtype.BF16From(x)) },
		func(b uint16) float64 { return dtype.BF16(b).Float64() },
		func(b uint16) float32 { return dtype.BF16(b).Float32() }},
}

// define is the value of b by the definition of the format.
func (f format) define(b uint16) float64 {
	sign := 1.0
	if b>>15 == 1 {
		sign = -1
	}
	exponent := int(b>>f.fraction) & (1<<f.exponent - 1)
	fraction := float64(b & (1<<f.fraction - 1))
	bias := 1<<(f.exponent-1) - 1
	switch {
	case exponent == 1<<f.exponent-1 && fraction == 0:
		return math.Inf(int(sign))
	case exponent == 1<<f.exponent-1:
		return math.NaN()
	case exponent == 0:
		return math.Copysign(math.Ldexp(fraction, 1-bias-f.fraction), sign)
	}
	return sign * math.Ldexp(math.Ldexp(1, f.fraction)+fraction, exponent-bias-f.fraction)
}

// finite lists the positive finite values; the bits are the indices.
func (f format) finite() []float64 {
	values := make([]float64, (1<<f.exponent-1)<<f.fraction)
	for b := range values {
		values[b] = f.define(uint16(b))
	}
	return values
}

// search finds the bits of the value nearest to x, the even one of two; values
// are the finite ones. All differences are exact in float64 here, because x lies
// between two neighbours that have few bits.
func (f format) search(values []float64, x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	top := len(values) - 1
	above, found := slices.BinarySearch(values, x)
	switch {
	case found:
	case above > top:
		// Beyond the largest value it is as if the next power of two were one.
		if x >= values[top]+(values[top]-values[top-1])/2 {
			return sign | uint16(top+1)
		}
		above = top
	default:
		down, up := x-values[above-1], values[above]-x
		if down < up || down == up && above%2 == 1 {
			above--
		}
	}
	return sign | uint16(above)
}

func TestEveryHalfRoundTrips(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for i := range 1 << 16 {
				b := uint16(i)
				want := f.define(b)
				if want != want {
					if v := f.value(b); v == v || f.from(v) != f.quiet {
						t.Fatalf("%#04x is %v and returns as %#04x, want NaN and %#04x", b, v, f.from(v), f.quiet)
					}
					continue
				}
				if got := f.value(b); math.Float64bits(got) != math.Float64bits(want) || float64(f.value32(b)) != want {
					t.Fatalf("%#04x is %v and %v, want %v", b, got, f.value32(b), want)
				}
				if got := f.from(want); got != b {
					t.Fatalf("%v becomes %#04x, want %#04x", want, got, b)
				}
			}
		})
	}
}

func TestRoundingBetweenNeighbours(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			values := f.finite()
			for b, low := range values[:len(values)-1] {
				// For each gap: the middle, and the nearest float64 on either side.
				middle := low + (values[b+1]-low)/2
				even := uint16(b + b%2)
				for _, c := range []struct {
					x    float64
					want uint16
				}{
					{middle, even},
					{math.Nextafter(middle, 0), uint16(b)},
					{math.Nextafter(middle, math.Inf(1)), uint16(b + 1)},
					{math.Nextafter(low, math.Inf(1)), uint16(b)},
					{math.Nextafter(values[b+1], 0), uint16(b + 1)},
				} {
					if got := f.from(c.x); got != c.want {
						t.Fatalf("%x becomes %#04x, want %#04x", c.x, got, c.want)
					}
					if got := f.from(-c.x); got != c.want|0x8000 {
						t.Fatalf("%x becomes %#04x, want %#04x", -c.x, got, c.want|0x8000)
					}
				}
			}
		})
	}
}

func TestRoundingOfRandomNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			values := f.finite()
			for range 200_000 {
				x := math.Ldexp(r.Float64()*2-1, r.IntN(60)-40)
				if got, want := f.from(x), f.search(values, x); got != want {
					t.Fatalf("%x becomes %#04x, want %#04x", x, got, want)
				}
			}
		})
	}
}

func TestHalvesByHand(t *testing.T) {
	cases := []struct {
		name string
		x    float64
		f16  uint16
		bf16 uint16
	}{
		{"zero", 0, 0, 0},
		{"negative zero", math.Copysign(0, -1), 0x8000, 0x8000},
		{"one", 1, 0x3c00, 0x3f80},
		{"infinity", math.Inf(1), 0x7c00, 0x7f80},
		{"negative infinity", math.Inf(-1), 0xfc00, 0xff80},
		{"NaN with sign and payload", math.Float64frombits(0xfff0000000000001), 0x7e00, 0x7fc0},
		{"largest float16", 65504, 0x7bff, 0x4780},
		{"just below the middle to overflow", math.Nextafter(65520, 0), 0x7bff, 0x4780},
		{"middle to overflow", 65520, 0x7c00, 0x4780},
		{"largest bfloat16", 0x1.fep127, 0x7c00, 0x7f7f},
		{"middle to overflow of bfloat16", 0x1.ffp127, 0x7c00, 0x7f80},
		{"largest float64", math.MaxFloat64, 0x7c00, 0x7f80},
		{"smallest float16", 0x1p-24, 0x0001, 0x3380},
		{"half of the smallest float16", 0x1p-25, 0, 0x3300},
		{"a little more than that", math.Nextafter(0x1p-25, 1), 1, 0x3300},
		{"smallest bfloat16", 0x1p-133, 0, 0x0001},
		{"smallest float64", math.SmallestNonzeroFloat64, 0, 0},
		// Rounded to float32 first, these become the middle of two halves and go
		// the wrong way.
		{"double rounding up", 1 + 0x1p-11 - 0x1p-40, 0x3c00, 0x3f80},
		{"double rounding down", 1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80},
		{"double rounding of bfloat16 up", 1 + 0x1p-8 - 0x1p-40, 0x3c04, 0x3f80},
		{"double rounding of bfloat16 down", 1 + 0x1p-8 + 0x1p-40, 0x3c04, 0x3f81},
		{"2051", 2051, 0x6802, 0x4500},
		{"260", 260, 0x5c10, 0x4382},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := uint16(dtype.F16From(c.x)); got != c.f16 {
				t.Errorf("float16 %#04x, want %#04x", got, c.f16)
			}
			if got := uint16(dtype.BF16From(c.x)); got != c.bf16 {
				t.Errorf("bfloat16 %#04x, want %#04x", got, c.bf16)
			}
		})
	}
}

func TestHalvesAsText(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{dtype.F16From(65504).String(), "65504"},
		{dtype.F16From(-0.5).String(), "-0.5"},
		{dtype.F16From(math.NaN()).String(), "NaN"},
		{dtype.F16From(math.Inf(1)).String(), "+Inf"},
		{dtype.BF16From(1.5).String(), "1.5"},
		{dtype.BF16From(math.Inf(-1)).String(), "-Inf"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
