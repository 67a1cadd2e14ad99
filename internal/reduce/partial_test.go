package reduce_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// TestPartialSums combines sums of some ranks with originals of others.
func TestPartialSums(t *testing.T) {
	for _, c := range []struct {
		name  string
		op    reduce.Op
		t     dtype.Type
		parts []float64
		ranks int
		want  float64
	}{
		{"mean of three from a sum of two", reduce.Mean, dtype.Float32, []float64{3, 6}, 3, 3},
		{"mean of two is an ordinary one", reduce.Mean, dtype.Float32, []float64{3, 6}, 2, 4.5},
		{"a mean divides before it is rounded", reduce.Mean, dtype.Float16, []float64{60000, 40000}, 4, 25000},
		{"a sum has no use for the ranks", reduce.Sum, dtype.Float16, []float64{2048, 3}, 4, 2052},
		{"neither has a maximum", reduce.Max, dtype.BFloat16, []float64{-1, 4}, 7, 4},
		{"one sum of all", reduce.Mean, dtype.Float64, []float64{6}, 4, 1.5},
		{"negative zeros stay", reduce.Mean, dtype.Float32, []float64{math.Copysign(0, -1), math.Copysign(0, -1)}, 4, math.Copysign(0, -1)},
		{"NaN", reduce.Mean, dtype.Float16, []float64{math.NaN(), 1}, 3, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			const elements = 700 // more than one block
			var parts [][]byte
			for _, x := range c.parts {
				parts = append(parts, bytes.Repeat(encodeOne(c.t, x), elements))
			}
			reduce.IntoPartial(c.op, c.t, parts[0], parts, c.ranks)
			if want := bytes.Repeat(encodeOne(c.t, c.want), elements); !bytes.Equal(parts[0], want) {
				t.Errorf("got % x, want % x", parts[0][:c.t.Size()], want[:c.t.Size()])
			}
		})
	}
}
