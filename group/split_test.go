package group_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/group"
)

func TestSplit(t *testing.T) {
	none := group.NoColor
	cases := []struct {
		name         string
		colors, keys []int
		ranks, sizes []int
	}{
		{"even and odd", []int{0, 1, 0, 1, 0, 1, 0, 1}, nil, []int{0, 0, 1, 1, 2, 2, 3, 3}, []int{4, 4, 4, 4, 4, 4, 4, 4}},
		{"pairs", []int{0, 0, 1, 1, 2, 2, 3, 3}, nil, []int{0, 1, 0, 1, 0, 1, 0, 1}, []int{2, 2, 2, 2, 2, 2, 2, 2}},
		{"reversed by key", []int{0, 0, 0, 0}, []int{3, 2, 1, 0}, []int{3, 2, 1, 0}, []int{4, 4, 4, 4}},
		{"equal keys keep the order", []int{0, 0, 0, 0}, []int{0, 0, 0, 0}, []int{0, 1, 2, 3}, []int{4, 4, 4, 4}},
		{"negative keys mean the rank", []int{0, 0, 0, 0}, []int{-1, 0, -1, 1}, []int{0, 1, 3, 2}, []int{4, 4, 4, 4}},
		{"one alone", []int{7, 7, 1000}, []int{0, 0, 0}, []int{0, 1, 0}, []int{2, 2, 1}},
		{"one sits out", []int{0, none, 0}, nil, []int{0, -1, 1}, []int{2, 0, 2}},
		{"all sit out", []int{none, none}, nil, []int{-1, -1}, []int{0, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			gs := world(t, len(c.colors), nil)
			must(t, gs, func(g *group.Group) error {
				r, key := g.Rank(), group.KeepRank
				if c.keys != nil {
					key = c.keys[r]
				}
				sub, err := g.Split(background(), c.colors[r], key)
				if err != nil {
					return err
				}
				if sub.Rank() != c.ranks[r] || sub.Size() != c.sizes[r] {
					return fmt.Errorf("rank %d became %d of %d, want %d of %d", r, sub.Rank(), sub.Size(), c.ranks[r], c.sizes[r])
				}
				return sub.Close()
			})
		})
	}
}

func TestSplitsWorkTogether(t *testing.T) {
	gs := world(t, 8, nil)
	must(t, gs, func(g *group.Group) error {
		r := g.Rank()
		pairs, err := g.Split(background(), r/2, group.KeepRank)
		if err != nil {
			return err
		}
		defer pairs.Close()
		quads, err := g.Split(background(), r%2, group.KeepRank)
		if err != nil {
			return err
		}
		defer quads.Close()
		x := []int32{int32(r), int32(r)}
		if err := group.AllReduce(background(), pairs, group.Sum, x); err != nil {
			return err
		}
		all, err := group.AllGather(background(), quads, x)
		if want := []int32{1, 1, 5, 5, 9, 9, 13, 13}; err != nil || !slices.Equal(all, want) {
			return fmt.Errorf("%v, %w; want %v", all, err, want)
		}
		return nil
	})
}

func TestSplitOfASplit(t *testing.T) {
	gs := world(t, 8, nil)
	must(t, gs, func(g *group.Group) error {
		odd, err := g.Split(background(), g.Rank()%2, group.KeepRank)
		if err != nil {
			return err
		}
		defer odd.Close()
		half, err := odd.Split(background(), odd.Rank()/2, group.KeepRank)
		if err != nil {
			return err
		}
		defer half.Close()
		got, err := group.AllGather(background(), half, []int32{int32(g.Rank())})
		first := int32(g.Rank()%2 + g.Rank()/4*4)
		if want := []int32{first, first + 2}; err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("%v, %w; want %v", got, err, want)
		}
		return nil
	})
}

func TestSplitIdentity(t *testing.T) {
	gs := world(t, 4, nil)
	ids := make([][]string, 4)
	must(t, gs, func(g *group.Group) error {
		for range 2 {
			sub, err := g.Split(background(), g.Rank()%2, group.KeepRank)
			if err != nil {
				return err
			}
			ids[g.Rank()] = append(ids[g.Rank()], group.ID(sub))
		}
		return nil
	})
	if !slices.Equal(ids[0], ids[2]) || !slices.Equal(ids[1], ids[3]) {
		t.Errorf("members of a group disagree on its identity: %v", ids)
	}
	if ids[0][0] == ids[0][1] || ids[0][0] == ids[1][0] {
		t.Errorf("two groups have one identity: %v", ids)
	}
}

func TestErrorsInASplitNameTheWorldRank(t *testing.T) {
	gs := world(t, 4, nil)
	subs := make([]*group.Group, 4)
	must(t, gs, func(g *group.Group) (err error) {
		subs[g.Rank()], err = g.Split(background(), g.Rank()/2, group.KeepRank)
		return err
	})
	subs[3].Close()
	wantError(t, subs[2].Barrier(background()), "rank 1", "world rank 3")
	must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
}

func TestSplitUnsupported(t *testing.T) {
	gs := world(t, 2, kinds["bare"])
	_, err := gs[0].Split(background(), 0, 0)
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
}
