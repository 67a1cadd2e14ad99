package array_test

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// entry is a row of the catalogue: operations, by the names of their functions
// and methods, an example of their use, and its result computed in another way.
type entry struct {
	names string
	f     transform.Func
	// in are the arguments; those of type float64 stand for every type.
	in   []*array.Array
	want reference
	// except is a type in which values are not compared, Invalid for none.
	except dtype.Type
	// without are checks of arraytest that the entry does without, and why.
	without map[string]string
}

// reference computes the elements of every result from those of the arguments.
type reference func(in ...[]complex128) [][]complex128

type (
	unaryOp  = func(x *array.Array) *array.Array
	binaryOp = func(x, y *array.Array) *array.Array
)

// ofOne lists an elementwise operation of one array.
func ofOne(names string, op unaryOp, x []float64, f func(x complex128) complex128) entry {
	return entry{names: names, f: asFunc(op), in: matrices(x), want: func(in ...[]complex128) [][]complex128 {
		return [][]complex128{mapped(in[0], f)}
	}}
}

// except is e without values in one type.
func except(t dtype.Type, e entry) entry {
	e.except = t
	return e
}

// roughly is e without derivatives, as its results are too coarse to measure them.
func roughly(e entry) entry {
	e.without = map[string]string{"gradient": "float32 is too coarse for differences"}
	return e
}

// ofReal is ofOne for functions of real numbers.
func ofReal(names string, op unaryOp, x []float64, f func(x float64) float64) entry {
	return ofOne(names, op, x, func(x complex128) complex128 { return complex(f(real(x)), 0) })
}

// ofTwo lists an elementwise operation of two arrays.
func ofTwo(names string, op binaryOp, x, y []float64, f func(x, y complex128) complex128) entry {
	return entry{names: names, f: asFunc2(op), in: matrices(x, y), want: func(in ...[]complex128) [][]complex128 {
		z := make([]complex128, len(in[0]))
		for i := range z {
			z[i] = f(in[0][i], in[1][i])
		}
		return [][]complex128{z}
	}}
}

func ofTwoReal(names string, op binaryOp, x, y []float64, f func(x, y float64) float64) entry {
	return ofTwo(names, op, x, y, func(x, y complex128) complex128 { return complex(f(real(x), real(y)), 0) })
}

// comparing lists a comparison; complex numbers are ordered by parts.
func comparing(names string, op binaryOp, holds func(order int) bool) entry {
	return ofTwo(names, op, signs, []float64{1.5, 2, 3, 0, 0, -4}, func(x, y complex128) complex128 {
		return complex(truth(holds(byParts(x, y))), 0)
	})
}

func byParts(x, y complex128) int {
	return cmp.Or(cmp.Compare(real(x), real(y)), cmp.Compare(imag(x), imag(y)))
}

// overAxis lists an operation that makes some elements of each row.
func overAxis(names string, op unaryOp, x []float64, f func(row []complex128) []complex128) entry {
	return entry{names: names, f: asFunc(op), in: matrices(x), want: func(in ...[]complex128) [][]complex128 {
		var all []complex128
		for row := range slices.Chunk(in[0], 3) {
			all = append(all, f(row)...)
		}
		return [][]complex128{all}
	}}
}

// reducing lists the two forms of a reduction over the rows.
func reducing(name string, drop, keep func(x *array.Array, axes ...int) *array.Array, x []float64, f func(row []complex128) complex128) []entry {
	one := func(row []complex128) []complex128 { return []complex128{f(row)} }
	return []entry{
		overAxis(name, func(x *array.Array) *array.Array { return drop(x, 1) }, x, one),
		overAxis(name+"Keep", func(x *array.Array) *array.Array { return keep(x, -1) }, x, one),
	}
}

// moving lists an operation whose elements are those of the argument [2, 3] with
// the given numbers, or 0 for -1.
func moving(names string, op unaryOp, places ...int) entry {
	return entry{names: names, f: asFunc(op), in: matrices(signs), want: func(in ...[]complex128) [][]complex128 {
		return [][]complex128{chosen(in[0], places...)}
	}}
}

// parting is moving for operations with several results.
func parting(names string, op func(x *array.Array) []*array.Array, places ...[]int) entry {
	f := func(xs ...*array.Array) []*array.Array { return op(xs[0]) }
	return entry{names: names, f: f, in: matrices(signs), want: func(in ...[]complex128) [][]complex128 {
		parts := make([][]complex128, len(places))
		for i, at := range places {
			parts[i] = chosen(in[0], at...)
		}
		return parts
	}}
}

// making lists an operation that takes no array; the argument only tells the type.
func making(names string, op func(t dtype.Type) *array.Array, want ...complex128) entry {
	f := func(xs ...*array.Array) []*array.Array { return []*array.Array{op(xs[0].DType())} }
	return entry{names: names, f: f, in: matrices(signs), want: func(...[]complex128) [][]complex128 { return [][]complex128{want} },
		without: map[string]string{"mistakes": "takes no array", "gradient": "takes no array", "batching": "takes no array"}}
}

func asFunc(op unaryOp) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{op(xs[0])} }
}

func asFunc2(op binaryOp) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{op(xs[0], xs[1])} }
}

// asMany makes a Func of an operation with one result.
func asMany(op func(xs ...*array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{op(xs...)} }
}

// matrices are arrays [2, 3].
func matrices(data ...[]float64) []*array.Array {
	xs := make([]*array.Array, len(data))
	for i, d := range data {
		xs[i] = array.From(d, 2, 3)
	}
	return xs
}

func mapped(x []complex128, f func(x complex128) complex128) []complex128 {
	y := make([]complex128, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func chosen(x []complex128, places ...int) []complex128 {
	y := make([]complex128, len(places))
	for i, at := range places {
		if at >= 0 {
			y[i] = x[at]
		}
	}
	return y
}

// folding combines the elements of a row from the left.
func folding(f func(x, y complex128) complex128) func(row []complex128) complex128 {
	return func(row []complex128) complex128 {
		y := row[0]
		for _, x := range row[1:] {
			y = f(y, x)
		}
		return y
	}
}

// scanning gives every step of folding.
func scanning(f func(x, y complex128) complex128) func(row []complex128) []complex128 {
	return func(row []complex128) []complex128 {
		y := make([]complex128, len(row))
		for i := range row {
			y[i] = folding(f)(row[:i+1])
		}
		return y
	}
}

func plusOf(x, y complex128) complex128  { return x + y }
func timesOf(x, y complex128) complex128 { return x * y }

func greaterOf(x, y complex128) complex128 {
	if byParts(x, y) < 0 {
		return y
	}
	return x
}

func lesserOf(x, y complex128) complex128 {
	if byParts(x, y) < 0 {
		return x
	}
	return y
}

func logAddExpOf(x, y complex128) complex128 { return cmplx.Log(cmplx.Exp(x) + cmplx.Exp(y)) }

func meanOf(row []complex128) complex128 {
	return folding(plusOf)(row) / complex(float64(len(row)), 0)
}

// varianceOf divides the squares by as many elements as there are, less some.
func varianceOf(row []complex128, less float64) complex128 {
	mean, sum := meanOf(row), 0.0
	for _, x := range row {
		sum += math.Pow(cmplx.Abs(x-mean), 2)
	}
	return complex(sum/(float64(len(row))-less), 0)
}

func ascending(row []complex128) []complex128 { return slices.SortedFunc(slices.Values(row), byParts) }

// orderOf is the places of the elements in ascending order.
func orderOf(row []complex128) []complex128 {
	places := []int{0, 1, 2}
	slices.SortStableFunc(places, func(i, j int) int { return byParts(row[i], row[j]) })
	order := make([]complex128, len(places))
	for i, place := range places {
		order[i] = complex(float64(place), 0)
	}
	return order
}

func softmaxOf(row []complex128) []complex128 {
	sum := folding(plusOf)(mapped(row, cmplx.Exp))
	return mapped(row, func(x complex128) complex128 { return cmplx.Exp(x) / sum })
}

// productOf multiplies matrices [m, k] and [k, n].
func productOf(x, y []complex128, m, k, n int) []complex128 {
	z := make([]complex128, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				z[i*n+j] += x[i*k+l] * y[l*n+j]
			}
		}
	}
	return z
}
