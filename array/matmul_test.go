package array_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// small draws integers from -4 to 4: their products add up exactly in every type.
func small(shape ...int) *array.Array {
	r := rand.New(rand.NewPCG(1, uint64(len(shape))))
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(r.IntN(9) - 4)
	}
	return array.From(data).Reshape(shape...)
}

// naiveProduct multiplies matrices given in row order.
func naiveProduct(x, y []float64, m, k, n int) []float64 {
	z := make([]float64, m*n)
	for i := range z {
		for l := range k {
			z[i] += x[i/n*k+l] * y[l*n+i%n]
		}
	}
	return z
}

func TestMatMulOfEveryTypeAndLayout(t *testing.T) {
	m, k, n := 5, 70, 67
	layouts := []struct {
		name string
		make func(rows, cols int) *array.Array
	}{
		{"by rows", func(rows, cols int) *array.Array { return small(rows, cols) }},
		{"by columns", func(rows, cols int) *array.Array { return small(cols, rows).T() }},
		{"every second row", func(rows, cols int) *array.Array {
			return small(2*rows, cols).Slice([]int{0, 0}, []int{2 * rows, cols}, []int{2, 1})
		}},
		{"rows backwards", func(rows, cols int) *array.Array {
			return small(rows, cols).Slice([]int{rows - 1, 0}, []int{-rows - 1, cols}, []int{-1, 1})
		}},
		{"columns apart", func(rows, cols int) *array.Array {
			return small(rows, 2*cols).Slice([]int{0, 1}, []int{rows, 2 * cols}, []int{1, 2})
		}},
		{"one row repeated", func(rows, cols int) *array.Array { return small(1, cols).BroadcastTo(rows, cols) }},
		{"one column repeated", func(rows, cols int) *array.Array { return small(rows, 1).BroadcastTo(rows, cols) }},
	}
	for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64} {
		for _, left := range layouts {
			for _, right := range layouts {
				t.Run(fmt.Sprintf("%v %s times %s", kind, left.name, right.name), func(t *testing.T) {
					x, y := left.make(m, k), right.make(k, n)
					want := naiveProduct(inFloat64(t, x), inFloat64(t, y), m, k, n)
					z := x.AsType(kind).MatMul(y.AsType(kind))
					if z.DType() != kind {
						t.Fatalf("type %v", z.DType())
					}
					for i, got := range inFloat64(t, z) {
						if got != rounded(t, want[i], kind) {
							t.Fatalf("element %d: got %v, want %v", i, got, want[i])
						}
					}
				})
			}
		}
	}
}

func TestMatMulShapes(t *testing.T) {
	cases := []struct {
		name       string
		x, y, want []int
	}{
		{"vectors", []int{3}, []int{3}, []int{}},
		{"vector and matrix", []int{3}, []int{3, 2}, []int{2}},
		{"matrix and vector", []int{2, 3}, []int{3}, []int{2}},
		{"vector and stack", []int{3}, []int{4, 3, 2}, []int{4, 2}},
		{"stack and vector", []int{4, 2, 3}, []int{3}, []int{4, 2}},
		{"stack and matrix", []int{5, 4, 2, 3}, []int{3, 6}, []int{5, 4, 2, 6}},
		{"matrix and stack", []int{2, 3}, []int{4, 3, 2}, []int{4, 2, 2}},
		{"stacks that broadcast", []int{5, 1, 2, 3}, []int{4, 3, 2}, []int{5, 4, 2, 2}},
		{"nothing to add up", []int{2, 0}, []int{0, 3}, []int{2, 3}},
		{"no rows", []int{0, 3}, []int{3, 2}, []int{0, 2}},
		{"no columns", []int{2, 3}, []int{3, 0}, []int{2, 0}},
		{"no matrices", []int{0, 2, 3}, []int{3, 2}, []int{0, 2, 2}},
		{"stack without columns", []int{4, 2, 0}, []int{0, 2}, []int{4, 2, 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			z := small(c.x...).MatMul(small(c.y...))
			if err := z.Eval(context.Background()); err != nil || !slices.Equal(z.Shape(), c.want) {
				t.Fatalf("shape %v, want %v (%v)", z.Shape(), c.want, err)
			}
			if strings.HasPrefix(c.name, "nothing") {
				for _, v := range inFloat64(t, z) {
					if v != 0 {
						t.Fatal("empty sums are not zero")
					}
				}
			}
		})
	}
}

func TestMatMulRefuses(t *testing.T) {
	cases := []struct {
		name string
		z    *array.Array
		want string
	}{
		{"a number", array.Scalar(1.0).MatMul(small(3)), "shapes [] and [3]: a number has no matrix product"},
		{"other inner lengths", small(2, 3).MatMul(small(2, 3)), "shapes [2 3] and [2 3]: 3 columns and 2 rows"},
		{"other stacks", small(2, 2, 3).MatMul(small(3, 3, 2)), "leading axes do not broadcast"},
		{"integers", small(2, 2).AsType(dtype.Int32).MatMul(small(2, 2).AsType(dtype.Int8)), "not defined for int32 (have float16,"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.z.Err(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "matmul at matmul_test.go:") {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Zero times infinity or NaN is NaN whatever way the operands lie.
func TestMatMulKeepsNaN(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := array.From([]float64{0, 1, 0, 1, 0, 0}, 2, 3)
		y := array.From([]float64{bad, 2, 3, 4, 5, 6}, 3, 2)
		for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64} {
			for layout := range 4 {
				a, b := x.AsType(kind), y.AsType(kind)
				if layout&1 != 0 {
					a = array.From(inFloat64(t, x.T()), 3, 2).AsType(kind).T()
				}
				if layout&2 != 0 {
					b = array.From(inFloat64(t, y.T()), 2, 3).AsType(kind).T()
				}
				got := inFloat64(t, a.MatMul(b).Real())
				if !math.IsNaN(got[0]) || got[1] != 4 || !(math.IsNaN(got[2]) || got[2] == bad) || got[3] != 2 {
					t.Errorf("%v with %v, layout %d: %v", kind, bad, layout, got)
				}
			}
		}
	}
}

func TestMatMulBitsDoNotDependOnProcessors(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	random := func(rows, cols int) *array.Array {
		data := make([]float32, rows*cols)
		for i := range data {
			data[i] = r.Float32() - 0.5
		}
		return array.From(data, rows, cols)
	}
	x, y := random(150, 333), random(333, 141)
	product := func(processors int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		z, err := array.Values[float32](context.Background(), x.MatMul(y))
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	if one := product(1); !slices.Equal(one, product(4)) {
		t.Fatal("other bits with four processors than with one")
	}
}

func TestAddMM(t *testing.T) {
	x, y, c := small(2, 3), small(3, 4), small(4)
	want := inFloat64(t, x.MatMul(y).MulScalar(2).Add(c.MulScalar(3)))
	if got := inFloat64(t, array.AddMM(c, x, y, 2, 3)); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if plain := array.AddMM(c, x, y, 1, 1); !slices.Equal(inFloat64(t, plain), inFloat64(t, x.MatMul(y).Add(c))) {
		t.Fatal("alpha and beta of one change the sum")
	}
}
