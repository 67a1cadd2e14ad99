package random

import (
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// Uniform draws numbers of a floating-point type from low up to but without high.
// An error if the range is empty or infinite.
func Uniform(k Key, low, high float64, t dtype.Type, shape ...int) *array.Array {
	err := checkFloat(t)
	if err == nil && (!(low < high) || math.IsInf(high-low, 0)) {
		err = fmt.Errorf("no range from %v up to %v", low, high)
	}
	return drawn(uniform{low, high}, k, t, shape, err)
}

func checkFloat(t dtype.Type) error {
	if !t.IsFloat() {
		return fmt.Errorf("%v is not a floating-point type", t)
	}
	return nil
}

type uniform struct{ low, high float64 }

func (uniform) name() string { return "uniform" }

func (p uniform) fill(k Key, out array.View) {
	x := fractions(k, out.DType, out.Size())
	top := below(p.high, out.DType)
	for i, u := range x {
		x[i] = min(top, p.low+float64(u*(p.high-p.low)))
	}
	store(out, x)
}

// fractions draws multiples of a negative power of two from 0 up to but without
// 1, with as many bits as the type t has for numbers just below 1.
func fractions(k Key, t dtype.Type, n int) []float64 {
	x := make([]float64, n)
	if t == dtype.Float64 {
		for i, w := range k.longWords(n) {
			x[i] = float64(w>>11) / (1 << 53)
		}
		return x
	}
	width := map[dtype.Type]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24}[t]
	for i, w := range k.words(n) {
		x[i] = float64(w>>(32-width)) / float64(int(1)<<width)
	}
	return x
}

// below is the greatest number of type t that is less than x.
func below(x float64, t dtype.Type) float64 {
	switch t {
	case dtype.Float16:
		if h := dtype.F16From(x); h.Float64() < x {
			return h.Float64()
		} else {
			return dtype.F16(previous(uint16(h))).Float64()
		}
	case dtype.BFloat16:
		if h := dtype.BF16From(x); h.Float64() < x {
			return h.Float64()
		} else {
			return dtype.BF16(previous(uint16(h))).Float64()
		}
	case dtype.Float32:
		if f := float32(x); float64(f) < x {
			return float64(f)
		} else {
			return float64(math.Nextafter32(f, float32(math.Inf(-1))))
		}
	}
	return math.Nextafter(x, math.Inf(-1))
}

// previous is the bits of the next smaller number of a half type.
func previous(bits uint16) uint16 {
	const sign = 0x8000
	switch {
	case bits&^sign == 0:
		return sign | 1
	case bits&sign != 0:
		return bits + 1
	}
	return bits - 1
}

// inside draws numbers that are evenly spread between 0 and 1, neither of which
// occurs.
func inside(k Key, t dtype.Type, n int) []float64 {
	x := make([]float64, n)
	if t == dtype.Float64 {
		for i, w := range k.longWords(n) {
			x[i] = (float64(w>>12) + 0.5) / (1 << 52)
		}
		return x
	}
	for i, w := range k.words(n) {
		x[i] = (float64(w) + 0.5) / (1 << 32)
	}
	return x
}

// Normal draws numbers of a floating-point type with mean 0 and variance 1.
func Normal(k Key, t dtype.Type, shape ...int) *array.Array {
	return drawn(normal{}, k, t, shape, checkFloat(t))
}

type normal struct{}

func (normal) name() string { return "normal" }

func (normal) fill(k Key, out array.View) {
	x := inside(k, out.DType, out.Size())
	for i, u := range x {
		x[i] = math.Sqrt2 * math.Erfinv(2*u-1)
		if out.DType == dtype.Float64 {
			x[i] = refinedNormal(x[i], 2*u-1)
		}
	}
	store(out, x)
}

// TruncatedNormal draws normal numbers that lie from low to high. An error if
// hardly any do: the range must not lie more than 8 deviations from the mean.
func TruncatedNormal(k Key, low, high float64, t dtype.Type, shape ...int) *array.Array {
	err := checkFloat(t)
	if err == nil && !(low < high && low < 8 && high > -8) {
		err = fmt.Errorf("no normal numbers from %v to %v", low, high)
	}
	return drawn(truncated{low, high}, k, t, shape, err)
}

type truncated struct{ low, high float64 }

func (truncated) name() string { return "truncated_normal" }

// fill draws on the side of the mean where erfc keeps the small probabilities.
func (p truncated) fill(k Key, out array.View) {
	low, high, side := p.low, p.high, 1.0
	if low > 0 {
		low, high, side = -high, -low, -1
	}
	a, b := math.Erfc(-low/math.Sqrt2), math.Erfc(-high/math.Sqrt2)
	x := inside(k, out.DType, out.Size())
	for i, u := range x {
		x[i] = side * quantile(a+u*(b-a))
		x[i] = min(max(x[i], p.low), p.high)
	}
	store(out, x)
}

// quantile is the number below which lies half of q of the normal distribution.
// Small q, where 1-q rounds, are refined by Newton's steps.
func quantile(q float64) float64 {
	if q > 1e-3 {
		return -math.Sqrt2 * math.Erfinv(1-q)
	}
	z := -math.Sqrt(-2 * math.Log(q))
	for range 8 {
		mass := math.Erfc(-z / math.Sqrt2)
		slope := math.Sqrt(2/math.Pi) * math.Exp(-z*z/2)
		z -= math.Log(mass/q) * mass / slope
	}
	return z
}

// Gumbel draws numbers of the standard Gumbel distribution: -log(-log(u)).
func Gumbel(k Key, t dtype.Type, shape ...int) *array.Array {
	return drawn(gumbel{}, k, t, shape, checkFloat(t))
}

type gumbel struct{}

func (gumbel) name() string { return "gumbel" }

func (gumbel) fill(k Key, out array.View) {
	x := inside(k, out.DType, out.Size())
	for i, u := range x {
		x[i] = gumbelOf(u)
	}
	store(out, x)
}

// Laplace draws numbers of the Laplace distribution with mean 0 and scale 1.
func Laplace(k Key, t dtype.Type, shape ...int) *array.Array {
	return drawn(laplace{}, k, t, shape, checkFloat(t))
}

type laplace struct{}

func (laplace) name() string { return "laplace" }

func (laplace) fill(k Key, out array.View) {
	x := inside(k, out.DType, out.Size())
	for i, u := range x {
		x[i] = math.Copysign(math.Log(1-math.Abs(2*u-1)), 2*u-1)
	}
	store(out, x)
}

// Categorical draws, for each row of logits along an axis, a place in the row as
// uint32, with probabilities softmax(logits). The axis is dropped. Logits are real
// numbers and are used as float32.
func Categorical(k Key, logits *array.Array, axis int) *array.Array {
	if logits.Err() != nil {
		return logits
	}
	if logits.DType().IsComplex() {
		return array.Fail("categorical", fmt.Errorf("logits are %v, which have no order", logits.Spec()))
	}
	return logits.AsType(dtype.Float32).Add(Gumbel(k, dtype.Float32, logits.Shape()...)).ArgMax(axis)
}
