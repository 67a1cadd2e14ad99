package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Long results are written past the caches, unless they lie over an operand or askew.
func TestLongResultsHaveTheSameBits(t *testing.T) {
	for _, k := range machine() {
		t.Run(string(k.level), func(t *testing.T) {
			for op, name := range map[Op]string{Add: "add", Maximum: "maximum"} {
				testLong(t, name+" float32", fastBinary(k.vectors32, op))
				testLong(t, name+" float64", fastBinary(k.vectors64, op))
			}
			testLong(t, "square", func(z, x, _ []float32) { fastUnary(k.vectors32, Square)(z, x) })
		})
	}
}

func testLong[T float](t *testing.T, name string, f func(z, x, y []T)) {
	t.Helper()
	const offset = 3
	n := streamBytes/sizeOf[T]() + 77
	array := func(factor int) []T {
		x := buffer.As[T](buffer.Make((n + 2*offset) * sizeOf[T]()))
		for i := range x {
			x[i] = T(i*factor%1009) - 500
		}
		return x
	}
	for _, at := range []int{0, offset} {
		x, y, z := array(7), array(13), array(1)
		want := slices.Clone(z)
		for i := 0; i < n; i += 1000 {
			to := min(i+1000, n)
			f(want[at+i:at+to], x[i:to], y[i:to])
		}
		for what, out := range map[string][]T{"beside": z, "over the first": x, "over the second": y} {
			t.Run(fmt.Sprint(name, " ", what, " from ", at), func(t *testing.T) {
				x, y := slices.Clone(x), slices.Clone(y)
				switch what {
				case "over the first":
					f(x[:n], x[:n], y[:n])
					out = x
				case "over the second":
					f(y[:n], x[:n], y[:n])
					out = y
				default:
					f(out[at:at+n], x[:n], y[:n])
					if !slices.Equal(out, want) {
						t.Error("differs")
					}
					return
				}
				if !slices.Equal(out[:n], want[at:at+n]) {
					t.Error("differs")
				}
			})
		}
	}
}
