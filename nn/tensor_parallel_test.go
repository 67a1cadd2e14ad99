package nn_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
)

func newModel(t *testing.T) *nn.LanguageModel {
	t.Helper()
	m, err := nn.NewLanguageModel(random.NewKey(1), nn.LanguageModelConfig{Vocab: 11, Context: 8, Dims: 16, Layers: 2, Heads: 4})
	if err != nil {
		t.Error(err)
	}
	return m
}

// lossOf is the loss of a fixed batch and its gradients.
func lossOf(m *nn.LanguageModel) (*array.Array, tree.Tree) {
	tokens := random.RandInt(random.NewKey(2), 0, 11, dtype.Int32, 3, 9)
	seen, next := tokens.SliceAxis(1, 0, 8), tokens.SliceAxis(1, 1, 9)
	return nn.ValueAndGrad(m, func(...*array.Array) *array.Array {
		return nn.CrossEntropy(m.Forward(seen), next).Mean()
	})()
}

func TestShardedModelHasTheLossAndTheGradientsOfTheWhole(t *testing.T) {
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		full := newModel(t)
		before := nn.Parameters(full)
		part, err := full.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		want, wantGrads := lossOf(full)
		loss, grads := lossOf(part)
		near(t, "loss", loss, want, 0, 1e-5)
		ran := count(t, g, "the forward pass of 2 blocks", 0, 4)
		if err := wantGrads.Same(grads); err != nil {
			t.Errorf("paths: %v", err)
			return
		}
		if err := array.Eval(t.Context(), append(grads.Arrays(), loss)...); err != nil {
			t.Error(err)
		}
		count(t, g, "the backward pass of 2 blocks", ran, 4)
		// A model that holds the gradients is divided as the parameters are.
		holder := newModel(t)
		if err := nn.Update(holder, wantGrads); err != nil {
			t.Error(err)
		}
		holderPart, err := holder.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		for i, leaf := range nn.Parameters(holderPart) {
			near(t, "gradient of "+leaf.Path, grads[i].Array, leaf.Array, 1e-6, 1e-4)
		}
		for i, leaf := range nn.Parameters(full) {
			if leaf != before[i] {
				t.Errorf("%s of the whole model was changed", leaf.Path)
			}
		}
	})
}

// count checks how many collectives ran since the last time; none in a group of one.
func count(t *testing.T, g *group.Group, what string, before, want int64) int64 {
	t.Helper()
	now := g.Stats().Collectives
	if g.Size() == 1 {
		want = 0
	}
	if now-before != want {
		t.Errorf("%s took %d collectives, want %d", what, now-before, want)
	}
	return now
}

func TestACompiledShardedModel(t *testing.T) {
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		full := newModel(t)
		part, err := full.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		want, wantGrads := lossOf(part)
		if err := array.Eval(t.Context(), append(wantGrads.Arrays(), want)...); err != nil {
			t.Error(err)
		}
		params := nn.Parameters(part)
		step := transform.Compile(func(xs ...*array.Array) []*array.Array {
			if err := nn.Update(part, params.With(xs)); err != nil {
				t.Error(err)
			}
			loss, grads := lossOf(part)
			return append(grads.Arrays(), loss)
		})
		ran := g.Stats().Collectives
		for range 2 {
			outs := step(params.Arrays()...)
			if err := array.Eval(t.Context(), outs...); err != nil {
				t.Error(err)
				return
			}
			ran = count(t, g, "a compiled step of 2 blocks", ran, 8)
			near(t, "loss", outs[len(outs)-1], want, 0, 1e-5)
			for i, leaf := range wantGrads {
				near(t, "gradient of "+leaf.Path, outs[i], leaf.Array, 1e-6, 1e-4)
			}
		}
	})
}

// What is computed again communicates again, on every rank alike.
func TestACheckpointedShardedBlock(t *testing.T) {
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		full := newModel(t).Layers[0]
		part, err := full.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		slope := func(f func(x *array.Array) *array.Array) *array.Array {
			return transform.Grad(func(x *array.Array) *array.Array { return f(x).Square().Sum() })(normal(4, 2, 8, 16))
		}
		again := transform.Checkpoint(func(xs ...*array.Array) []*array.Array {
			return []*array.Array{part.Forward(xs[0])}
		})
		dx := slope(func(x *array.Array) *array.Array { return again(x)[0] })
		near(t, "gradient of the input", dx, slope(full.Forward), 1e-4, 1e-4)
		// Two sums forward and two of gradients; of the forward ones the first again, since
		// no gradient inside the block reads the second.
		count(t, g, "a block that is computed again", 0, 5)
	})
}

func TestFullParametersAreThoseOfTheWholeModel(t *testing.T) {
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		full := newModel(t)
		part, err := full.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		gathered := nn.FullParameters(part)
		for i, leaf := range nn.Parameters(full) {
			if gathered[i].Path != leaf.Path {
				t.Errorf("path %s, want %s", gathered[i].Path, leaf.Path)
			}
			near(t, leaf.Path, gathered[i].Array, leaf.Array, 0, 0)
		}
		elements := func(m any) (n int) {
			for _, leaf := range nn.Parameters(m) {
				n += leaf.Array.Size()
			}
			return n
		}
		// Of 8·16·16 + … of a block only the norms and the bias behind the sum are whole.
		for i, block := range part.Layers {
			shared := 5 * 16
			if n, want := elements(block)-shared, (elements(full.Layers[i])-shared)/g.Size(); n != want {
				t.Errorf("block %d has %d divided elements, want %d", i, n, want)
			}
		}
		if err := nn.Update(full, gathered); err != nil {
			t.Error(err)
		}
	})
}

// Training one of them leaves the other alone.
func TestAShardedModelSharesNoLayers(t *testing.T) {
	full := newModel(t)
	part, err := full.Shard(group.Single())
	if err != nil {
		t.Fatal(err)
	}
	before := nn.Parameters(full)
	doubled := nn.Parameters(part).Map(func(l tree.Leaf) *array.Array { return l.Array.MulScalar(2) })
	if err := nn.Update(part, doubled); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(nn.Parameters(full), before) {
		t.Error("the whole model has changed")
	}
}

func TestAQuantizedModelIsSharded(t *testing.T) {
	worlds(t, []int{1, 2}, func(t *testing.T, g *group.Group) {
		full, err := nn.NewLanguageModel(random.NewKey(1), nn.LanguageModelConfig{Vocab: 11, Context: 8, Dims: 64, Layers: 1, Heads: 4})
		if err != nil {
			t.Error(err)
			return
		}
		if err := nn.Quantize(full, array.Quantization{GroupSize: 32, Bits: 8}, nil); err != nil {
			t.Error(err)
			return
		}
		part, err := full.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		want, _ := lossOf(full)
		loss, grads := lossOf(part)
		near(t, "loss", loss, want, 0, 1e-5)
		if err := array.Eval(t.Context(), append(grads.Arrays(), loss)...); err != nil {
			t.Error(err)
		}
		count(t, g, "a quantized block", 0, 4)
	})
}

func TestModelsThatDoNotDivide(t *testing.T) {
	world(t, 3, func(g *group.Group) {
		_, err := newModel(t).Shard(g)
		says(t, err, "layers.0: attention: 4 heads do not divide into 3 shards")
	})
	world(t, 2, func(g *group.Group) {
		m := newModel(t)
		m.Layers[1].Up = nn.Func(nn.GELU)
		_, err := m.Shard(g)
		says(t, err, "layers.1: up: shard_linear: a nn.Func is neither a Linear nor a QuantizedLinear")
		m.Layers[1].Up, m.Layers[1].Down = m.Layers[0].Up, nn.NewLinear(random.NewKey(0), 63, 16, true)
		_, err = m.Shard(g)
		says(t, err, "layers.1: down: sharded_to_all_linear: 63 input features do not divide into 2 shards")
		part, err := newModel(t).Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = part.Shard(g)
		says(t, err, "a *nn.AllToShardedLinear is neither")
		outside, err := g.Split(t.Context(), group.NoColor, group.KeepRank)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = newModel(t).Shard(outside)
		says(t, err, "attention: this rank is not in the group")
	})
}

// Four ranks as two pairs: each pair holds the model once, and the pairs have batches
// of their own. Averaged over the pairs, the gradients are those of one process with
// the whole batch.
func TestDataTimesTensorParallelism(t *testing.T) {
	world(t, 4, func(g *group.Group) {
		shards, err := g.Split(t.Context(), g.Rank()/2, group.KeepRank)
		data, err2 := g.Split(t.Context(), g.Rank()%2, group.KeepRank)
		if err != nil || err2 != nil {
			t.Error(err, err2)
			return
		}
		full := newModel(t)
		part, err := full.Shard(shards)
		if err != nil {
			t.Error(err)
			return
		}
		tokens := random.RandInt(random.NewKey(3), 0, 11, dtype.Int32, 4, 9)
		step := func(m *nn.LanguageModel, rows *array.Array) (*array.Array, tree.Tree) {
			return nn.ValueAndGrad(m, func(...*array.Array) *array.Array {
				return nn.CrossEntropy(m.Forward(rows.SliceAxis(1, 0, 8)), rows.SliceAxis(1, 1, 9)).Mean()
			})()
		}
		_, want := step(full, tokens)
		_, grads := step(part, mine(tokens, 0, data))
		grads = nn.AverageGradients(grads, data)
		// Gathered as parameters would be.
		if err := nn.Update(part, grads); err != nil {
			t.Error(err)
		}
		for i, leaf := range nn.FullParameters(part) {
			near(t, fmt.Sprintf("gradient of %s", leaf.Path), leaf.Array, want[i].Array, 1e-6, 1e-4)
		}
	})
}
