// Federated fits one line to points that lie on different ranks. Every rank trains on
// its own points for a while, then all take the average of what they have found. A rank
// that is late for the average holds nobody up, and goes on from the average of the others.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
)

const (
	points   = 64 // of a rank
	rounds   = 4
	steps    = 100 // of training between two averages
	rate     = 0.3
	lateIn   = 2 // the round in which the last rank is late
	deadline = 2 * time.Second
)

// train makes some steps from the line a + b·x towards the points.
func train(ctx context.Context, line []float32, x, y *array.Array) error {
	loss := func(w *array.Array) *array.Array {
		return x.MatMul(w).Sub(y).Square().Mean()
	}
	w := array.From(line)
	for range steps {
		w = w.Sub(transform.Grad(loss)(w).MulScalar(rate))
	}
	values, err := array.Values[float32](ctx, w)
	copy(line, values)
	return err
}

func main() {
	ctx := context.Background()
	g, err := group.Init(ctx, group.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	// The points of all ranks lie about the line 1 + 2x, each rank's in a part of its own.
	keys := random.NewKey(uint64(g.Rank())).Split(2)
	at := random.Uniform(keys[0], float64(g.Rank()), float64(g.Rank()+1), dtype.Float32, points).DivScalar(float64(g.Size()))
	y := at.MulScalar(2).AddScalar(1).Add(random.Normal(keys[1], dtype.Float32, points).MulScalar(0.01))
	x := array.Stack([]*array.Array{array.OnesLike(at), at}, 1)

	line := []float32{0, 0}
	for round := 1; round <= rounds; round++ {
		if err := train(ctx, line, x, y); err != nil {
			log.Fatal(err)
		}
		late := round == lateIn && g.Size() > 1 && g.Rank() == g.Size()-1
		wait := 10 * deadline // of which nothing passes when all come
		if round == lateIn {
			wait = deadline
		}
		if late {
			time.Sleep(2 * deadline)
		}
		participants, err := group.FederatedAverage(ctx, g, line, wait)
		if err != nil {
			log.Fatal(err)
		}
		if g.IsLeader() {
			fmt.Printf("round %d: %d of %d ranks: %.2f + %.2fx\n", round, participants, g.Size(), line[0], line[1])
		}
		if late {
			fmt.Printf("round %d: rank %d was late and goes on from %.2f + %.2fx\n", round, g.Rank(), line[0], line[1])
		}
	}
}
