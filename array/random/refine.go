package random

import "math"

// The root of 2/π and e, each as a sum of two float64s.
const (
	rootTwoOverPi, rootTwoOverPiRest = 0.7978845608028654, -4.98465440455546e-17
	e, eRest                         = 2.718281828459045, 1.4456468917292502e-16
)

// refinedNormal corrects z, a number that a probability p from -1 to 1 of
// erf(z/√2) belongs to, to within one unit in the last place. It takes one step of
// Newton's method, for which erf must be known to more than float64's digits.
// Further out than 3 z is as good already.
func refinedNormal(z, p float64) float64 {
	if math.Abs(z) > 3 {
		return z
	}
	value := erfSeries(z)
	residual := value.hi - p + value.lo
	return z - residual/(rootTwoOverPi*math.Exp(-z*z/2))
}

// erfSeries is erf(z/√2) by its Taylor series.
func erfSeries(z float64) double {
	square, rest := product(z, z), double{}
	power := double{z, 0}
	for n := 0; math.Abs(power.hi) > 0x1p-110*math.Abs(z); n++ {
		rest = rest.plus(power.over(float64(2*n + 1)))
		power = power.times(square).over(float64(-2 * (n + 1)))
	}
	return rest.times(double{rootTwoOverPi, rootTwoOverPiRest})
}

// gumbelOf is -log(-log(u)). Where that is near 0 the distance of u from 1/e is
// what counts, which the difference of logarithms would lose.
func gumbelOf(u float64) float64 {
	if u < 0.2 || u > 0.6 {
		return -math.Log(-math.Log(u))
	}
	distance := math.FMA(u, e, -1) + u*eRest // u·e - 1
	return -math.Log1p(-math.Log1p(distance))
}

// double is the unevaluated sum of two float64s, some 106 bits (Dekker 1971).
type double struct{ hi, lo float64 }

func product(x, y float64) double {
	hi := x * y
	return double{hi, math.FMA(x, y, -hi)}
}

// fast adds two numbers of which the first is the larger.
func fast(x, y float64) double {
	sum := x + y
	return double{sum, y - (sum - x)}
}

func (x double) plus(y double) double {
	sum := x.hi + y.hi
	back := sum - x.hi
	rest := (x.hi - (sum - back)) + (y.hi - back)
	return fast(sum, rest+x.lo+y.lo)
}

func (x double) times(y double) double {
	p := product(x.hi, y.hi)
	return fast(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x double) over(y float64) double {
	q := x.hi / y
	rest := math.FMA(-q, y, x.hi) + x.lo
	return fast(q, rest/y)
}
