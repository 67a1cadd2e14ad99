package random

import (
	"math"
	"math/big"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

const precision = 320 // bits, enough for sums whose terms reach e^60

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func times(x, y *big.Float) *big.Float { return number(0).Mul(x, y) }

// exp by Taylor's series of x/2^12, squared 12 times.
func exp(x *big.Float) *big.Float {
	small := number(0).SetMantExp(x, -12)
	sum, term := number(1), number(1)
	for n := 1; n < 60; n++ {
		term = number(0).Quo(times(term, small), number(float64(n)))
		sum.Add(sum, term)
	}
	for range 12 {
		sum = times(sum, sum)
	}
	return sum
}

// erf by its Taylor series, without the factor 2/√π.
func erf(x *big.Float) *big.Float {
	square := times(x, x)
	sum, power := number(0), number(0).Set(x)
	for n := range 600 {
		sum.Add(sum, number(0).Quo(power, number(float64(2*n+1))))
		power = number(0).Quo(times(power, square), number(float64(-(n + 1))))
	}
	return sum
}

// rootPi is √π by its decimal digits.
var rootPi, _ = number(0).SetString("1.7724538509055160272981674833411451827975494561223871282138077898529112845910321813749506567385446654162268236")

var root2 = number(0).Sqrt(number(2))

// The exact probabilities below a number of each distribution.
var below01 = map[string]func(x *big.Float) *big.Float{
	"normal": func(x *big.Float) *big.Float { // (1 + erf(x/√2)) / 2
		y := number(0).Quo(erf(number(0).Quo(x, root2)), rootPi)
		return y.Add(y, number(0.5))
	},
	"gumbel": func(x *big.Float) *big.Float { // exp(-exp(-x))
		inner := exp(number(0).Neg(x))
		return exp(inner.Neg(inner))
	},
	"laplace": func(x *big.Float) *big.Float { // exp(x)/2, or 1 - exp(-x)/2 above 0
		half := times(exp(number(0).Neg(number(0).Abs(x))), number(0.5))
		if x.Sign() > 0 {
			return number(0).Sub(number(1), half)
		}
		return half
	},
}

// A draw belongs to a probability. It is within two units in the last place of
// the exact one when that probability lies between those of the numbers two units
// below and above it.
func TestDrawsThroughLogAndErfinvAreWithinTwoUlp(t *testing.T) {
	key := NewKey(11)
	const n = 300
	for name, draw := range map[string]func(Key, dtype.Type, ...int) *array.Array{
		"normal": Normal, "gumbel": Gumbel, "laplace": Laplace,
	} {
		u := inside(key, dtype.Float64, n)
		got, err := array.Values[float64](t.Context(), draw(key, dtype.Float64, n))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			step := 2 * (math.Nextafter(math.Abs(x), math.Inf(1)) - math.Abs(x))
			within(t, name+" of float64", x, step, u[i], below01[name])
		}
		u = inside(key, dtype.Float32, n)
		narrow, err := array.Values[float32](t.Context(), draw(key, dtype.Float32, n))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range narrow {
			size := float32(math.Abs(float64(x)))
			step := 2 * float64(math.Nextafter32(size, float32(math.Inf(1)))-size)
			within(t, name+" of float32", float64(x), step, u[i], below01[name])
		}
	}
}

func within(t *testing.T, what string, x, step, u float64, below func(*big.Float) *big.Float) {
	t.Helper()
	low := below(number(0).Sub(number(x), number(step)))
	high := below(number(0).Add(number(x), number(step)))
	if p := number(u); low.Cmp(p) > 0 || high.Cmp(p) < 0 {
		t.Errorf("%s: %v is not within %v of the number for probability %v", what, x, step, u)
	}
}
