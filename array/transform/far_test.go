package transform_test

import (
	"context"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// TestLongPassesHaveTheSameBits, whose operands are fetched ahead: they end within a
// tile, and may begin anywhere in their storage and end with it.
func TestLongPassesHaveTheSameBits(t *testing.T) {
	const n = 1<<19 + 77
	f := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Mul(xs[1]).Add(xs[0]).MulScalar(0.5).Sub(xs[2])}
	}
	for _, of := range []dtype.Type{dtype.Float32, dtype.Float64} {
		long := array.Linspace(-2, 2, n+5, of)
		x, y, z := long.SliceAxis(0, 5, n+5), long.SliceAxis(0, 3, n+3), long.SliceAxis(0, 1, 2)
		if err := array.Eval(context.Background(), x, y, z); err != nil {
			t.Fatal(err)
		}
		sameBits(t, f, x, y, z)
	}
}
