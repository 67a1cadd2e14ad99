package nn_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
)

func TestATextInPiecesHasTheLogitsOfTheWhole(t *testing.T) {
	tokens := random.RandInt(random.NewKey(3), 0, 11, dtype.Int32, 2, 8)
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		whole := newModel(t)
		part, err := whole.Shard(g)
		if err != nil {
			t.Error(err)
			return
		}
		want := whole.Forward(tokens)
		for _, pieces := range [][]int{{8}, {1, 1, 1, 1, 1, 1, 1, 1}, {5, 1, 2}} {
			cache, at := part.NewCache(), 0
			for _, n := range pieces {
				got := part.ForwardCached(tokens.SliceAxis(1, at, at+n), cache)
				near(t, fmt.Sprintf("pieces %v, from %d", pieces, at), got, want.SliceAxis(1, at, at+n), 1e-5, 1e-4)
				at += n
				for _, layer := range cache {
					if layer.Len() != at || layer.Keys.Dim(1) != 4/g.Size() {
						t.Errorf("the cache has %d positions of %v", layer.Len(), layer.Keys.Spec())
					}
				}
			}
			says(t, part.ForwardCached(tokens.SliceAxis(1, 0, 1), cache).Err(), "language_model", "9 tokens are more than the context of 8")
		}
		says(t, part.ForwardCached(tokens, part.NewCache()[:1]).Err(), "a cache of 1 layers for a model of 2")
	})
}

// On 4 ranks each has 16 inputs of the output projection, half a group.
func TestAQuantizedModelDividesIntoPartsNarrowerThanItsGroups(t *testing.T) {
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		for _, bits := range []int{4, 8} {
			model, err := nn.NewLanguageModel(random.NewKey(1), nn.LanguageModelConfig{Vocab: 11, Context: 8, Dims: 64, Layers: 2, Heads: 4})
			if err == nil {
				err = nn.Quantize(model, array.Quantization{Bits: bits, GroupSize: 32}, nil)
			}
			if err != nil {
				t.Error(err)
				return
			}
			part, err := model.Shard(g)
			if err != nil {
				t.Error(err)
				return
			}
			tokens := random.RandInt(random.NewKey(3), 0, 11, dtype.Int32, 2, 8)
			near(t, fmt.Sprint(bits, " bits"), part.Forward(tokens), model.Forward(tokens), 1e-5, 1e-4)
			full, whole := nn.FullParameters(part), nn.Parameters(model)
			if err := whole.Same(full); err != nil {
				t.Error(err)
			}
		}
	})
}
