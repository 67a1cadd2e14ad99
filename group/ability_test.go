package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// gifted is one rank of two that writes down which of its abilities are used.
type gifted struct {
	group.Communicator
	used []string
}

func (c *gifted) use(format string, args ...any) error {
	c.used = append(c.used, fmt.Sprintf(format, args...))
	return nil
}

func (c *gifted) Next(fp []byte, text string) { _ = c.use("next %d: %s", len(fp), text) }

func (c *gifted) ReduceScatter(_ context.Context, op group.Op, t dtype.Type, in, out []byte) error {
	return c.use("reduce_scatter %v %v %d %d", op, t, len(in), len(out))
}

func (c *gifted) Broadcast(_ context.Context, root int, data []byte) error {
	return c.use("broadcast %d %d", root, len(data))
}

func (c *gifted) AllToAll(_ context.Context, in, out []byte) error {
	return c.use("all_to_all %d %d", len(in), len(out))
}

func (c *gifted) Barrier(context.Context) error { return c.use("barrier") }

func TestAbilitiesAreUsed(t *testing.T) {
	comm := &gifted{Communicator: grouptest.NewWorld(2)[0]}
	g, ctx := group.New(comm), background()
	err := errors.Join(
		g.ReduceScatterBytes(ctx, group.Max, dtype.Int16, make([]byte, 8), make([]byte, 4)),
		g.Broadcast(ctx, 1, make([]byte, 3)),
		g.AllToAll(ctx, make([]byte, 6), make([]byte, 6)),
		g.Barrier(group.WithLabel(ctx, "checkpoint")),
	)
	want := []string{
		"next 16: reduce_scatter #1 max int16[4]", "reduce_scatter max int16 8 4",
		"next 16: broadcast #2 from rank 1 [3 bytes]", "broadcast 1 3",
		"next 16: all_to_all #3 [6 bytes]", "all_to_all 6 6",
		"next 16: checkpoint", "barrier",
	}
	if err != nil || !slices.Equal(comm.used, want) {
		t.Errorf("%v, used\n%q, want\n%q", err, comm.used, want)
	}
}

// faulty is one rank of two on which every call fails with err.
type faulty struct {
	group.Communicator
	err error
}

func (c faulty) AllGather(context.Context, []byte, []byte) error             { return c.err }
func (c faulty) Send(context.Context, int, int, []byte) error                { return c.err }
func (c faulty) Recv(_ context.Context, src, tag int, _ []byte) error        { return c.err }
func (c faulty) Split(context.Context, int, int) (group.Communicator, error) { return nil, c.err }

func TestWhatAFailedCallTakesWithIt(t *testing.T) {
	reset := errors.New("connection reset")
	collective := func(g *group.Group) error { return g.Barrier(background()) }
	split := func(g *group.Group) error { _, err := g.Split(background(), 0, 0); return err }
	send := func(g *group.Group) error { return group.Send(background(), g, 1, 3, []int8{1}) }
	recv := func(g *group.Group) error { _, err := group.Recv[int8](background(), g, 1, 3); return err }
	cases := []struct {
		name   string
		err    error
		call   func(g *group.Group) error
		want   string
		broken bool
	}{
		{"collective, peer lost", &group.PeerError{Rank: 1, Addr: "h:1", Err: reset}, collective, "barrier #1: rank 1 (h:1): connection reset", true},
		{"collective, the backend names the call", &group.PeerError{Op: "barrier #1", Rank: 1, Err: reset}, collective, "barrier #1: rank 1: connection reset", true},
		{"collective, broken elsewhere", &group.BrokenError{By: 1, Reason: reset}, collective, "barrier #1: group broken by rank 1: connection reset", true},
		{"split", reset, split, "split #1: connection reset", true},
		{"send, peer lost", &group.PeerError{Rank: 1, Err: reset}, send, "send to rank 1 with tag 3: rank 1: connection reset", true},
		{"recv, peer lost", &group.PeerError{Rank: 1, Err: reset}, recv, "recv from rank 1 with tag 3: rank 1: connection reset", true},
		{"recv, buffer full", fmt.Errorf("tags 4, 5: %w", group.ErrFull), recv, "recv from rank 1 with tag 3: tags 4, 5: unexpected messages fill the buffer", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := group.NewWith(faulty{grouptest.NewWorld(2)[0], c.err}, group.Config{Logger: quiet})
			defer g.Close()
			err := c.call(g)
			if err == nil || err.Error() != c.want || !errors.Is(err, reset) && !errors.Is(err, group.ErrFull) {
				t.Errorf("error %q, want %q", err, c.want)
			}
			var broken *group.BrokenError
			if got := errors.As(c.call(g), &broken); got != c.broken {
				t.Errorf("broken %v, want %v", got, c.broken)
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"send tag 3: rank 2 (10.0.0.3:5000): cause": &group.PeerError{Op: "send tag 3", Rank: 2, Addr: "10.0.0.3:5000", Err: cause},
		"rank 2: cause":                          &group.PeerError{Rank: 2, Err: cause},
		"group broken: cause":                    &group.BrokenError{By: -1, Reason: cause},
		"group broken by rank 0: cause":          &group.BrokenError{By: 0, Reason: cause},
		"rank 1 sent 8 bytes with tag 3, want 4": &group.LengthError{Src: 1, Tag: 3, Got: 8, Want: 4},
		"ranks disagree: ranks 0,2 called a; rank 1 called b; rank 3 called nothing known": &group.MismatchError{Calls: []string{"a", "b", "a", ""}},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	for _, err := range []error{&group.PeerError{Err: cause}, &group.BrokenError{Reason: cause}} {
		if !errors.Is(err, cause) {
			t.Errorf("%v hides its cause", err)
		}
	}
	if !errors.Is(&group.MismatchError{}, group.ErrMismatch) {
		t.Error("a mismatch is not ErrMismatch")
	}
}
