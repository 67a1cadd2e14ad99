package array_test

import (
	"context"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// BenchmarkChain builds and evaluates a thousand additions of 64 numbers; one
// operation is one addition.
func BenchmarkChain(b *testing.B) {
	ctx := context.Background()
	x := array.Arange(0, 64, 1, dtype.Float32)
	y := array.Arange(0, 64, 1, dtype.Float32)
	if err := array.Eval(ctx, x, y); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N/1000 + 1 {
		z := x
		for range 1000 {
			z = z.Add(y)
		}
		if err := z.Eval(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
