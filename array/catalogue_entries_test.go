package array_test

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// catalogue has every operation of the package.
func catalogue() []entry {
	return slices.Concat(functionsOfOne(), functionsOfTwo(), reductions(), alongAxes(), rearrangements(), picked(), products(), packings(), created())
}

func functionsOfOne() []entry {
	type A = array.Array
	return []entry{
		ofOne("Neg", (*A).Neg, signs, func(x complex128) complex128 { return -x }),
		ofOne("Abs", (*A).Abs, signs, func(x complex128) complex128 { return complex(cmplx.Abs(x), 0) }),
		ofOne("Sign", (*A).Sign, signs, func(x complex128) complex128 {
			if x == 0 {
				return 0
			}
			return x / complex(cmplx.Abs(x), 0)
		}),
		ofOne("Square", (*A).Square, signs, func(x complex128) complex128 { return x * x }),
		ofOne("Exp", (*A).Exp, signs, cmplx.Exp),
		ofReal("Expm1", (*A).Expm1, signs, func(x float64) float64 { return math.Exp(x) - 1 }),
		ofOne("Log", (*A).Log, positive, cmplx.Log),
		ofReal("Log1p", (*A).Log1p, inside, func(x float64) float64 { return math.Log(1 + x) }),
		ofOne("Log2", (*A).Log2, positive, func(x complex128) complex128 { return cmplx.Log(x) / math.Ln2 }),
		ofOne("Log10", (*A).Log10, positive, cmplx.Log10),
		ofOne("Sqrt", (*A).Sqrt, positive, cmplx.Sqrt),
		ofOne("Rsqrt", (*A).Rsqrt, moreThanOne, func(x complex128) complex128 { return 1 / cmplx.Sqrt(x) }),
		ofOne("Reciprocal", (*A).Reciprocal, moreThanOne, func(x complex128) complex128 { return 1 / x }),
		ofOne("Sin", (*A).Sin, signs, cmplx.Sin),
		ofOne("Cos", (*A).Cos, signs, cmplx.Cos),
		ofOne("Tan", (*A).Tan, inside, cmplx.Tan),
		ofOne("Asin", (*A).Asin, inside, cmplx.Asin),
		ofOne("Acos", (*A).Acos, inside, cmplx.Acos),
		ofOne("Atan", (*A).Atan, inside, cmplx.Atan),
		ofOne("Sinh", (*A).Sinh, signs, cmplx.Sinh),
		ofOne("Cosh", (*A).Cosh, signs, cmplx.Cosh),
		ofOne("Tanh", (*A).Tanh, signs, cmplx.Tanh),
		ofOne("Asinh", (*A).Asinh, inside, cmplx.Asinh),
		ofOne("Acosh", (*A).Acosh, moreThanOne, cmplx.Acosh),
		ofOne("Atanh", (*A).Atanh, []float64{0.25, -0.125, 0.375, -0.25, 0.125, -0.375}, cmplx.Atanh),
		ofReal("Erf", (*A).Erf, inside, math.Erf),
		ofReal("ErfInv", (*A).ErfInv, inside, math.Erfinv),
		ofOne("Sigmoid", (*A).Sigmoid, signs, func(x complex128) complex128 { return 1 / (1 + cmplx.Exp(-x)) }),
		ofReal("Floor", (*A).Floor, inside, math.Floor),
		ofReal("Ceil", (*A).Ceil, inside, math.Ceil),
		ofReal("Round", (*A).Round, []float64{0.25, -0.75, 1.75, 2.25, 3.75, -1.25}, math.RoundToEven),
		ofOne("Conj", (*A).Conj, signs, cmplx.Conj),
		ofReal("Real", (*A).Real, signs, func(x float64) float64 { return x }),
		ofOne("Imag", (*A).Imag, signs, func(x complex128) complex128 { return complex(imag(x), 0) }),
		ofOne("LogicalNot", (*A).LogicalNot, someZero, func(x complex128) complex128 { return complex(truth(x == 0), 0) }),
		ofOne("IsNaN", (*A).IsNaN, special[6:], func(x complex128) complex128 { return complex(truth(cmplx.IsNaN(x) || math.IsNaN(real(x))), 0) }),
		ofOne("IsInf", (*A).IsInf, special[6:], func(x complex128) complex128 { return complex(truth(cmplx.IsInf(x)), 0) }),
		ofOne("IsFinite", (*A).IsFinite, special[6:], func(x complex128) complex128 { return complex(truth(real(x)-real(x) == 0), 0) }),
		except(dtype.Bool, ofReal("BitNot", (*A).BitNot, signs, func(x float64) float64 { return -x - 1 })),
		{names: "BitNot", f: asFunc((*A).BitNot), in: []*A{array.From([]bool{true, false})}, want: func(in ...[]complex128) [][]complex128 {
			return [][]complex128{mapped(in[0], func(x complex128) complex128 { return 1 - x })}
		}},
		roughly(ofReal("AsType", func(x *A) *A { return x.AsType(dtype.Float32) }, signs, func(x float64) float64 { return x })),
		ofReal("AsType", func(x *A) *A { return x.AsType(dtype.Int8) }, positive, math.Trunc),
		ofOne("AsType", func(x *A) *A { return x.AsType(dtype.Complex64) }, signs, func(x complex128) complex128 { return x }),
		ofOne("AddScalar", func(x *A) *A { return x.AddScalar(2) }, signs, func(x complex128) complex128 { return x + 2 }),
		ofOne("SubScalar", func(x *A) *A { return x.SubScalar(2) }, signs, func(x complex128) complex128 { return x - 2 }),
		ofOne("MulScalar", func(x *A) *A { return x.MulScalar(-0.5) }, signs, func(x complex128) complex128 { return x * -0.5 }),
		ofOne("DivScalar", func(x *A) *A { return x.DivScalar(8) }, signs, func(x complex128) complex128 { return x / 8 }),
		ofOne("PowScalar", func(x *A) *A { return x.PowScalar(3) }, moreThanOne, func(x complex128) complex128 { return x * x * x }),
		ofOne("MaximumScalar", func(x *A) *A { return x.MaximumScalar(0.25) }, signs, func(x complex128) complex128 { return greaterOf(0.25, x) }),
		ofOne("MinimumScalar", func(x *A) *A { return x.MinimumScalar(0.25) }, signs, func(x complex128) complex128 { return lesserOf(0.25, x) }),
		{names: "StopGradient", f: asFunc((*A).StopGradient), in: matrices(signs), want: func(in ...[]complex128) [][]complex128 { return in },
			without: map[string]string{"gradient": "it is a constant to derivatives, but not to differences"}},
	}
}

var (
	moreThanOne = []float64{1.5, 2.25, 3, 5, 7, 4}
	someZero    = []float64{0, 1, 2, 0, -1, 3}
	otherZero   = []float64{0, 0, 1, 2, 3, 0}
)

func functionsOfTwo() []entry {
	type A = array.Array
	whole, shifts := []float64{5, 3, 6, 0, 1, 12}, []float64{1, 2, 0, 1, 2, 1}
	dividends, divisors := []float64{7.5, -7.5, 9, -9, 1, 5.5}, []float64{2, 2, -4, -4, 3, 5}
	bits := func(f func(x, y int64) int64) func(x, y float64) float64 {
		return func(x, y float64) float64 { return float64(f(int64(x), int64(y))) }
	}
	return []entry{
		ofTwo("Add", (*A).Add, signs, others, plusOf),
		ofTwo("Sub", (*A).Sub, signs, others, func(x, y complex128) complex128 { return x - y }),
		ofTwo("Mul", (*A).Mul, signs, others, timesOf),
		ofTwo("Div", (*A).Div, signs, moreThanOne, func(x, y complex128) complex128 { return x / y }),
		ofTwoReal("FloorDiv", (*A).FloorDiv, dividends, divisors, func(x, y float64) float64 { return math.Floor(x / y) }),
		ofTwoReal("Mod", (*A).Mod, dividends, divisors, func(x, y float64) float64 { return x - y*math.Floor(x/y) }),
		ofTwo("Pow", (*A).Pow, moreThanOne, []float64{2, 3, 0, 1, 2, 3}, cmplx.Pow),
		ofTwo("Maximum", (*A).Maximum, signs, others, greaterOf),
		ofTwo("Minimum", (*A).Minimum, signs, others, lesserOf),
		ofTwo("LogAddExp", (*A).LogAddExp, signs, others, logAddExpOf),
		ofTwoReal("Atan2", (*A).Atan2, signs, moreThanOne, math.Atan2),
		comparing("Equal", (*A).Equal, func(order int) bool { return order == 0 }),
		comparing("NotEqual", (*A).NotEqual, func(order int) bool { return order != 0 }),
		comparing("Less", (*A).Less, func(order int) bool { return order < 0 }),
		comparing("LessEqual", (*A).LessEqual, func(order int) bool { return order <= 0 }),
		comparing("Greater", (*A).Greater, func(order int) bool { return order > 0 }),
		comparing("GreaterEqual", (*A).GreaterEqual, func(order int) bool { return order >= 0 }),
		ofTwo("LogicalAnd", (*A).LogicalAnd, someZero, otherZero, func(x, y complex128) complex128 { return complex(truth(x != 0 && y != 0), 0) }),
		ofTwo("LogicalOr", (*A).LogicalOr, someZero, otherZero, func(x, y complex128) complex128 { return complex(truth(x != 0 || y != 0), 0) }),
		ofTwoReal("BitAnd", (*A).BitAnd, whole, someZero, bits(func(x, y int64) int64 { return x & y })),
		ofTwoReal("BitOr", (*A).BitOr, whole, someZero, bits(func(x, y int64) int64 { return x | y })),
		ofTwoReal("BitXor", (*A).BitXor, whole, someZero, bits(func(x, y int64) int64 { return x ^ y })),
		ofTwoReal("ShiftLeft", (*A).ShiftLeft, signs, shifts, bits(func(x, y int64) int64 { return x << y })),
		ofTwoReal("ShiftRight", (*A).ShiftRight, signs, shifts, bits(func(x, y int64) int64 { return x >> y })),
		{names: "Where", f: asMany(func(xs ...*A) *A { return array.Where(xs[0], xs[1], xs[2]) }),
			in: append([]*A{array.From([]bool{true, false, false, true, false, true}, 2, 3)}, matrices(signs, others)...),
			want: func(in ...[]complex128) [][]complex128 {
				z := slices.Clone(in[2])
				for i, taken := range in[0] {
					if taken != 0 {
						z[i] = in[1][i]
					}
				}
				return [][]complex128{z}
			}},
		{names: "Clip", f: asMany(func(xs ...*A) *A { return xs[0].Clip(xs[1], xs[2]) }), in: append(matrices(signs), array.Scalar(-1.0), array.From([]float64{0.25, 1, 2})),
			want: func(in ...[]complex128) [][]complex128 {
				z := make([]complex128, 6)
				for i, x := range in[0] {
					z[i] = lesserOf(in[2][i%3], greaterOf(in[1][0], x))
				}
				return [][]complex128{z}
			}},
		{names: "Donate", f: asFunc(func(x *A) *A { return array.Donate(x.ExpandDims(0)).Squeeze(0) }), in: matrices(signs), want: func(in ...[]complex128) [][]complex128 { return in }},
		{names: "Depends", f: asMany(func(xs ...*A) *A { return array.Depends(xs[0], xs[1]) }), in: matrices(signs, others), want: func(in ...[]complex128) [][]complex128 { return in[:1] }},
	}
}

func reductions() []entry {
	type A = array.Array
	all := slices.Concat(
		reducing("Sum", (*A).Sum, (*A).SumKeep, signs, folding(plusOf)),
		reducing("Mean", (*A).Mean, (*A).MeanKeep, signs, meanOf),
		reducing("Prod", (*A).Prod, (*A).ProdKeep, signs, folding(timesOf)),
		reducing("Max", (*A).Max, (*A).MaxKeep, distinct, folding(greaterOf)),
		reducing("Min", (*A).Min, (*A).MinKeep, distinct, folding(lesserOf)),
		reducing("All", (*A).All, (*A).AllKeep, []float64{1, 2, 3, 1, 0, 2}, func(row []complex128) complex128 { return complex(truth(!slices.Contains(row, 0)), 0) }),
		reducing("Any", (*A).Any, (*A).AnyKeep, []float64{0, 0, 3, 0, 0, 0}, func(row []complex128) complex128 {
			return complex(truth(slices.ContainsFunc(row, func(x complex128) bool { return x != 0 })), 0)
		}),
		reducing("Var", (*A).Var, (*A).VarKeep, distinct, func(row []complex128) complex128 { return varianceOf(row, 0) }),
		reducing("Std", (*A).Std, (*A).StdKeep, distinct, func(row []complex128) complex128 { return cmplx.Sqrt(varianceOf(row, 0)) }),
		reducing("LogSumExp", (*A).LogSumExp, (*A).LogSumExpKeep, signs, folding(logAddExpOf)),
		reducing("Median", (*A).Median, (*A).MedianKeep, distinct, func(row []complex128) complex128 { return ascending(row)[1] }),
	)
	one := func(f func(row []complex128) complex128) func(row []complex128) []complex128 {
		return func(row []complex128) []complex128 { return []complex128{f(row)} }
	}
	greatest := one(func(row []complex128) complex128 {
		return complex(float64(slices.Index(row, folding(greaterOf)(row))), 0)
	})
	least := one(func(row []complex128) complex128 {
		return complex(float64(slices.Index(row, folding(lesserOf)(row))), 0)
	})
	for i, e := range all {
		if e.names == "Std" || e.names == "StdKeep" {
			all[i] = except(dtype.Bool, e) // equal elements, where the root has no derivative
		}
	}
	return append(all,
		overAxis("VarCorrected", func(x *A) *A { return x.VarCorrected(1, 1) }, distinct, one(func(row []complex128) complex128 { return varianceOf(row, 1) })),
		overAxis("ArgMax", func(x *A) *A { return x.ArgMax(1) }, signs, greatest),
		overAxis("ArgMaxKeep", func(x *A) *A { return x.ArgMaxKeep(1) }, signs, greatest),
		overAxis("ArgMin", func(x *A) *A { return x.ArgMin(-1) }, signs, least),
		overAxis("ArgMinKeep", func(x *A) *A { return x.ArgMinKeep(-1) }, signs, least),
		entry{names: "Trace", f: asFunc(func(x *A) *A { return x.Trace(0, 0, 1) }), in: matrices(signs), want: func(in ...[]complex128) [][]complex128 {
			return [][]complex128{{in[0][0] + in[0][4]}}
		}},
	)
}

// distinct has no two equal elements in a row, in whatever type but bool.
var distinct = []float64{1.5, -2.25, 3, -0.5, 5.75, -4}

func alongAxes() []entry {
	type A = array.Array
	kth := func(row []complex128) []complex128 { return ascending(row)[1:2] }
	return []entry{
		overAxis("CumSum", func(x *A) *A { return x.CumSum(1) }, signs, scanning(plusOf)),
		overAxis("CumProd", func(x *A) *A { return x.CumProd(1) }, signs, scanning(timesOf)),
		overAxis("CumMax", func(x *A) *A { return x.CumMax(1) }, distinct, scanning(greaterOf)),
		overAxis("CumMin", func(x *A) *A { return x.CumMin(1) }, distinct, scanning(lesserOf)),
		overAxis("LogCumSumExp", func(x *A) *A { return x.LogCumSumExp(1) }, signs, scanning(logAddExpOf)),
		overAxis("Diff", func(x *A) *A { return x.Diff(1) }, signs, func(row []complex128) []complex128 { return []complex128{row[1] - row[0], row[2] - row[1]} }),
		overAxis("Softmax", func(x *A) *A { return x.Softmax(1) }, signs, softmaxOf),
		overAxis("LogSoftmax", func(x *A) *A { return x.LogSoftmax(1) }, signs, func(row []complex128) []complex128 { return mapped(softmaxOf(row), cmplx.Log) }),
		overAxis("Sort", func(x *A) *A { return x.Sort(1) }, distinct, ascending),
		overAxis("ArgSort", func(x *A) *A { return x.ArgSort(1) }, signs, orderOf),
		overAxis("Partition", func(x *A) *A { return x.Partition(1, 1).SliceAxis(1, 1, 2) }, distinct, kth),
		overAxis("ArgPartition", func(x *A) *A { return x.TakeAlongAxis(x.ArgPartition(1, 1), 1).SliceAxis(1, 1, 2) }, distinct, kth),
		{names: "TopK", f: func(xs ...*A) []*A { values, at := array.TopK(xs[0], 2, 1); return []*A{values, at} }, in: matrices(distinct),
			want: func(in ...[]complex128) [][]complex128 {
				var values, places []complex128
				for row := range slices.Chunk(in[0], 3) {
					order := orderOf(row)
					places = append(places, order[2], order[1])
					values = append(values, row[int(real(order[2]))], row[int(real(order[1]))])
				}
				return [][]complex128{values, places}
			}},
		{names: "LayerNorm", f: asMany(func(xs ...*A) *A { return array.LayerNorm(xs[0], xs[1], xs[2], 0.25) }),
			in:   append(matrices(signs), array.From([]float64{1, 2, -1}), array.From([]float64{0.5, 0, 1})),
			want: func(in ...[]complex128) [][]complex128 { return [][]complex128{normOf(in[0], in[1], in[2], true)} }},
		{names: "RMSNorm", f: asMany(func(xs ...*A) *A { return array.RMSNorm(xs[0], xs[1], 0.25) }),
			in: append(matrices(signs), array.From([]float64{1, 2, -1})),
			want: func(in ...[]complex128) [][]complex128 {
				return [][]complex128{normOf(in[0], in[1], make([]complex128, 3), false)}
			}},
	}
}

// normOf normalizes rows of three, with 0.25 as epsilon.
func normOf(x, weight, bias []complex128, center bool) (y []complex128) {
	for row := range slices.Chunk(x, 3) {
		mean := complex128(0)
		if center {
			mean = meanOf(row)
		}
		square := meanOf(mapped(row, func(v complex128) complex128 { return (v - mean) * (v - mean) }))
		for i, v := range row {
			y = append(y, (v-mean)/cmplx.Sqrt(square+0.25)*weight[i]+bias[i])
		}
	}
	return y
}

func rearrangements() []entry {
	type A = array.Array
	both := func(f func(x, y []complex128) []complex128) reference {
		return func(in ...[]complex128) [][]complex128 { return [][]complex128{f(in[0], in[1])} }
	}
	return []entry{
		moving("Reshape", func(x *A) *A { return x.T().Reshape(2, -1) }, 0, 3, 1, 4, 2, 5),
		moving("Flatten", (*A).Flatten, 0, 1, 2, 3, 4, 5),
		moving("Unflatten", func(x *A) *A { return x.Unflatten(1, 3, 1) }, 0, 1, 2, 3, 4, 5),
		moving("ExpandDims Squeeze", func(x *A) *A { return x.ExpandDims(0, 2).Squeeze(0) }, 0, 1, 2, 3, 4, 5),
		moving("Transpose", func(x *A) *A { return x.Transpose(1, 0) }, 0, 3, 1, 4, 2, 5),
		moving("T", (*A).T, 0, 3, 1, 4, 2, 5),
		moving("SwapAxes", func(x *A) *A { return x.SwapAxes(0, 1) }, 0, 3, 1, 4, 2, 5),
		moving("MoveAxis", func(x *A) *A { return x.MoveAxis(0, -1) }, 0, 3, 1, 4, 2, 5),
		moving("BroadcastTo", func(x *A) *A { return x.BroadcastTo(2, 2, 3) }, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5),
		moving("Slice", func(x *A) *A { return x.Slice([]int{1, 0}, []int{-9, 3}, []int{-1, 2}) }, 3, 5, 0, 2),
		moving("SliceAxis", func(x *A) *A { return x.SliceAxis(1, 1, 3) }, 1, 2, 4, 5),
		moving("SliceAxisStep", func(x *A) *A { return x.SliceAxisStep(1, 2, 0, -1) }, 2, 1, 5, 4),
		moving("At", func(x *A) *A { return x.At(0, -1) }, 3, 4, 5),
		moving("Flip", func(x *A) *A { return x.Flip(1) }, 2, 1, 0, 5, 4, 3),
		moving("Pad", func(x *A) *A { return x.Pad(0, [2]int{0, 1}, [2]int{1, 0}) }, -1, 0, 1, 2, -1, 3, 4, 5, -1, -1, -1, -1),
		moving("Repeat", func(x *A) *A { return x.Repeat(2, 1) }, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5),
		moving("Tile", func(x *A) *A { return x.Tile(2) }, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5),
		moving("Roll", func(x *A) *A { return x.Roll(1, 1) }, 2, 0, 1, 5, 3, 4),
		moving("Tril", func(x *A) *A { return x.Tril(0) }, 0, -1, -1, 3, 4, -1),
		moving("Triu", func(x *A) *A { return x.Triu(0) }, 0, 1, 2, -1, 4, 5),
		moving("Diagonal", func(x *A) *A { return x.Diagonal(1, 0, 1) }, 1, 5),
		moving("Diag", func(x *A) *A { return x.At(0, 0).Diag(0) }, 0, -1, -1, -1, 1, -1, -1, -1, 2),
		parting("Split", func(x *A) []*A { return array.Split(x, 3, 1) }, []int{0, 3}, []int{1, 4}, []int{2, 5}),
		parting("SplitAt", func(x *A) []*A { return array.SplitAt(x, []int{1, 1}, 1) }, []int{0, 3}, []int{}, []int{1, 2, 4, 5}),
		parting("Unstack", func(x *A) []*A { return array.Unstack(x, 0) }, []int{0, 1, 2}, []int{3, 4, 5}),
		{names: "Concatenate", f: asMany(func(xs ...*A) *A { return array.Concatenate(xs, 1) }), in: matrices(signs, others),
			want: both(func(x, y []complex128) []complex128 { return slices.Concat(x[:3], y[:3], x[3:], y[3:]) })},
		{names: "Stack", f: asMany(func(xs ...*A) *A { return array.Stack(xs, 0) }), in: matrices(signs, others),
			want: both(func(x, y []complex128) []complex128 { return slices.Concat(x, y) })},
		{names: "SliceUpdate", f: asMany(func(xs ...*A) *A { return xs[0].SliceUpdate(xs[1], []int{0, 1}, []int{2, 3}, nil) }),
			in:   append(matrices(signs), array.From([]float64{7, 8}, 2, 1)),
			want: both(func(x, y []complex128) []complex128 { return []complex128{x[0], y[0], y[0], x[3], y[1], y[1]} })},
		{names: "BroadcastArrays", f: func(xs ...*A) []*A { return array.BroadcastArrays(xs) }, in: append(matrices(signs), array.From([]float64{7, 8, 9})),
			want: func(in ...[]complex128) [][]complex128 { return [][]complex128{in[0], slices.Concat(in[1], in[1])} }},
		{names: "Meshgrid", f: func(xs ...*A) []*A { return array.Meshgrid(xs) }, in: []*A{array.From([]float64{1, 2}), array.From([]float64{7, 8, 9})},
			want: func(in ...[]complex128) [][]complex128 {
				return [][]complex128{chosen(in[0], 0, 0, 0, 1, 1, 1), slices.Concat(in[1], in[1])}
			}},
	}
}

// picked are operations with indices. updates are their last argument.
func picked() []entry {
	type A = array.Array
	x, updates := sample(3, 2), array.From([]float64{7, -6, 5, -4, 3, -2}, 3, 2)
	rows, again := list(2, 0, -1), list(1, 0, 0, 1, 1, 1).Reshape(3, 2)
	reads := func(name string, f func(xs ...*A) *A, in []*A, places ...int) entry {
		return entry{names: name, f: asMany(f), in: in, want: func(in ...[]complex128) [][]complex128 { return [][]complex128{chosen(in[0], places...)} }}
	}
	// Element i of the updates goes to places[i].
	writes := func(name string, f func(xs ...*A) *A, in []*A, add bool, places ...int) entry {
		return entry{names: name, f: asMany(f), in: in, want: func(in ...[]complex128) [][]complex128 {
			y := slices.Clone(in[0])
			for i, at := range places {
				if add {
					y[at] += in[len(in)-1][i]
				} else {
					y[at] = in[len(in)-1][i]
				}
			}
			return [][]complex128{y}
		}}
	}
	two := []*A{list(2, 0, 2), list(1, -1, 1)}
	return []entry{
		reads("Take", func(xs ...*A) *A { return xs[0].Take(xs[1], 0) }, []*A{x, rows}, 4, 5, 0, 1, 4, 5),
		reads("TakeAlongAxis", func(xs ...*A) *A { return xs[0].TakeAlongAxis(xs[1], 0) }, []*A{x, again}, 2, 1, 0, 3, 2, 3),
		reads("Gather", func(xs ...*A) *A { return array.Gather(xs[0], xs[1:], []int{0, 1}) }, append([]*A{x}, two...), 5, 1, 5),
		writes("ScatterAdd", func(xs ...*A) *A { return xs[0].ScatterAdd(xs[1], xs[2], 0) }, []*A{x, rows, updates}, true, 4, 5, 0, 1, 4, 5),
		writes("Scatter", func(xs ...*A) *A { return xs[0].Scatter(xs[1], xs[2], 0) }, []*A{x, rows, updates}, false, 4, 5, 0, 1, 4, 5),
		writes("ScatterAddAlongAxis", func(xs ...*A) *A { return xs[0].ScatterAddAlongAxis(xs[1], xs[2], 0) }, []*A{x, again, updates}, true, 2, 1, 0, 3, 2, 3),
		writes("PutAlongAxis", func(xs ...*A) *A { return xs[0].PutAlongAxis(xs[1], xs[2], 0) }, []*A{x, again, updates}, false, 2, 1, 0, 3, 2, 3),
		writes("ScatterAt", func(xs ...*A) *A { return array.ScatterAt(xs[0], xs[1:3], xs[3], []int{0, 1}) }, []*A{x, two[0], two[1], array.From([]float64{7, 8, 9})}, false, 5, 1, 5),
		writes("ScatterAddAt", func(xs ...*A) *A { return array.ScatterAddAt(xs[0], xs[1:3], xs[3], []int{0, 1}) }, []*A{x, two[0], two[1], array.From([]float64{7, 8, 9})}, true, 5, 1, 5),
	}
}

func products() []entry {
	type A = array.Array
	pair := func(name string, op binaryOp, x, y *A, f func(x, y []complex128) []complex128) entry {
		return entry{names: name, f: asFunc2(op), in: []*A{x, y}, want: func(in ...[]complex128) [][]complex128 { return [][]complex128{f(in[0], in[1])} }}
	}
	x, y := array.From(signs, 2, 3), array.From(others, 3, 2)
	product := func(x, y []complex128) []complex128 { return productOf(x, y, 2, 3, 2) }
	outer := func(x, y []complex128) []complex128 { return productOf(x, y, 6, 1, 6) }
	return []entry{
		pair("MatMul", (*A).MatMul, x, y, product),
		pair("Tensordot", func(x, y *A) *A { return array.Tensordot(x, y, []int{1}, []int{0}) }, x, y, product),
		pair("Einsum", func(x, y *A) *A { return array.Einsum("ij,jk->ik", x, y) }, x, y, product),
		pair("Inner", func(x, y *A) *A { return x.Inner(y.T()) }, x, y, product),
		pair("Outer", (*A).Outer, x, y, outer),
		{names: "AddMM", f: asMany(func(xs ...*A) *A { return array.AddMM(xs[0], xs[1], xs[2], 0.5, -2) }), in: []*A{array.From(signs[:2]), x, y},
			want: func(in ...[]complex128) [][]complex128 {
				z := productOf(in[1], in[2], 2, 3, 2)
				for i := range z {
					z[i] = z[i]*0.5 - in[0][i%2]*2
				}
				return [][]complex128{z}
			}},
		pair("Conv1d", func(x, w *A) *A { return array.Conv1d(x, w, array.ConvOptions{}) }, array.From(signs[:4], 1, 4, 1), array.From(others[:2], 1, 2, 1),
			func(x, w []complex128) []complex128 {
				return []complex128{x[0]*w[0] + x[1]*w[1], x[1]*w[0] + x[2]*w[1], x[2]*w[0] + x[3]*w[1]}
			}),
		pair("Conv2d", func(x, w *A) *A { return array.Conv2d(x, w, array.ConvOptions{}) }, array.From(signs, 1, 2, 3, 1), array.From(others[:4], 1, 2, 2, 1),
			func(x, w []complex128) []complex128 {
				return []complex128{x[0]*w[0] + x[1]*w[1] + x[3]*w[2] + x[4]*w[3], x[1]*w[0] + x[2]*w[1] + x[4]*w[2] + x[5]*w[3]}
			}),
	}
}

func packings() []entry {
	type A = array.Array
	q := array.Quantization{GroupSize: 32, Bits: 8}
	values := make([]float64, 64) // rows from 0 to 255, packed as steps down from there
	for i := range values {
		values[i] = float64(i % 32 * 85 % 256)
	}
	w := array.From(values, 2, 32)
	packed, _, _ := array.Quantize(w, q)
	scales, biases := array.From([]float64{1, 0.5}, 2, 1), array.From([]float64{0, -1}, 2, 1)
	whole := func(in ...[]complex128) []complex128 {
		z := make([]complex128, 64)
		for i := range z {
			z[i] = in[0][i/32]*complex(255-values[i], 0) + in[1][i/32]
		}
		return z
	}
	return []entry{
		{names: "Quantize", in: []*A{w}, f: asMany(func(xs ...*A) *A { p, s, b := array.Quantize(xs[0], q); return array.Dequantize(p, s, b, q) }),
			want:    func(in ...[]complex128) [][]complex128 { return in },
			without: map[string]string{"gradient": "rounding to steps has no derivative"}},
		{names: "Dequantize", in: []*A{packed, scales, biases}, f: asMany(func(xs ...*A) *A { return array.Dequantize(xs[0], xs[1], xs[2], q) }),
			want: func(in ...[]complex128) [][]complex128 { return [][]complex128{whole(in[1], in[2])} }},
		{names: "QuantizedMatMul", in: []*A{array.From([]float64{1, 2, -1, 0.5}, 2, 2), packed, scales, biases},
			f: asMany(func(xs ...*A) *A { return array.QuantizedMatMul(xs[0], xs[1], xs[2], xs[3], false, q) }),
			want: func(in ...[]complex128) [][]complex128 {
				return [][]complex128{productOf(in[0], whole(in[2], in[3]), 2, 2, 32)}
			}},
	}
}

func created() []entry {
	type A = array.Array
	like := func(name string, f unaryOp, value complex128) entry {
		return ofOne(name, f, signs, func(complex128) complex128 { return value })
	}
	return []entry{
		making("Zeros", func(t dtype.Type) *A { return array.Zeros(t, 2) }, 0, 0),
		making("Ones", func(t dtype.Type) *A { return array.Ones(t, 2) }, 1, 1),
		making("Full", func(t dtype.Type) *A { return array.Full(2.5, t, 2) }, 2.5, 2.5),
		like("ZerosLike", array.ZerosLike, 0),
		like("OnesLike", array.OnesLike, 1),
		like("FullLike", func(x *A) *A { return array.FullLike(x, 2.5) }, 2.5),
		making("Arange", func(t dtype.Type) *A { return array.Arange(1, 4, 1, t) }, 1, 2, 3),
		making("Linspace", func(t dtype.Type) *A { return array.Linspace(0, 1, 3, t) }, 0, 0.5, 1),
		making("Eye", func(t dtype.Type) *A { return array.Eye(2, 3, 1, t) }, 0, 1, 0, 0, 0, 1),
		making("Tri", func(t dtype.Type) *A { return array.Tri(2, 3, 0, t) }, 1, 0, 0, 1, 1, 0),
		making("From", func(t dtype.Type) *A { return array.From([]float64{1, 2}).AsType(t) }, 1, 2),
		making("FromBytes", func(t dtype.Type) *A { return array.FromBytes(make([]byte, 2*t.Size()), t, 2) }, 0, 0),
		making("Scalar", func(t dtype.Type) *A { return array.Scalar(2.0).AsType(t) }, 2),
		making("Nested", func(t dtype.Type) *A { return array.Nested([][]int{{1, 2}, {3, 4}}).AsType(t) }, 1, 2, 3, 4),
	}
}
