package group

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// KeepRank is the key for Split that keeps the order of the old ranks, as MLX's
// default key does. Every negative key stands for the rank itself.
const KeepRank = -1

// Split divides the group: ranks with the same color form one, ordered by key
// and then by old rank. It is a collective. A rank that passes NoColor gets a
// group of size 0; other negative colors are errors. Splitting a group of one
// gives the group itself. A backend that cannot split gives an error that wraps
// errors.ErrUnsupported. The result has the timeout and logger of g; it is closed
// on its own, before g.
func (g *Group) Split(ctx context.Context, color, key int) (*Group, error) {
	if color < NoColor {
		return nil, fmt.Errorf("split: color %d is negative; want 0 or more, or NoColor (%d)", color, NoColor)
	}
	if key < 0 {
		key = g.rank
	}
	switch {
	case g.size == 1 && color == NoColor:
		return outside(), nil
	case g.size == 1:
		return g, nil
	}
	if _, ok := g.comm.(Splitter); !ok && g.size > 1 {
		return nil, fmt.Errorf("split: backend %s: %w", g.backend, errors.ErrUnsupported)
	}
	var sub *Group
	err := g.run(ctx, call{name: "split"}, func(ctx context.Context) (err error) {
		sub, err = g.split(ctx, color, key)
		return err
	})
	return sub, err
}

func outside() *Group { return &Group{rank: -1, backend: "none", id: "none"} }

// split learns who will be in the new group, for its messages, before the
// backend forms it.
func (g *Group) split(ctx context.Context, color, key int) (*Group, error) {
	members, err := g.members(ctx, color, key)
	if err != nil {
		return nil, err
	}
	comm, err := g.comm.(Splitter).Split(ctx, color, key)
	if err != nil {
		return nil, err
	}
	g.splits++
	if color == NoColor {
		return outside(), nil
	}
	if comm.Size() != len(members) || members[comm.Rank()] != g.worldRank(g.rank) {
		return nil, fmt.Errorf("backend %s made rank %d of %d of world ranks %v", g.backend, comm.Rank(), comm.Size(), members)
	}
	sub := NewWith(comm, Config{Backend: g.backend, Timeout: g.timeout, Logger: g.base})
	sub.id = fmt.Sprintf("%s/%d:%d", g.id, g.splits, color)
	sub.world = members
	sub.stall = g.stall
	return sub, nil
}

// members lists the world ranks with this color in the order of the new group.
func (g *Group) members(ctx context.Context, color, key int) ([]int, error) {
	const fields = 3
	mine := binary.LittleEndian.AppendUint64(nil, uint64(color))
	mine = binary.LittleEndian.AppendUint64(mine, uint64(key))
	mine = binary.LittleEndian.AppendUint64(mine, uint64(g.worldRank(g.rank)))
	all := make([]byte, len(mine)*g.size)
	if err := g.comm.AllGather(ctx, mine, all); err != nil {
		return nil, err
	}
	type member struct{ key, world int }
	var found []member
	for r := range g.size {
		row := slice(all, r, 8*fields)
		at := func(i int) int { return int(binary.LittleEndian.Uint64(row[8*i:])) }
		if at(0) == color {
			found = append(found, member{at(1), at(2)})
		}
	}
	slices.SortStableFunc(found, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	ranks := make([]int, len(found))
	for i, m := range found {
		ranks[i] = m.world
	}
	return ranks, nil
}

// worldRank is the rank that r of this group has in the world.
func (g *Group) worldRank(r int) int {
	if g.world == nil {
		return r
	}
	return g.world[r]
}
