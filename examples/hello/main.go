// Hello sums an array over all ranks and derives a sum of squares.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/ops"
)

func main() {
	ctx := context.Background()
	g, err := group.Init(ctx, group.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	x := array.From([]float32{1, 2, 3}).AddScalar(float64(10 * g.Rank()))
	total := ops.AllSum(x, g) // lazy: nothing has moved yet
	slope := transform.Grad(func(x *array.Array) *array.Array {
		return ops.AllSum(x.Square(), g).Sum()
	})(x)
	if err := array.Eval(ctx, total, slope); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank %d of %d on %s: sum %v, gradient %v\n", g.Rank(), g.Size(), g.Backend(), total, slope)
}
