package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

// Shard returns this rank's part of the attention, which is unchanged: heads divide
// over the ranks of g, nil meaning the default group, with their rows of the three input
// projections and their columns of the output projection. Forward maps the whole input to
// the whole output, the same on all ranks, with one AllSum, and the gradient by the
// input takes another. The projections are Linear or QuantizedLinear layers; of a quantized output
// projection whose groups are wider than a rank's heads every rank has the whole, and an AllGather
// of the heads stands for the AllSum. Paths of
// parameters stay. It is an error if the heads do not divide.
func (a *MultiHeadAttention) Shard(g *group.Group) (*MultiHeadAttention, error) {
	g = resolve(g)
	fail := func(err error) (*MultiHeadAttention, error) { return nil, fmt.Errorf("attention: %w", err) }
	if g.Size() == 0 {
		return fail(errOutside)
	}
	if a.Heads%g.Size() != 0 {
		return fail(fmt.Errorf("%d heads do not divide into %d shards", a.Heads, g.Size()))
	}
	s := *a
	s.Heads, s.group = a.Heads/g.Size(), g
	for _, p := range []struct {
		from Module
		to   *Module
		how  Sharding
	}{
		{a.QueryProj, &s.QueryProj, AllToSharded},
		{a.KeyProj, &s.KeyProj, AllToSharded},
		{a.ValueProj, &s.ValueProj, AllToSharded},
		{a.OutProj, &s.OutProj, ShardedToAll},
	} {
		layer, err := shardPaired(p.from, p.how, g)
		if err != nil {
			return fail(err)
		}
		shareGradient(layer)
		*p.to = layer
	}
	return &s, nil
}

// shardPaired is ShardLinear for one of two layers, of which the first gives each rank a part of
// the outputs that are the inputs of the second. A quantized second layer whose groups are wider than
// a rank's part stays whole, and each rank gathers its inputs.
func shardPaired(layer Module, how Sharding, g *group.Group) (Module, error) {
	g = resolve(g)
	if q, ok := layer.(*QuantizedLinear); ok && how == ShardedToAll && q.Scales != nil {
		in := q.Scales.Dim(-1) * q.Quantization.GroupSize
		if n := g.Size(); in%n == 0 && in/n%q.Quantization.GroupSize != 0 {
			whole := *q
			whole.inputs = g
			return &whole, nil
		}
	}
	return ShardLinear(layer, how, Segments{}, g)
}

// shareGradient leaves the sum of the gradient by a layer's input to its caller, who has
// several layers with one input.
func shareGradient(m Module) {
	switch m := m.(type) {
	case *AllToShardedLinear:
		m.shared = true
	case *QuantizedAllToShardedLinear:
		m.shared = true
	}
}

// Shard returns this rank's part of the block, which is unchanged: attention by heads,
// the two-layer network by its hidden units; norms stay whole. Forward takes two AllSums
// and its gradient two more. Up and Down are Linear or QuantizedLinear layers; for a quantized Down
// holds what is said of the output projection of attention.
func (b *Block) Shard(g *group.Group) (*Block, error) {
	s, norm1, norm2 := *b, *b.Norm1, *b.Norm2
	s.Norm1, s.Norm2 = &norm1, &norm2
	var err error
	if s.Attention, err = b.Attention.Shard(g); err != nil {
		return nil, err
	}
	if s.Up, err = shardPaired(b.Up, AllToSharded, g); err != nil {
		return nil, fmt.Errorf("up: %w", err)
	}
	if s.Down, err = shardPaired(b.Down, ShardedToAll, g); err != nil {
		return nil, fmt.Errorf("down: %w", err)
	}
	return &s, nil
}

// Shard returns this rank's part of the model, which is unchanged: its blocks are
// divided over the ranks of g, nil meaning the default group; embeddings, norms and head
// stay whole. All ranks shard equal models and are given equal tokens, and get equal
// logits. With one loss on all ranks, the gradients of what is whole are equal on all
// ranks and complete, and those of shards are the shards of the whole gradient: nothing
// has to be added up over g. FullParameters has the parameters of the whole model.
func (m *LanguageModel) Shard(g *group.Group) (*LanguageModel, error) {
	s, tokens, positions, norm := *m, *m.Tokens, *m.Positions, *m.Norm
	s.Tokens, s.Positions, s.Norm = &tokens, &positions, &norm
	s.Layers = nil
	for i, block := range m.Layers {
		part, err := block.Shard(g)
		if err != nil {
			return nil, fmt.Errorf("layers.%d: %w", i, err)
		}
		s.Layers = append(s.Layers, part)
	}
	if head, ok := m.Head.(*Linear); ok {
		own := *head
		s.Head = &own
	}
	return &s, nil
}
