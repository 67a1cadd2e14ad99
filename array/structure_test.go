package array_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// sample is numbers between -2 and 2 without a pattern and without ties, exact
// in every floating-point type.
func sample(shape ...int) *array.Array {
	n := array.Spec{Shape: shape}.Size()
	data := make([]float64, n)
	for i := range data {
		data[i] = float64((i*37+11)%61-30) / 16
	}
	return array.From(data).Reshape(shape...)
}

func list(values ...int32) *array.Array { return array.From(values) }

// picking makes a Want that takes each element of the result from a place of the
// only input.
func picking(places ...int) func(xs ...[]float64) [][]float64 {
	return func(xs ...[]float64) [][]float64 {
		out := make([]float64, len(places))
		for i, at := range places {
			if at >= 0 {
				out[i] = xs[0][at]
			}
		}
		return [][]float64{out}
	}
}

func one(name string, x *array.Array, f func(x *array.Array) *array.Array, want func(xs ...[]float64) [][]float64) arraytest.Case {
	return arraytest.Case{Name: name, F: arraytest.One(f), Inputs: []*array.Array{x}, Want: want}
}

func TestShapeRules(t *testing.T) {
	for _, c := range []arraytest.Case{
		one("broadcast", sample(2, 1), func(x *array.Array) *array.Array { return x.BroadcastTo(2, 2, 3) }, picking(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1)),
		one("broadcast of a number", sample(), func(x *array.Array) *array.Array { return x.BroadcastTo(2) }, picking(0, 0)),
		one("broadcast to nothing", sample(1), func(x *array.Array) *array.Array { return x.BroadcastTo(0) }, picking()),
		one("reshape", sample(2, 3), func(x *array.Array) *array.Array { return x.Reshape(3, -1) }, picking(0, 1, 2, 3, 4, 5)),
		one("reshape of a transpose", sample(2, 3), func(x *array.Array) *array.Array { return x.T().Flatten() }, picking(0, 3, 1, 4, 2, 5)),
		one("transpose", sample(2, 1, 3), func(x *array.Array) *array.Array { return x.Transpose(2, 0, 1) }, picking(0, 3, 1, 4, 2, 5)),
		one("unflatten", sample(2, 6), func(x *array.Array) *array.Array { return x.T().Unflatten(0, 3, -1) }, picking(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11)),
		one("expand and squeeze", sample(2, 1), func(x *array.Array) *array.Array { return x.ExpandDims(0).Squeeze(-1) }, picking(0, 1)),
		one("slice", sample(3, 4), func(x *array.Array) *array.Array { return x.Slice([]int{1, 3}, []int{3, 0}, []int{1, -2}) }, picking(7, 5, 11, 9)),
		one("slice of nothing", sample(3), func(x *array.Array) *array.Array { return x.SliceAxis(0, 2, 1) }, picking()),
		one("element", sample(3, 2), func(x *array.Array) *array.Array { return x.At(0, -1) }, picking(4, 5)),
		one("flip", sample(2, 2), func(x *array.Array) *array.Array { return x.Flip() }, picking(3, 2, 1, 0)),
		one("flip of one axis", sample(2, 2), func(x *array.Array) *array.Array { return x.Flip(1) }, picking(1, 0, 3, 2)),
		one("pad", sample(2), func(x *array.Array) *array.Array { return x.Pad(0, [2]int{1, 2}) }, picking(-1, 0, 1, -1, -1)),
		one("repeat", sample(2, 2), func(x *array.Array) *array.Array { return x.Repeat(2, 1) }, picking(0, 0, 1, 1, 2, 2, 3, 3)),
		one("tile", sample(2), func(x *array.Array) *array.Array { return x.Tile(2, 2) }, picking(0, 1, 0, 1, 0, 1, 0, 1)),
		one("roll", sample(2, 3), func(x *array.Array) *array.Array { return x.Roll(4, -1) }, picking(2, 0, 1, 5, 3, 4)),
		one("lower triangle", sample(2, 3), func(x *array.Array) *array.Array { return x.Tril(0) }, picking(0, -1, -1, 3, 4, -1)),
		one("upper triangle", sample(2, 3), func(x *array.Array) *array.Array { return x.Triu(1) }, picking(-1, 1, 2, -1, -1, 5)),
	} {
		arraytest.Check(t, c)
	}
}

func TestJoiningRules(t *testing.T) {
	x, y := sample(2, 2), sample(2, 1).MulScalar(2)
	join := func(axis int) func(xs ...*array.Array) *array.Array {
		return func(xs ...*array.Array) *array.Array { return array.Concatenate(xs, axis) }
	}
	for _, c := range []arraytest.Case{
		{Name: "concatenate", F: arraytest.Many(join(1)), Inputs: []*array.Array{x, y}, Want: func(xs ...[]float64) [][]float64 {
			x, y := xs[0], xs[1]
			return [][]float64{{x[0], x[1], y[0], x[2], x[3], y[1]}}
		}},
		{Name: "stack", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Stack(xs, -1) }),
			Inputs: []*array.Array{sample(2), sample(2).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{{xs[0][0], xs[1][0], xs[0][1], xs[1][1]}}
			}},
		{Name: "split", F: func(xs ...*array.Array) []*array.Array { return array.Split(xs[0], 2, 1) },
			Inputs: []*array.Array{sample(2, 4)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{slices.Concat(xs[0][:2], xs[0][4:6]), slices.Concat(xs[0][2:4], xs[0][6:])}
			}},
		{Name: "unstack", F: func(xs ...*array.Array) []*array.Array { return array.Unstack(xs[0], -1) },
			Inputs: []*array.Array{sample(2, 2)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{{xs[0][0], xs[0][2]}, {xs[0][1], xs[0][3]}}
			}},
		{Name: "meshgrid", F: func(xs ...*array.Array) []*array.Array { return array.Meshgrid(xs) },
			Inputs: []*array.Array{sample(2), sample(3).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				x, y := xs[0], xs[1]
				return [][]float64{{x[0], x[0], x[0], x[1], x[1], x[1]}, slices.Concat(y, y)}
			}},
		{Name: "split at places", F: func(xs ...*array.Array) []*array.Array { return array.SplitAt(xs[0], []int{1, 1, -1}, 0) },
			Inputs: []*array.Array{sample(4)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{xs[0][:1], {}, xs[0][1:3], xs[0][3:]}
			}},
		{Name: "slice update", F: arraytest.Two(func(x, y *array.Array) *array.Array {
			return x.SliceUpdate(y, []int{0, 2}, []int{2, 0}, []int{1, -1})
		}), Inputs: []*array.Array{sample(2, 3), sample(2, 1)}, Want: func(xs ...[]float64) [][]float64 {
			x, y := xs[0], xs[1]
			return [][]float64{{x[0], y[0], y[0], x[3], y[1], y[1]}}
		}},
	} {
		arraytest.Check(t, c)
	}
}

func TestIndexRules(t *testing.T) {
	pick := func(axis int) func(xs ...*array.Array) *array.Array {
		return func(xs ...*array.Array) *array.Array { return xs[0].Take(xs[1], axis) }
	}
	for _, c := range []arraytest.Case{
		{Name: "take rows", F: arraytest.Many(pick(0)), Inputs: []*array.Array{sample(3, 2), list(2, 0, -1)}, Want: picking(4, 5, 0, 1, 4, 5)},
		{Name: "take columns by a matrix", F: arraytest.Many(pick(1)), Inputs: []*array.Array{sample(2, 3), list(2, 0, 0, 1).Reshape(2, 2)}, Want: picking(2, 0, 0, 1, 5, 3, 3, 4)},
		{Name: "take one", F: arraytest.Many(pick(-1)), Inputs: []*array.Array{sample(2, 3), array.Scalar(int64(-2))}, Want: picking(1, 4)},
		{Name: "take nothing", F: arraytest.Many(pick(0)), Inputs: []*array.Array{sample(2), array.From([]uint8{})}, Want: picking()},
		{Name: "take along the last axis", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].TakeAlongAxis(xs[1], 1) }),
			Inputs: []*array.Array{sample(2, 3), list(2, 0).Reshape(2, 1)}, Want: picking(2, 3)},
		{Name: "take along the first axis", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].TakeAlongAxis(xs[1], 0) }),
			Inputs: []*array.Array{sample(2, 2), list(1, 0, 0, 0, -1, 1).Reshape(3, 2)}, Want: picking(2, 1, 0, 1, 2, 3)},
		{Name: "scatter add", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].ScatterAdd(xs[1], xs[2], 0) }),
			Inputs: []*array.Array{sample(3), list(2, 0, 2), sample(3).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				x, y := xs[0], xs[2]
				return [][]float64{{x[0] + y[1], x[1], x[2] + y[0] + y[2]}}
			}},
		{Name: "scatter add of columns", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].ScatterAdd(xs[1], xs[2], 1) }),
			Inputs: []*array.Array{sample(2, 2), list(1, 1), sample(1, 2)}, Want: func(xs ...[]float64) [][]float64 {
				x, y := xs[0], xs[2]
				return [][]float64{{x[0], x[1] + y[0] + y[1], x[2], x[3] + y[0] + y[1]}}
			}},
		{Name: "scatter", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].Scatter(xs[1], xs[2], 0) }),
			Inputs: []*array.Array{sample(3), list(2, 0, 2), sample(3).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{{xs[2][1], xs[0][1], xs[2][2]}}
			}},
		{Name: "scatter of columns", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].Scatter(xs[1], xs[2], 1) }),
			Inputs: []*array.Array{sample(2, 2), list(1, 1), sample(2, 2).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{{xs[0][0], xs[2][1], xs[0][2], xs[2][3]}}
			}},
		{Name: "put along an axis", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].PutAlongAxis(xs[1], xs[2], 0) }),
			Inputs: []*array.Array{sample(2, 2), list(1, 0).Reshape(1, 2), sample(1, 2).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				return [][]float64{{xs[0][0], xs[2][1], xs[2][0], xs[0][3]}}
			}},
		{Name: "scatter add along an axis", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return xs[0].ScatterAddAlongAxis(xs[1], xs[2], 1) }),
			Inputs: []*array.Array{sample(2, 2), list(1, 1, 0, 1).Reshape(2, 2), sample(2, 2).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
				x, y := xs[0], xs[2]
				return [][]float64{{x[0], x[1] + y[0] + y[1], x[2] + y[2], x[3] + y[3]}}
			}},
	} {
		arraytest.Check(t, c)
	}
}

// overRows makes a Want of a function of each row of n elements.
func overRows(n int, f func(x []float64) []float64) func(xs ...[]float64) [][]float64 {
	return func(xs ...[]float64) [][]float64 {
		var out []float64
		for row := range slices.Chunk(xs[0], n) {
			out = append(out, f(row)...)
		}
		return [][]float64{out}
	}
}

// over makes a row function of a fold.
func over(f func(x []float64) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 { return []float64{f(x)} }
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func product(x []float64) float64 {
	p := 1.0
	for _, v := range x {
		p *= v
	}
	return p
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

func variance(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += (v - mean(x)) * (v - mean(x))
	}
	return s / float64(len(x))
}

func exps(x []float64) []float64 {
	e := make([]float64, len(x))
	for i, v := range x {
		e[i] = math.Exp(v)
	}
	return e
}

func TestReductionRules(t *testing.T) {
	columns := func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
		return func(x *array.Array) *array.Array { return f(x.T()) }
	}
	for _, c := range []arraytest.Case{
		one("sum of rows", sample(2, 3), func(x *array.Array) *array.Array { return x.Sum(1) }, overRows(3, over(sum))),
		one("sum of columns", sample(2, 3), columns(func(x *array.Array) *array.Array { return x.Sum(0) }), overRows(3, over(sum))),
		one("sum of all", sample(2, 3), func(x *array.Array) *array.Array { return x.Sum() }, overRows(6, over(sum))),
		one("sum that keeps axes", sample(2, 3), func(x *array.Array) *array.Array { return x.SumKeep(-1) }, overRows(3, over(sum))),
		one("mean", sample(2, 3), func(x *array.Array) *array.Array { return x.Mean(1) }, overRows(3, over(mean))),
		one("max", sample(2, 3), func(x *array.Array) *array.Array { return x.Max(1) }, overRows(3, over(slices.Max[[]float64]))),
		one("max of columns", sample(2, 3), columns(func(x *array.Array) *array.Array { return x.MaxKeep(0) }), overRows(3, over(slices.Max[[]float64]))),
		one("min", sample(2, 3), func(x *array.Array) *array.Array { return x.Min() }, overRows(6, over(slices.Min[[]float64]))),
		one("product", sample(2, 3), func(x *array.Array) *array.Array { return x.Prod(1) }, overRows(3, over(product))),
		one("product with zeros", array.From([]float64{0, 2, 3, 0, 0, 1, 2, 3, 4}, 3, 3), func(x *array.Array) *array.Array { return x.Prod(1) }, overRows(3, over(product))),
		one("product of columns", sample(2, 3), columns(func(x *array.Array) *array.Array { return x.ProdKeep(0) }), overRows(3, over(product))),
		one("variance", sample(2, 3), func(x *array.Array) *array.Array { return x.Var(1) }, overRows(3, over(variance))),
		one("corrected variance", sample(2, 3), func(x *array.Array) *array.Array { return x.VarCorrected(1, 1) }, overRows(3, over(func(x []float64) float64 { return variance(x) * 1.5 }))),
		one("deviation", sample(2, 3), func(x *array.Array) *array.Array { return x.StdKeep(1) }, overRows(3, over(func(x []float64) float64 { return math.Sqrt(variance(x)) }))),
		one("softmax", sample(2, 3), func(x *array.Array) *array.Array { return x.Softmax(-1) }, overRows(3, func(x []float64) []float64 {
			e := exps(x)
			for i := range e {
				e[i] /= sum(exps(x))
			}
			return e
		})),
		one("softmax of columns", sample(2, 2), func(x *array.Array) *array.Array { return x.Softmax(0) }, nil),
		one("log softmax", sample(2, 3), func(x *array.Array) *array.Array { return x.LogSoftmax(1) }, overRows(3, func(x []float64) []float64 {
			out := slices.Clone(x)
			for i := range out {
				out[i] -= math.Log(sum(exps(x)))
			}
			return out
		})),
		one("logsumexp", sample(2, 3), func(x *array.Array) *array.Array { return x.LogSumExp(1) }, overRows(3, over(func(x []float64) float64 { return math.Log(sum(exps(x))) }))),
		one("logsumexp of columns", sample(2, 3), columns(func(x *array.Array) *array.Array { return x.LogSumExpKeep(0) }), overRows(3, over(func(x []float64) float64 { return math.Log(sum(exps(x))) }))),
	} {
		arraytest.Check(t, c)
	}
}

func TestNormRules(t *testing.T) {
	const eps = 0.125
	weight, bias := sample(3).AddScalar(2), sample(3).MulScalar(3)
	layer := func(xs ...[]float64) [][]float64 {
		x, w, b := xs[0], xs[1], xs[2]
		var out []float64
		for row := range slices.Chunk(x, 3) {
			square := 0.0
			for _, v := range row {
				square += (v - mean(row)) * (v - mean(row)) / 3
			}
			for j, v := range row {
				out = append(out, (v-mean(row))/math.Sqrt(square+eps)*w[j]+b[j])
			}
		}
		return [][]float64{out}
	}
	rms := func(xs ...[]float64) [][]float64 {
		var out []float64
		for row := range slices.Chunk(xs[0], 3) {
			square := (row[0]*row[0] + row[1]*row[1] + row[2]*row[2]) / 3
			for j, v := range row {
				out = append(out, v/math.Sqrt(square+eps)*xs[1][j])
			}
		}
		return [][]float64{out}
	}
	arraytest.Check(t, arraytest.Case{
		Name: "layer norm", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.LayerNorm(xs[0], xs[1], xs[2], eps) }),
		Inputs: []*array.Array{sample(2, 3), weight, bias}, Want: layer, Types: []dtype.Type{dtype.Float32},
	})
	arraytest.Check(t, arraytest.Case{
		Name: "RMS norm", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.RMSNorm(xs[0], xs[1], eps) }),
		Inputs: []*array.Array{sample(2, 3), weight}, Want: rms, Types: []dtype.Type{dtype.Float32},
	})
}

// running makes a row function of a fold: element i folds the elements up to i.
func running(f func(x []float64) float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = f(x[:i+1])
		}
		return out
	}
}

func TestScanRules(t *testing.T) {
	zeros := array.From([]float64{2, 0, 3, 0, 4, 1, 2, 3}, 2, 4)
	for _, c := range []arraytest.Case{
		one("cumsum", sample(2, 3), func(x *array.Array) *array.Array { return x.CumSum(1) }, overRows(3, running(sum))),
		one("cumsum backwards", sample(4), func(x *array.Array) *array.Array { return x.Flip(0).CumSum(0, array.Reverse) }, overRows(4, func(x []float64) []float64 {
			y := running(sum)(x)
			slices.Reverse(y)
			return y
		})),
		one("cumsum without the element", sample(4), func(x *array.Array) *array.Array { return x.CumSum(0, array.Exclusive) }, overRows(4, func(x []float64) []float64 {
			return append([]float64{0}, running(sum)(x)[:3]...)
		})),
		one("cumsum of columns", sample(2, 3), func(x *array.Array) *array.Array { return x.T().CumSum(0).T() }, overRows(3, running(sum))),
		one("cumprod", sample(2, 3), func(x *array.Array) *array.Array { return x.CumProd(-1) }, overRows(3, running(product))),
		one("cumprod with zeros", zeros, func(x *array.Array) *array.Array { return x.CumProd(-1) }, overRows(4, running(product))),
		one("cummax", sample(2, 4), func(x *array.Array) *array.Array { return x.CumMax(-1) }, overRows(4, running(slices.Max[[]float64]))),
		one("cummin", sample(2, 4), func(x *array.Array) *array.Array { return x.CumMin(1) }, overRows(4, running(slices.Min[[]float64]))),
		one("logcumsumexp", sample(2, 4), func(x *array.Array) *array.Array { return x.LogCumSumExp(-1) }, overRows(4, running(func(x []float64) float64 { return math.Log(sum(exps(x))) }))),
		one("differences", sample(2, 3), func(x *array.Array) *array.Array { return x.Diff(1) }, overRows(3, func(x []float64) []float64 { return []float64{x[1] - x[0], x[2] - x[1]} })),
		one("cumsum of nothing", sample(2, 0), func(x *array.Array) *array.Array { return x.CumSum(-1) }, picking()),
	} {
		arraytest.Check(t, c)
	}
}

func TestSortRules(t *testing.T) {
	ascending := func(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }
	top := func(xs ...*array.Array) []*array.Array {
		values, _ := array.TopK(xs[0], 2, 1)
		return []*array.Array{values}
	}
	for _, c := range []arraytest.Case{
		one("sort", sample(2, 4), func(x *array.Array) *array.Array { return x.Sort(-1) }, overRows(4, ascending)),
		one("sort of columns", sample(2, 4), func(x *array.Array) *array.Array { return x.T().Sort(0).T() }, overRows(4, ascending)),
		one("partition", sample(2, 4), func(x *array.Array) *array.Array { return x.Partition(1, 1).At(1, 1) }, overRows(4, over(func(x []float64) float64 { return ascending(x)[1] }))),
		{Name: "topk", F: top, Inputs: []*array.Array{sample(2, 4)}, Want: overRows(4, func(x []float64) []float64 {
			y := ascending(x)
			return []float64{y[3], y[2]}
		})},
		one("argsort", sample(2, 4), func(x *array.Array) *array.Array { return x.TakeAlongAxis(x.ArgSort(1), 1) }, overRows(4, ascending)),
	} {
		arraytest.Check(t, c)
	}
}

func TestGatherRules(t *testing.T) {
	rows, columns := list(1, 0, 1, -1), list(2, 0, 2, 1)
	x := sample(2, 3)
	for _, c := range []arraytest.Case{
		{Name: "gather elements", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Gather(xs[0], xs[1:], []int{0, 1}) }),
			Inputs: []*array.Array{x, rows, columns}, Want: picking(5, 0, 5, 4)},
		{Name: "gather with broadcast indices", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Gather(xs[0], xs[1:], []int{-1, 0}) }),
			Inputs: []*array.Array{x, list(0, 2).Reshape(2, 1), list(1, 0)}, Want: picking(3, 0, 5, 2)},
		{Name: "gather rows of the middle", F: arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Gather(xs[0], xs[1:], []int{1}) }),
			Inputs: []*array.Array{sample(2, 2, 2), list(1)}, Want: picking(2, 3, 6, 7)},
		{Name: "scatter elements", F: arraytest.Many(func(xs ...*array.Array) *array.Array {
			return array.ScatterAt(xs[0], xs[1:3], xs[3], []int{0, 1})
		}), Inputs: []*array.Array{x, rows, columns, sample(4).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
			x, y := slices.Clone(xs[0]), xs[3]
			x[5], x[0], x[4] = y[2], y[1], y[3]
			return [][]float64{x}
		}},
		{Name: "scatter add of elements", F: arraytest.Many(func(xs ...*array.Array) *array.Array {
			return array.ScatterAddAt(xs[0], xs[1:3], xs[3], []int{1, 0})
		}), Inputs: []*array.Array{x, columns, rows, sample(4).MulScalar(2)}, Want: func(xs ...[]float64) [][]float64 {
			x, y := slices.Clone(xs[0]), xs[3]
			x[5] += y[0] + y[2]
			x[0] += y[1]
			x[4] += y[3]
			return [][]float64{x}
		}},
	} {
		arraytest.Check(t, c)
	}
}

func TestComplexRules(t *testing.T) {
	z := array.From([]complex64{1 + 2i, -1i, 0.5, 2 - 1i, 1i, -1 + 1i}, 2, 3)
	for name, f := range map[string]func(x *array.Array) *array.Array{
		"sum":             func(x *array.Array) *array.Array { return x.Sum(1) },
		"mean of columns": func(x *array.Array) *array.Array { return x.Mean(0) },
		"product":         func(x *array.Array) *array.Array { return x.Prod(1) },
		"cumsum":          func(x *array.Array) *array.Array { return x.CumSum(1) },
		"cumprod":         func(x *array.Array) *array.Array { return x.CumProd(1) },
		"slice":           func(x *array.Array) *array.Array { return x.SliceAxisStep(1, 2, 0, -1) },
		"transpose":       func(x *array.Array) *array.Array { return x.T().Reshape(2, 3) },
		"variance":        func(x *array.Array) *array.Array { return x.Var(1) },
	} {
		arraytest.Check(t, arraytest.Case{Name: name, F: arraytest.One(f), Inputs: []*array.Array{z}})
	}
	if got := elements[complex64](t, z.Prod(1), 2); got[0] != 1-0.5i || got[1] != -3-1i {
		t.Errorf("products %v", got)
	}
	if got := elements[complex64](t, z.Max(1), 2); got[0] != 1+2i || got[1] != 2-1i {
		t.Errorf("greatest %v", got)
	}
	if got := elements[complex64](t, z.Min(0), 3); got[0] != 1+2i || got[1] != -1i || got[2] != -1+1i {
		t.Errorf("least %v", got)
	}
}

func TestEqualExtremaShareTheGradient(t *testing.T) {
	x := array.From([]float32{3, 1, 3, 3})
	_, grads := transform.VJP(arraytest.One(func(x *array.Array) *array.Array { return x.Max() }),
		[]*array.Array{x}, []*array.Array{array.Scalar(float32(6))})
	if got := elements[float32](t, grads[0], 4); !slices.Equal(got, []float32{2, 0, 2, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestDiagonalRules(t *testing.T) {
	for _, c := range []arraytest.Case{
		one("diagonal", sample(2, 3), func(x *array.Array) *array.Array { return x.Diagonal(0, 0, 1) }, picking(0, 4)),
		one("upper diagonal", sample(2, 3), func(x *array.Array) *array.Array { return x.Diagonal(2, 0, -1) }, picking(2)),
		one("lower diagonal of a stack", sample(2, 2, 2), func(x *array.Array) *array.Array { return x.Diagonal(-1, 1, 2) }, picking(2, 6)),
		one("diagonal outside", sample(2, 2), func(x *array.Array) *array.Array { return x.Diagonal(5, 0, 1) }, picking()),
		one("matrix of a diagonal", sample(2), func(x *array.Array) *array.Array { return x.Diag(1) }, picking(-1, 0, -1, -1, -1, 1, -1, -1, -1)),
		one("diagonal of a matrix", sample(2, 2), func(x *array.Array) *array.Array { return x.Diag(-1) }, picking(2)),
		one("trace", sample(2, 2), func(x *array.Array) *array.Array { return x.Trace(0, 0, 1) }, func(xs ...[]float64) [][]float64 {
			return [][]float64{{xs[0][0] + xs[0][3]}}
		}),
		one("median of an odd number", sample(2, 3), func(x *array.Array) *array.Array { return x.Median(1) }, overRows(3, over(func(x []float64) float64 {
			return slices.Sorted(slices.Values(x))[1]
		}))),
		one("median of an even number", sample(2, 4), func(x *array.Array) *array.Array { return x.MedianKeep(-1) }, overRows(4, over(func(x []float64) float64 {
			return (slices.Sorted(slices.Values(x))[1] + slices.Sorted(slices.Values(x))[2]) / 2
		}))),
	} {
		arraytest.Check(t, c)
	}
	if got := elements[float32](t, array.From([]float32{1, float32(math.NaN()), 0}).Median())[0]; got == got {
		t.Errorf("the median with a NaN is %v", got)
	}
	for name, x := range map[string]*array.Array{
		"the median of nothing":    count(0).Median(),
		"one axis as two":          count(2, 2).Diagonal(0, 1, -1),
		"the diagonal of a vector": count(2).Diagonal(0, 0, 1),
		"a matrix of a stack":      count(2, 2, 2).Diag(0),
	} {
		if x.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
}
