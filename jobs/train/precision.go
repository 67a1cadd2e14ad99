package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/ops"
)

// computing are the types that -dtype names. Parameters and the optimizer's state are
// float32 in all of them.
var computing = []struct {
	name string
	t    dtype.Type
}{{"f32", dtype.Float32}, {"bf16", dtype.BFloat16}, {"f16", dtype.Float16}}

func parseComputing(name string) (dtype.Type, error) {
	var names []string
	for _, c := range computing {
		if c.name == name {
			return c.t, nil
		}
		names = append(names, c.name)
	}
	return dtype.Invalid, fmt.Errorf("-dtype is %q; want one of %s", name, strings.Join(names, ", "))
}

// compute is the type of activations and gradients.
func (o options) compute() dtype.Type {
	if o.dtype == "" {
		return dtype.Float32
	}
	t, _ := parseComputing(o.dtype)
	return t
}

// wireBytes is when a bucket of gradients is full that travels in half precision.
const wireBytes = 1 << 20

// averaging is how the ranks come to one gradient: it travels in the type that they compute in.
func (o options) averaging() func(grads tree.Tree, g *group.Group) tree.Tree {
	if o.compute() == dtype.Float32 {
		return nn.AverageGradients
	}
	return func(grads tree.Tree, g *group.Group) tree.Tree {
		return nn.AverageGradientsAs(grads, g, wireBytes, o.compute())
	}
}

// Of the scale of the loss: where it begins, and after how many good steps it doubles.
const (
	firstScale    = 1 << 15
	doublingSteps = 2000
)

// scale is what the loss is multiplied by before it is differentiated, so that small gradients are not lost in
// float16: a power of two, halved when a gradient overflows, and how many steps
// ago it changed. In other types there is none.
type scale struct{ by, steps *array.Array }

func newScale(t dtype.Type) scale {
	if t != dtype.Float16 {
		return scale{}
	}
	return scale{array.Scalar(float32(firstScale)), array.Scalar(float32(0))}
}

func scaleOf(xs []*array.Array) scale {
	if len(xs) < 2 {
		return scale{}
	}
	return scale{xs[0], xs[1]}
}

func (s scale) arrays() []*array.Array {
	if s.by == nil {
		return nil
	}
	return []*array.Array{s.by, s.steps}
}

func (s scale) up(x *array.Array) *array.Array {
	if s.by == nil {
		return x
	}
	return x.Mul(s.by)
}

func (s scale) down(x *array.Array) *array.Array {
	if s.by == nil {
		return x
	}
	return x.Div(s.by)
}

// accept is what comes after a step and its scale: next, or what was before where a gradient on
// any of the ranks that share the model is infinite or not a number.
func (s scale) accept(grads tree.Tree, shards *group.Group, before, next []*array.Array) []*array.Array {
	if s.by == nil {
		return next
	}
	finite := array.Scalar(float32(1))
	for _, leaf := range grads {
		finite = finite.Mul(leaf.Array.IsFinite().All().AsType(dtype.Float32))
	}
	good := ops.AllMin(finite, shards).Equal(array.Scalar(float32(1)))
	after := make([]*array.Array, len(next))
	for i := range next {
		after[i] = array.Where(good, next[i], before[i])
	}
	steps := s.steps.AddScalar(1)
	due := steps.Equal(array.Scalar(float32(doublingSteps)))
	by := array.Where(good, array.Where(due, s.by.MulScalar(2), s.by), s.by.DivScalar(2).MaximumScalar(1))
	none := array.Scalar(float32(0))
	return slices.Concat(after, []*array.Array{by, array.Where(good, array.Where(due, none, steps), none)})
}

// Under these names a checkpoint keeps the scale.
const scaleKey, scaleStepsKey = "loss_scale", "loss_scale_steps"

// tell puts the scale into what a checkpoint says.
func (s scale) tell(ctx context.Context, meta map[string]string) error {
	for i, x := range s.arrays() {
		value, err := array.Item[float32](ctx, x)
		if err != nil {
			return err
		}
		meta[[]string{scaleKey, scaleStepsKey}[i]] = strconv.FormatFloat(float64(value), 'g', -1, 32)
	}
	return nil
}

// told is the scale that a checkpoint has, s if it has none or none is needed.
func (s scale) told(meta map[string]string) (scale, error) {
	if s.by == nil || meta[scaleKey] == "" {
		return s, nil
	}
	var values [2]float32
	for i, key := range []string{scaleKey, scaleStepsKey} {
		v, err := strconv.ParseFloat(meta[key], 32)
		if err != nil || !(v >= float64(1-i) && v <= math.MaxFloat32) {
			return s, fmt.Errorf("its %s is %q", key, meta[key])
		}
		values[i] = float32(v)
	}
	return scale{array.Scalar(values[0]), array.Scalar(values[1])}, nil
}
