package array_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

// Numbers without axes, and arrays without elements, in operations that walk
// along axes.
func TestNumbersAndNothingConform(t *testing.T) {
	type A = array.Array
	number, nothing, rows, columns := array.Scalar(-1.1875), sample(0), sample(2, 0), sample(0, 3)
	none, nan := []float64{}, math.NaN()
	for _, c := range []struct {
		name string
		op   func(x *A) *A
		in   *A
		want []float64
	}{
		{"sum of a number", func(x *A) *A { return x.Sum() }, number, []float64{-1.1875}},
		{"product of a number", func(x *A) *A { return x.Prod() }, number, []float64{-1.1875}},
		{"greatest of a number", func(x *A) *A { return x.MaxKeep() }, number, []float64{-1.1875}},
		{"variance of a number", func(x *A) *A { return x.Var() }, number, []float64{0}},
		{"median of a number", func(x *A) *A { return x.Median() }, number, []float64{-1.1875}},
		{"logsumexp of a number", func(x *A) *A { return x.LogSumExp() }, number, []float64{-1.1875}},
		{"all axes of a number", func(x *A) *A { return x.T().Flip().Squeeze().Flatten() }, number, []float64{-1.1875}},
		{"a number times over", func(x *A) *A { return x.Tile(2) }, number, []float64{-1.1875, -1.1875}},
		{"no times over", func(x *A) *A { return x.Tile(0) }, sample(2), none},
		{"no repetition", func(x *A) *A { return x.Repeat(0, 0) }, sample(2), none},
		{"a number on a diagonal", func(x *A) *A { return x.ExpandDims(0).Diag(1) }, number, []float64{0, -1.1875, 0, 0}},
		{"outer product of a number", func(x *A) *A { return x.Outer(x) }, number, []float64{1.41015625}},

		{"sum of rows of nothing", func(x *A) *A { return x.Sum(1) }, rows, []float64{0, 0}},
		{"sums of no rows", func(x *A) *A { return x.Sum(1) }, columns, none},
		{"product of nothing", func(x *A) *A { return x.Prod() }, nothing, []float64{1}},
		{"products of nothing", func(x *A) *A { return x.Prod(0) }, columns, []float64{1, 1, 1}},
		{"mean of nothing", func(x *A) *A { return x.Mean() }, nothing, []float64{nan}},
		{"variance of nothing", func(x *A) *A { return x.Var() }, nothing, []float64{nan}},
		{"greatest of no rows", func(x *A) *A { return x.Max(1) }, columns, none},
		{"place in no rows", func(x *A) *A { return x.ArgMax(1) }, columns, none},
		{"all of nothing", func(x *A) *A { return x.All() }, nothing, []float64{1}},
		{"any of nothing", func(x *A) *A { return x.Any() }, nothing, []float64{0}},
		{"logsumexp of nothing", func(x *A) *A { return x.LogSumExp() }, nothing, []float64{math.Inf(-1)}},
		{"logsumexp of no rows", func(x *A) *A { return x.LogSumExp(1) }, columns, none},
		{"softmax of nothing", func(x *A) *A { return x.Softmax(-1) }, rows, none},
		{"softmax of no rows", func(x *A) *A { return x.LogSoftmax(1) }, columns, none},
		{"layer norm of no rows", func(x *A) *A { return array.LayerNorm(x, nil, nil, 1) }, columns, none},
		{"running sums of nothing", func(x *A) *A { return x.CumSum(1) }, rows, none},
		{"running products of no rows", func(x *A) *A { return x.CumProd(0) }, columns, none},
		{"running maxima of nothing", func(x *A) *A { return x.CumMax(1) }, rows, none},
		{"running logsumexp of nothing", func(x *A) *A { return x.LogCumSumExp(1) }, rows, none},
		{"sort of nothing", func(x *A) *A { return x.Sort(0) }, nothing, none},
		{"sort of no rows", func(x *A) *A { return x.Sort(1) }, columns, none},
		{"none of the greatest", func(x *A) *A { values, _ := array.TopK(x, 0, 0); return values }, sample(3), none},
		{"transpose of nothing", func(x *A) *A { return x.T().Reshape(3, 0, 7).SwapAxes(0, 2) }, columns, none},
		{"broadcast of nothing", func(x *A) *A { return x.BroadcastTo(4, 0, 3) }, columns, none},
		{"slice of nothing", func(x *A) *A { return x.Slice(nil, nil, []int{-1, 2}) }, columns, none},
		{"flip of nothing", func(x *A) *A { return x.Flip() }, rows, none},
		{"roll of nothing", func(x *A) *A { return x.Roll(5, 0) }, nothing, none},
		{"padding around nothing", func(x *A) *A { return x.Pad(2, [2]int{1, 1}) }, nothing, []float64{2, 2}},
		{"triangle of nothing", func(x *A) *A { return x.Tril(0) }, columns, none},
		{"diagonal of nothing", func(x *A) *A { return x.Diagonal(0, 0, 1) }, columns, none},
		{"differences of nothing", func(x *A) *A { return x.Diff(0) }, sample(1), none},
		{"nothing joined to nothing", func(x *A) *A { return array.Concatenate([]*A{x, x}, 0) }, columns, none},
		{"nothing joined to something", func(x *A) *A { return array.Concatenate([]*A{x, sample(1, 3)}, 0) }, columns, []float64{-1.1875, 1.125, -0.375}},
		{"nothing stacked", func(x *A) *A { return array.Stack([]*A{x, x}, 1) }, nothing, none},
		{"parts of nothing", func(x *A) *A { return array.Split(x, 3, 1)[2] }, columns, none},
		{"no elements taken", func(x *A) *A { return x.Take(array.From([]int32{}), 0) }, sample(2, 2), none},
		{"elements taken of no columns", func(x *A) *A { return x.Take(list(1, 0), 0) }, rows, none},
		{"nothing taken along an axis", func(x *A) *A { return x.TakeAlongAxis(array.Zeros(dtype.Int32, 0, 3), 0) }, columns, none},
		{"nothing scattered", func(x *A) *A { return x.ScatterAdd(array.From([]int32{}), sample(0), 0) }, sample(2), []float64{-1.1875, 1.125}},
		{"no update", func(x *A) *A { return x.SliceUpdate(number, []int{1}, []int{1}, nil) }, sample(2), []float64{-1.1875, 1.125}},
		{"product without rows", func(x *A) *A { return x.MatMul(sample(3, 2)) }, columns, none},
		{"product over nothing", func(x *A) *A { return x.MatMul(sample(0, 2)) }, rows, []float64{0, 0, 0, 0}},
		{"einsum over nothing", func(x *A) *A { return array.Einsum("ij,ik->jk", x, x) }, columns, make([]float64, 9)},
		{"outer product of nothing", func(x *A) *A { return x.Outer(sample(2)) }, nothing, none},
		{"conversion of nothing", func(x *A) *A { return x.AsType(dtype.Complex64).Real() }, columns, none},
	} {
		without := map[string]string{}
		if len(c.want) == 1 && math.IsNaN(c.want[0]) {
			without["tangent"] = "what has no value has no tangent either"
		}
		arraytest.Check(t, arraytest.Case{
			Name: c.name, F: arraytest.One(c.op), Inputs: []*A{c.in}, Types: []dtype.Type{}, Without: without,
			Want: func(...[]float64) [][]float64 { return [][]float64{c.want} },
		})
	}
}

// Every pair of zeros, infinities, NaN and common numbers, against Go's.
func TestSpecialNumbersInFunctionsOfTwo(t *testing.T) {
	nan := math.NaN()
	ordered := func(f func(x, y float64) bool) func(x, y float64) float64 {
		return func(x, y float64) float64 { return truth(f(x, y)) }
	}
	for _, c := range []struct {
		name string
		op   func(x, y *array.Array) *array.Array
		want func(x, y float64) float64
	}{
		{"add", (*array.Array).Add, func(x, y float64) float64 { return x + y }},
		{"subtract", (*array.Array).Sub, func(x, y float64) float64 { return x - y }},
		{"multiply", (*array.Array).Mul, func(x, y float64) float64 { return x * y }},
		{"divide", (*array.Array).Div, func(x, y float64) float64 { return x / y }},
		{"power", (*array.Array).Pow, math.Pow},
		{"angle", (*array.Array).Atan2, math.Atan2},
		{"maximum", (*array.Array).Maximum, func(x, y float64) float64 { return max(x, y) }},
		{"minimum", (*array.Array).Minimum, func(x, y float64) float64 { return min(x, y) }},
		{"log of added exponentials", (*array.Array).LogAddExp, func(x, y float64) float64 {
			if math.IsInf(x, 0) || math.IsInf(y, 0) {
				return max(x, y)
			}
			return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
		}},
		{"floor divide", (*array.Array).FloorDiv, func(x, y float64) float64 { return math.Floor(x / y) }},
		{"remainder", (*array.Array).Mod, func(x, y float64) float64 {
			r := math.Mod(x, y)
			switch {
			case y == 0 || math.IsInf(x, 0) || x != x || y != y:
				return nan
			case r != 0 && r < 0 != (y < 0):
				return r + y
			}
			return r
		}},
		{"equal", (*array.Array).Equal, ordered(func(x, y float64) bool { return x == y })},
		{"not equal", (*array.Array).NotEqual, ordered(func(x, y float64) bool { return x != y })},
		{"less", (*array.Array).Less, ordered(func(x, y float64) bool { return x < y })},
		{"less or equal", (*array.Array).LessEqual, ordered(func(x, y float64) bool { return x <= y })},
		{"greater", (*array.Array).Greater, ordered(func(x, y float64) bool { return x > y })},
		{"greater or equal", (*array.Array).GreaterEqual, ordered(func(x, y float64) bool { return x >= y })},
		{"and", (*array.Array).LogicalAnd, ordered(func(x, y float64) bool { return x != 0 && y != 0 })},
		{"or", (*array.Array).LogicalOr, ordered(func(x, y float64) bool { return x != 0 || y != 0 })},
	} {
		for kind, relative := range precision {
			t.Run(fmt.Sprintf("%s of %v", c.name, kind), func(t *testing.T) {
				x := array.From(special).AsType(kind)
				n := len(special)
				got := inFloat64(t, c.op(x.ExpandDims(1), x))
				for i, v := range got {
					x, y := special[i/n], special[i%n]
					want := c.want(x, y)
					if kind != dtype.Float64 && c.op(array.Scalar(x), array.Scalar(y)).DType() != dtype.Bool {
						want = rounded(t, want, kind)
					}
					if !near(v, want, relative) && math.Abs(v-want) > relative {
						t.Errorf("of %v and %v: %v, want %v", x, y, v, want)
					}
				}
			})
		}
	}
}
