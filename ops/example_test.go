package ops_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/ops"
)

// onRanks runs f as every rank of a group of n in this process, as launch would in many, and
// prints what it returns on rank 0.
func onRanks(n int, f func(g *group.Group) *array.Array) {
	var ranks sync.WaitGroup
	for _, comm := range grouptest.NewWorld(n) {
		ranks.Go(func() {
			g := group.New(comm)
			defer g.Close()
			values, err := array.Values[float64](context.Background(), f(g))
			if err != nil {
				log.Fatal(err)
			}
			if g.IsLeader() {
				fmt.Printf("%d ranks: %v\n", n, values)
			}
		})
	}
	ranks.Wait()
}

var (
	batch   = array.From([]float64{1, 0, 0, 1, 1, 1, 2, -1}, 4, 2)
	targets = array.From([]float64{0, 1, 1, 0}, 4, 1)
	weights = array.From([]float64{1, 3}, 2, 1)
)

// One loss over the features of all ranks: it is the same on all of them, and each rank's
// gradient is the part that goes through its own rows. The parts are summed.
func Example_replicatedLoss() {
	for _, n := range []int{1, 2, 4} {
		onRanks(n, func(g *group.Group) *array.Array {
			rows := array.Split(batch, n, 0)[g.Rank()]
			loss := func(w *array.Array) *array.Array {
				features := ops.AllGather(rows.MatMul(w), g)
				return features.MatMul(features.T()).Square().Mean()
			}
			return ops.AllSum(transform.Grad(loss)(weights), g)
		})
	}
	// Output:
	// 1 ranks: [20.25 54]
	// 2 ranks: [20.25 54]
	// 4 ranks: [20.25 54]
}

// A loss on every rank, over its own rows. What is wanted is the gradient of their mean:
// the gradients are averaged.
func Example_lossesOfTheRanks() {
	for _, n := range []int{1, 2, 4} {
		onRanks(n, func(g *group.Group) *array.Array {
			rows, wanted := array.Split(batch, n, 0)[g.Rank()], array.Split(targets, n, 0)[g.Rank()]
			loss := func(w *array.Array) *array.Array { return rows.MatMul(w).Sub(wanted).Square().Mean() }
			return ops.AllMean(transform.Grad(loss)(weights), g)
		})
	}
	// Output:
	// 1 ranks: [1 3]
	// 2 ranks: [1 3]
	// 4 ranks: [1 3]
}
