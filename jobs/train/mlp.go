package main

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/jobs/train/data"
	"github.com/lockstep-go/lockstep/nn"
)

const hiddenUnits = 128

// newClassifier learns to read digits. One image in ten is held back to measure
// how well.
func newClassifier(o options) (*task, error) {
	images, name := data.Digits(), "the 8×8 digits"
	if o.data != "" {
		var err error
		if images, err = data.OpenImages(o.data); err != nil {
			return nil, fmt.Errorf("-data: %w", err)
		}
		name = o.data
	}
	learnt := images.Len() - images.Len()/10
	if learnt == 0 || images.Features() == 0 {
		return nil, fmt.Errorf("%s holds %d images of %d pixels", name, images.Len(), images.Features())
	}
	keys := random.NewKey(o.seed).Split(2)
	model := nn.NewSequential(
		nn.NewLinear(keys[0], images.Features(), hiddenUnits, true),
		nn.Func(nn.GELU),
		nn.NewLinear(keys[1], hiddenUnits, images.Classes(), true),
	)
	held := make([]int, images.Len()-learnt)
	for i := range held {
		held[i] = learnt + i
	}
	if o.evalEvery > 0 && len(held) == 0 {
		return nil, fmt.Errorf("%s holds %d images, too few to hold one in ten back for -eval-every", name, images.Len())
	}
	return &task{
		name:   fmt.Sprintf("classifier on %s, %d images", name, learnt),
		digest: digest(images.Bytes()),
		unit:   "images", units: 1,
		examples: learnt, heldBack: held,
		model: model, whole: model,
		shard:  func(g *group.Group) (nn.Module, error) { return shardHidden(model, g) },
		inputs: func(numbers []int) []*array.Array { return pick(images, numbers) },
		sample: func(ctx context.Context) (string, error) { return accuracy(ctx, model, pick(images, held)) },
	}, nil
}

// shardHidden divides the hidden units.
func shardHidden(model *nn.Sequential, g *group.Group) (nn.Module, error) {
	in, err := nn.ShardLinear(model.Layers[0], nn.AllToSharded, nn.Segments{}, g)
	if err != nil {
		return nil, err
	}
	out, err := nn.ShardLinear(model.Layers[2], nn.ShardedToAll, nn.Segments{}, g)
	if err != nil {
		return nil, err
	}
	return nn.NewSequential(in, model.Layers[1], out), nil
}

// pick returns pixels [numbers, features] and labels [numbers].
func pick(images data.Images, numbers []int) []*array.Array {
	n := images.Features()
	pixels, labels := make([]float32, 0, len(numbers)*n), make([]int32, 0, len(numbers))
	for _, i := range numbers {
		pixels = append(pixels, images.Pixels[i*n:(i+1)*n]...)
		labels = append(labels, int32(images.Labels[i]))
	}
	return []*array.Array{array.From(pixels, len(numbers), n), array.From(labels)}
}

func accuracy(ctx context.Context, model nn.Module, inputs []*array.Array) (string, error) {
	total := inputs[1].Size()
	if total == 0 {
		return "no images were held back", nil
	}
	right := model.Forward(inputs[0]).ArgMax(-1).Equal(inputs[1]).AsType(dtype.Float32).Sum()
	n, err := array.Item[float32](ctx, right)
	if err != nil {
		return "", fmt.Errorf("sample: %w", err)
	}
	return fmt.Sprintf("%d of %d images held back are read rightly", int(n), total), nil
}
