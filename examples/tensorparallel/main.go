// Tensorparallel divides the weights of a model over the ranks. Each has a part of the hidden units:
// it computes them from the whole input, and the output is the sum of what all parts make of
// theirs. Losses and gradients are those of one process with the whole model.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/nn"
)

func main() {
	ctx := context.Background()
	g, err := group.Init(ctx, group.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := train(ctx, g); err != nil {
		log.Fatalf("rank %d: %v", g.Rank(), err)
	}
}

func train(ctx context.Context, g *group.Group) error {
	keys := random.NewKey(0).Split(4)
	// Two layers as a pair: the first divides its outputs, the second takes them as they are.
	up, err := nn.NewAllToShardedLinear(keys[0], 8, 64, true, g)
	if err != nil {
		return err
	}
	down, err := nn.NewShardedToAllLinear(keys[1], 64, 8, true, g)
	if err != nil {
		return err
	}
	model := nn.NewSequential(up, nn.Func(nn.GELU), down)
	fmt.Printf("rank %d holds %v of %v and %v of %v\n", g.Rank(), up.Weight.Shape(), up, down.Weight.Shape(), down)

	// All ranks see the same examples: here the model is divided, not the batch.
	x := random.Normal(keys[2], dtype.Float32, 32, 8)
	y := random.Normal(keys[3], dtype.Float32, 32, 8)
	gradients := nn.ValueAndGrad(model, func(xs ...*array.Array) *array.Array {
		return model.Forward(xs[0]).Sub(xs[1]).Square().Mean()
	})
	for step := range 30 {
		loss, grads := gradients(x, y)
		// Gradients of a rank's part are complete: nothing is left to add up.
		params, err := tree.Zip(func(_ string, xs ...*array.Array) *array.Array {
			return xs[0].Sub(xs[1].MulScalar(0.5))
		}, nn.Parameters(model), grads)
		if err != nil {
			return err
		}
		if err := array.Eval(ctx, append(params.Arrays(), loss)...); err != nil {
			return err
		}
		if err := nn.Update(model, params); err != nil {
			return err
		}
		value, err := array.Item[float32](ctx, loss)
		if err != nil {
			return err
		}
		if g.IsLeader() && step%10 == 9 {
			fmt.Printf("step %d: loss %.4f\n", step+1, value)
		}
	}
	// Parameters of the whole model, for a checkpoint or a process of its own.
	norm, err := array.Item[float32](ctx, nn.FullParameters(model).Get("layers.0.weight").Square().Sum())
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: all of layers.0.weight has the sum of squares %.3f\n", g.Rank(), norm)
	return nil
}
