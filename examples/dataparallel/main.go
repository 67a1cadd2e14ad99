// Dataparallel trains one model on the data of all ranks: each has a part of every batch, and
// gradients are averaged. The loss is that of one process with the whole batch.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/optim"
	"github.com/lockstep-go/lockstep/ops"
)

const (
	batch = 64 // of all ranks together
	steps = 40
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
	if batch%g.Size() != 0 {
		return fmt.Errorf("%d ranks do not divide a batch of %d", g.Size(), batch)
	}
	keys := random.NewKey(0).Split(3) // the same on every rank, and so is the model
	model := nn.NewSequential(
		nn.NewLinear(keys[0], 2, 32, true),
		nn.Func((*array.Array).Tanh),
		nn.NewLinear(keys[1], 32, 1, true),
	)
	gradients := nn.ValueAndGrad(model, func(xs ...*array.Array) *array.Array {
		return model.Forward(xs[0]).Sub(xs[1]).Square().Mean()
	})
	opt := optim.AdamW{Rate: optim.Constant(0.02)}
	state := opt.Init(nn.Parameters(model))
	for step, key := range keys[2].Split(steps) {
		// All ranks draw the batch and each takes its rows; real ranks would each read their own.
		points := random.Uniform(key, -1, 1, dtype.Float32, batch, 2)
		x := array.Split(points, g.Size(), 0)[g.Rank()]
		loss, grads := gradients(x, product(x))
		grads = nn.AverageGradients(grads, g)
		loss = ops.AllMean(loss, g)
		params, next, err := opt.Update(nn.Parameters(model), grads, state)
		if err != nil {
			return err
		}
		// One evaluation runs the step: gradients travel while others are still computed.
		if err := array.Eval(ctx, append(append(params.Arrays(), next.Arrays()...), loss)...); err != nil {
			return err
		}
		state = next
		if err := nn.Update(model, params); err != nil {
			return err
		}
		value, err := array.Item[float32](ctx, loss) // on every rank, then print it on one
		if err != nil {
			return err
		}
		if g.IsLeader() && step%10 == 9 {
			fmt.Printf("step %d: loss %.4f\n", step+1, value)
		}
	}
	return nil
}

// product is what the model learns: x₀·x₁ for each row of x [rows, 2].
func product(x *array.Array) *array.Array {
	columns := array.Split(x, 2, 1)
	return columns[0].Mul(columns[1])
}
