package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

// layout is how the ranks share the work. Those of one group in shards hold one model
// together and see the same examples; those of one group in replicas hold the same part
// of it and divide the batch. Consecutive ranks share a model, since they talk most.
type layout struct {
	world, shards, replicas *group.Group
	made                    []*group.Group // by splitting the world
}

// dataParallel has every rank hold the whole model.
func dataParallel(world *group.Group) *layout {
	return &layout{world: world, shards: group.Single(), replicas: world}
}

// layout forms the groups that -tp asks for.
func (o options) layout(ctx context.Context, world *group.Group) (*layout, error) {
	switch o.tensor {
	case 1:
		return dataParallel(world), nil
	case world.Size():
		return &layout{world: world, shards: world, replicas: group.Single()}, nil
	}
	l := &layout{world: world}
	split := func(color int) (*group.Group, error) {
		g, err := world.Split(ctx, color, group.KeepRank)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("rank %d: %w", world.Rank(), err), l.close())
		}
		l.made = append(l.made, g)
		return g, nil
	}
	var err error
	if l.shards, err = split(world.Rank() / o.tensor); err != nil {
		return nil, err
	}
	if l.replicas, err = split(world.Rank() % o.tensor); err != nil {
		return nil, err
	}
	return l, nil
}

// close closes the groups that were made, not the world.
func (l *layout) close() error {
	var err error
	for _, g := range l.made {
		err = errors.Join(err, g.Close())
	}
	l.made = nil
	return err
}

// stats adds up what this rank has done in all groups.
func (l *layout) stats() group.Stats {
	sum := l.world.Stats()
	for _, g := range l.made {
		s := g.Stats()
		sum.Collectives += s.Collectives
		sum.BytesReduced += s.BytesReduced
	}
	return sum
}
