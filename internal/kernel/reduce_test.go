package kernel

import (
	"math"
	"math/big"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// reduceBoth reduces the rows of an n-column matrix, once as it lies and once
// from its transpose, and reports where they differ.
func reduceBoth(t *testing.T, r Reduction, x []float32, n int) []float32 {
	t.Helper()
	rows := len(x) / n
	turned := make([]float32, len(x))
	for i := range rows {
		for j := range n {
			turned[j*rows+i] = x[i*n+j]
		}
	}
	byRow, byColumn := make([]float32, rows), make([]float32, rows)
	reduce := func(out, x []float32, shape []int, axis int) {
		in := Operand{Storage: buffer.Bytes(x), Size: 4, Strides: layout.Strides(shape)}
		Reduce(r, dtype.Float32, buffer.Bytes(out), dtype.Float32, in, shape, []int{axis})
	}
	reduce(byRow, x, []int{rows, n}, 1)
	reduce(byColumn, turned, []int{n, rows}, 0)
	for i := range byRow {
		if math.Float32bits(byRow[i]) != math.Float32bits(byColumn[i]) && byRow[i] == byRow[i] {
			t.Errorf("%s of %d elements: %v as a row, %v as a column", r, n, byRow[i], byColumn[i])
		}
	}
	return byRow
}

func TestSumsAreExactToOneRounding(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 255, 256, 257, 513, 1000, 5000} {
		for _, rows := range []int{1, 3, 300} {
			x := make([]float32, rows*n)
			for i := range x {
				x[i] = float32(math.Sin(float64(i)*1.3) * math.Exp(float64(i%23)-11))
			}
			got := reduceBoth(t, Sum, x, n)
			for i, v := range got[:min(rows, 3)] {
				exact := new(big.Float).SetPrec(300)
				for _, e := range x[i*n : (i+1)*n] {
					exact.Add(exact, big.NewFloat(float64(e)))
				}
				want, _ := exact.Float32()
				if v != want {
					t.Errorf("%d elements: %v, want %v", n, v, want)
				}
			}
		}
	}
}

func TestExtremaOfZerosAndNaN(t *testing.T) {
	zero, nan, inf := float32(0), float32(math.NaN()), float32(math.Inf(1))
	minus := float32(math.Copysign(0, -1))
	for name, c := range map[string]struct{ x, max, min []float32 }{
		"zeros of both signs": {[]float32{minus, zero, zero, minus}, []float32{zero, zero}, []float32{minus, minus}},
		"negative zeros":      {[]float32{minus, minus, -1, minus}, []float32{minus, minus}, []float32{minus, -1}},
		"a NaN first":         {[]float32{nan, 1, 2, nan}, []float32{nan, nan}, []float32{nan, nan}},
		"infinities":          {[]float32{inf, -inf, 1, -inf}, []float32{inf, 1}, []float32{-inf, -inf}},
		"a NaN with Inf":      {[]float32{inf, nan, -inf, nan}, []float32{nan, nan}, []float32{nan, nan}},
	} {
		for r, want := range map[Reduction][]float32{Max: c.max, Min: c.min} {
			got := reduceBoth(t, r, c.x, 2)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
					t.Errorf("%s: %s of row %d is %v, want %v", name, r, i, got[i], want[i])
				}
			}
		}
	}
}

func TestProductsDoNotOverflowOnTheWay(t *testing.T) {
	got := reduceBoth(t, Prod, []float32{1e30, 1e30, 1e-30, 1e-30, 2, 2, 2, 2}, 4)
	if math.Abs(float64(got[0])-1) > 1e-6 || got[1] != 16 {
		t.Errorf("products %v", got)
	}
}
