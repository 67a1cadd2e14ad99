package group_test

import (
	"errors"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func TestStatsCountCompletedCollectives(t *testing.T) {
	gs := world(t, 2, nil)
	must(t, gs, func(g *group.Group) error {
		ctx := background()
		return errors.Join(
			g.AllReduceBytes(ctx, group.Sum, dtype.Float32, make([]byte, 12)),
			g.ReduceScatterBytes(ctx, group.Max, dtype.Uint8, make([]byte, 6), make([]byte, 3)),
			g.AllGatherBytes(ctx, make([]byte, 5), make([]byte, 10)),
			g.Barrier(ctx),
		)
	})
	gs[1].Close()
	if err := gs[0].AllReduceBytes(background(), group.Sum, dtype.Uint8, make([]byte, 1)); err == nil {
		t.Fatal("no error after the peer left")
	}
	for _, g := range gs {
		if got, want := g.Stats(), (group.Stats{Collectives: 4, BytesReduced: 18}); got != want {
			t.Errorf("rank %d: %+v, want %+v", g.Rank(), got, want)
		}
	}
	if got := group.Single().Stats(); got != (group.Stats{}) {
		t.Errorf("group of one: %+v", got)
	}
}

func TestOriginSaysWhatInitWentBy(t *testing.T) {
	using(t, backends{"ring": started(1, 2)})
	g, err := group.Init(background(), group.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Origin(); got != "FAKE is set" {
		t.Errorf("origin %q", got)
	}
	if got := group.Single().Origin(); got != "no launcher started this process" {
		t.Errorf("origin of the group of one %q", got)
	}
}
