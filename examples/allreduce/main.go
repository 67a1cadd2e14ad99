// Allreduce adds up a number of every rank.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-go/lockstep/array"
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
	mine := float64(1 + g.Rank())
	sum, err := array.Item[float64](ctx, ops.AllSum(array.Scalar(mine), g))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank %d of %d on %s: %v of %v\n", g.Rank(), g.Size(), g.Backend(), mine, sum)
}
