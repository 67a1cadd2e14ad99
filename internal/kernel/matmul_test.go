package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// laid puts a matrix of small integers into memory by rows or by columns, with
// room between them. at gives its elements.
func laid(rows, cols int, byColumns bool) (m Matrix, at func(i, j int) float64) {
	at = func(i, j int) float64 { return float64((3*i+5*j)%11 - 5) }
	long, short, rowStride, colStride := rows, cols, cols+3, 1
	if byColumns {
		long, short, rowStride, colStride = cols, rows, 1, rows+3
	}
	data := make([]float32, long*(short+3))
	for i := range rows {
		for j := range cols {
			data[i*rowStride+j*colStride] = float32(at(i, j))
		}
	}
	m, ok := NewMatrix(buffer.Bytes(data), 4, 0, rows, cols, rowStride, colStride)
	if !ok {
		panic("no matrix")
	}
	return m, at
}

func TestMatMulOfEveryShapeAndLayout(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {1, 7, 20}, {2, 1, 17}, {17, 16, 15}, {33, 1, 1}, {70, 66, 40}} {
		m, n, k := size[0], size[1], size[2]
		for layouts := range 4 {
			name := fmt.Sprintf("%d×%d times %d×%d, columns first: %t and %t", m, k, k, n, layouts&1 > 0, layouts&2 > 0)
			t.Run(name, func(t *testing.T) {
				a, x := laid(m, k, layouts&1 > 0)
				b, y := laid(k, n, layouts&2 > 0)
				c := make([]float32, m*n)
				MatMul(dtype.Float32, m, n, k, a, b, buffer.Bytes(c))
				for i := range m {
					for j := range n {
						want := 0.0
						for l := range k {
							want += x(i, l) * y(l, j)
						}
						if got := c[i*n+j]; float64(got) != want {
							t.Fatalf("element %d, %d: got %v, want %v", i, j, got, want)
						}
					}
				}
			})
		}
	}
}

func TestMatMulOfZeroAndInfinity(t *testing.T) {
	for _, m := range []int{1, 2} {
		for layouts := range 4 {
			a, _ := laid(m, 2, layouts&1 > 0)
			b, _ := laid(2, 3, layouts&2 > 0)
			clear(a.Data)
			buffer.As[float32](b.Data)[0] = float32(math.Inf(1))
			c := make([]float32, m*3)
			MatMul(dtype.Float32, m, 3, 2, a, b, buffer.Bytes(c))
			if !math.IsNaN(float64(c[0])) || c[1] != 0 {
				t.Errorf("%d rows, layouts %d: got %v, want NaN, then 0", m, layouts, c)
			}
		}
	}
}

func BenchmarkMatMul(b *testing.B) {
	for _, size := range [][3]int{{1024, 64, 64}, {64, 256, 1024}, {64, 64, 16}, {1, 256, 256}} {
		m, n, k := size[0], size[1], size[2]
		for layouts := range 4 {
			b.Run(fmt.Sprintf("%dx%dx%d/%d", m, n, k, layouts), func(b *testing.B) {
				x, _ := laid(m, k, layouts&1 > 0)
				y, _ := laid(k, n, layouts&2 > 0)
				c := buffer.Make(4 * m * n)
				b.SetBytes(int64(2 * m * n * k))
				for b.Loop() {
					MatMul(dtype.Float32, m, n, k, x, y, c)
				}
			})
		}
	}
}
