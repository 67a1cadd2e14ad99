package array_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

// naiveEinsum runs through every value of every letter.
func naiveEinsum(subscripts string, shapes [][]int) func(xs ...[]float64) [][]float64 {
	inputs, output, _ := strings.Cut(subscripts, "->")
	parts := strings.Split(inputs, ",")
	lengths := map[byte]int{}
	var letters strings.Builder
	for i, part := range parts {
		for axis := range len(part) {
			if _, known := lengths[part[axis]]; !known {
				letters.WriteString(part[axis : axis+1])
			}
			lengths[part[axis]] = shapes[i][axis]
		}
	}
	at := map[byte]int{}
	index := func(labels string) (i int) {
		for axis := range len(labels) {
			i = i*lengths[labels[axis]] + at[labels[axis]]
		}
		return i
	}
	return func(xs ...[]float64) [][]float64 {
		size := 1
		for axis := range len(output) {
			size *= lengths[output[axis]]
		}
		want := make([]float64, size)
		var visit func(n int)
		visit = func(n int) {
			if n == len(letters.String()) {
				product := 1.0
				for i, part := range parts {
					product *= xs[i][index(part)]
				}
				want[index(output)] += product
				return
			}
			for v := range lengths[letters.String()[n]] {
				at[letters.String()[n]] = v
				visit(n + 1)
			}
		}
		visit(0)
		return [][]float64{want}
	}
}

func TestEinsumConforms(t *testing.T) {
	cases := []struct {
		subscripts string
		shapes     [][]int
	}{
		{"ij,jk->ik", [][]int{{2, 3}, {3, 2}}},
		{"ij,jk->ki", [][]int{{2, 3}, {3, 2}}},
		{"bij,bjk->bik", [][]int{{2, 1, 3}, {2, 3, 2}}},
		{"bhqd,bhkd->bhqk", [][]int{{1, 2, 2, 1}, {1, 2, 3, 1}}},
		{"i,j->ij", [][]int{{2}, {3}}},
		{"i,i->", [][]int{{4}, {4}}},
		{"i,i->i", [][]int{{4}, {4}}},
		{"ij->ji", [][]int{{2, 3}}},
		{"ij->", [][]int{{2, 3}}},
		{"ij->j", [][]int{{2, 3}}},
		{"ii->i", [][]int{{3, 3}}},
		{"ii->", [][]int{{3, 3}}},
		{"iji->j", [][]int{{2, 3, 2}}},
		{"iii->i", [][]int{{2, 2, 2}}},
		{"ij,kj,lk->il", [][]int{{2, 2}, {3, 2}, {1, 3}}},
		{"ij,ij,ij->i", [][]int{{2, 2}, {2, 2}, {2, 2}}},
		{"ij,k->ik", [][]int{{2, 2}, {3}}},
		{",ij->ij", [][]int{{}, {2, 2}}},
		{"ij,jk->ik", [][]int{{2, 0}, {0, 3}}},
		{"ij,jk->ik", [][]int{{0, 2}, {2, 3}}},
	}
	for _, c := range cases {
		inputs := make([]*array.Array, len(c.shapes))
		for i, shape := range c.shapes {
			inputs[i] = small(shape...).AsType(dtype.Float64)
		}
		arraytest.Check(t, arraytest.Case{
			Name:   c.subscripts,
			F:      arraytest.Many(func(xs ...*array.Array) *array.Array { return array.Einsum(c.subscripts, xs...) }),
			Inputs: inputs,
			Want:   naiveEinsum(c.subscripts, c.shapes),
			Types:  []dtype.Type{dtype.Float32, dtype.Int32, dtype.Int64},
		})
	}
}

func TestEinsumWrittenInOtherWays(t *testing.T) {
	x, y := small(2, 3, 4), small(2, 4, 5)
	cases := []struct {
		name      string
		got, want *array.Array
	}{
		{"result left out", array.Einsum("bij,bjk", x, y), array.Einsum("bij,bjk->ik", x, y)},
		{"result left out, in alphabetical order", array.Einsum("ba", small(2, 3)), array.Einsum("ba->ab", small(2, 3))},
		{"blanks", array.Einsum(" b i j , b j k -> b i k ", x, y), x.MatMul(y)},
		{"dots", array.Einsum("...ij,...jk->...ik", x, y), x.MatMul(y)},
		{"dots with the result left out", array.Einsum("...ij,...jk", x, y), x.MatMul(y)},
		{"dots that broadcast", array.Einsum("...ij,...jk->...ik", small(6, 1, 3, 4), y), small(6, 1, 3, 4).MatMul(y)},
		{"dots that are nothing", array.Einsum("...i,...i->...", small(3), small(3)), small(3).MatMul(small(3))},
		{"dots in the middle", array.Einsum("i...j->j...i", x), x.Transpose(2, 1, 0)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !slices.Equal(c.got.Shape(), c.want.Shape()) || !slices.Equal(inFloat64(t, c.got), inFloat64(t, c.want)) {
				t.Fatalf("got %v %v, want %v %v", c.got.Shape(), inFloat64(t, c.got), c.want.Shape(), inFloat64(t, c.want))
			}
		})
	}
}

func TestContractionsConform(t *testing.T) {
	cases := []struct {
		name   string
		f      func(x, y *array.Array) *array.Array
		as     string
		shapes [][]int
	}{
		{"outer", (*array.Array).Outer, "i,j->ij", [][]int{{2}, {3}}},
		{"outer with nothing", (*array.Array).Outer, "i,j->ij", [][]int{{0}, {3}}},
		{"inner of vectors", (*array.Array).Inner, "i,i->", [][]int{{3}, {3}}},
		{"inner of matrices", (*array.Array).Inner, "ik,jk->ij", [][]int{{2, 3}, {2, 3}}},
		{"inner with a number", (*array.Array).Inner, ",i->i", [][]int{{}, {3}}},
		{"last axis with the first", dotOver([]int{-1}, []int{0}), "ij,jk->ik", [][]int{{2, 3}, {3, 2}}},
		{"two axes crosswise", dotOver([]int{0, 2}, []int{1, 0}), "iaj,jib->ab", [][]int{{2, 1, 3}, {3, 2, 2}}},
		{"no axes", dotOver(nil, nil), "i,jk->ijk", [][]int{{2}, {2, 2}}},
	}
	for _, c := range cases {
		arraytest.Check(t, arraytest.Case{
			Name:   c.name,
			F:      arraytest.Two(c.f),
			Inputs: []*array.Array{small(c.shapes[0]...).AsType(dtype.Float64), small(c.shapes[1]...).AsType(dtype.Float64)},
			Want:   naiveEinsum(c.as, c.shapes),
		})
	}
}

func dotOver(xAxes, yAxes []int) func(x, y *array.Array) *array.Array {
	return func(x, y *array.Array) *array.Array { return array.Tensordot(x, y, xAxes, yAxes) }
}

func TestContractionsRefuse(t *testing.T) {
	x := small(2, 3)
	cases := []struct {
		name string
		z    *array.Array
		want string
	}{
		{"too few operands", array.Einsum("ij,jk->ik", x), `"ij,jk->ik" has 2 operands, 1 are given`},
		{"too few letters", array.Einsum("i->i", x), `"i" does not name 2 axes`},
		{"no letter", array.Einsum("i1->i", x), "'1' is not a letter"},
		{"other lengths", array.Einsum("ij,ij->i", x, x.T()), "axis 0 of shape [3 2] has another length than 2"},
		{"an unknown letter in the result", array.Einsum("ij->k", x), "no operand has 'k'"},
		{"a letter twice in the result", array.Einsum("ij->ii", x), "'i' is there twice"},
		{"nil", array.Einsum("i->i", nil), "einsum at einsum_test.go:"},
		{"other inner lengths", x.Inner(x.T()), "lengths 3 and 2"},
		{"an axis that is not there", array.Tensordot(x, x, []int{2}, []int{0}), "tensordot at einsum_test.go:"},
		{"an axis twice", array.Tensordot(x, x, []int{0, 0}, []int{0, 1}), "an axis is given twice"},
		{"lists of other lengths", array.Tensordot(x, x, []int{0, 1}, []int{0}), "2 axes and 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.z.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}
