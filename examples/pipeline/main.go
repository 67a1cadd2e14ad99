// Pipeline trains a network whose layers lie on different ranks. Every rank holds some
// of the layers; activations go up from rank to rank, gradients come down, and several
// parts of the batch are under way at once. The loss does not depend on how many ranks
// share the layers.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/ops"
)

const (
	layers = 4
	width  = 8
	rows   = 16 // of a batch
	parts  = 4  // that a batch is sent in
	rate   = 0.5
	steps  = 5
)

// stage applies the layers of this rank to xs[0]; the other arguments are their weights.
func stage(xs ...*array.Array) []*array.Array {
	y := xs[0]
	for _, w := range xs[1:] {
		y = y.MatMul(w).Tanh()
	}
	return []*array.Array{y}
}

// step records one step of this rank: every part of the batch forward and backward.
// It returns the loss, which only the last rank knows, the gradients of the weights,
// and the messages that go to the neighbours.
func step(g *group.Group, weights, batch, target []*array.Array) (loss *array.Array, grads, messages []*array.Array) {
	first, last := g.Rank() == 0, g.Rank() == g.Size()-1
	loss = array.Scalar(float32(0))
	for i := range parts {
		x := batch[i]
		if !first {
			x = ops.RecvLike(x, g.Rank()-1, g)
		}
		primals := append([]*array.Array{x}, weights...)
		var down []*array.Array // gradients, that of x in front
		if last {
			part, d := transform.ValueAndGrad(func(xs ...*array.Array) *array.Array {
				return stage(xs...)[0].Sub(target[i]).Square().Mean()
			}, upTo(len(primals))...)(primals...)
			loss, down = loss.Add(part.DivScalar(parts)), d
		} else {
			// What comes back from above is a future value, as all arrays are.
			ys, d := transform.VJP(stage, primals, []*array.Array{ops.RecvLike(x, g.Rank()+1, g)})
			messages = append(messages, ops.Send(ys[0], g.Rank()+1, g))
			down = d
		}
		if !first {
			messages = append(messages, ops.Send(down[0], g.Rank()-1, g))
		}
		for k, d := range down[1:] {
			if i == 0 {
				grads = append(grads, d)
			} else {
				grads[k] = grads[k].Add(d)
			}
		}
	}
	return loss, grads, messages
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

func main() {
	ctx := context.Background()
	g, err := group.Init(ctx, group.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if layers%g.Size() != 0 {
		log.Fatalf("%d layers do not divide among %d ranks", layers, g.Size())
	}
	keys := random.NewKey(7).Split(layers + 1)
	share := layers / g.Size()
	var weights []*array.Array
	for _, key := range keys[g.Rank()*share : (g.Rank()+1)*share] {
		weights = append(weights, random.Normal(key, dtype.Float32, width, width).MulScalar(0.5))
	}
	data := random.Uniform(keys[layers], -1, 1, dtype.Float32, rows, width)
	batch, target := array.Split(data, parts, 0), array.Split(data.Sin(), parts, 0)
	for i := range steps {
		loss, grads, messages := step(g, weights, batch, target)
		for k, d := range grads {
			weights[k] = weights[k].Sub(d.MulScalar(rate / parts))
		}
		// One evaluation: what is ready runs, and every message waits for its neighbour alone.
		if err := array.Eval(ctx, append(append(messages, weights...), loss)...); err != nil {
			log.Fatal(err)
		}
		if g.Rank() == g.Size()-1 {
			fmt.Printf("step %d: loss %.4f\n", i, item(ctx, loss))
		}
	}
}

func item(ctx context.Context, x *array.Array) float32 {
	v, err := array.Item[float32](ctx, x)
	if err != nil {
		log.Fatal(err)
	}
	return v
}
