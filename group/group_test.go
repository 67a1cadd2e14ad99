package group_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestGroupOfOne(t *testing.T) {
	conform.Row(t, "G10")
	for name, g := range map[string]*group.Group{"single": group.Single(), "over a communicator": world(t, 1, nil)[0]} {
		t.Run(name, func(t *testing.T) {
			if g.Rank() != 0 || g.Size() != 1 || !g.IsLeader() || g.Backend() != "single" {
				t.Errorf("rank %d of %d, leader %v, backend %q", g.Rank(), g.Size(), g.IsLeader(), g.Backend())
			}
			nan := []byte{1, 0, 0xff, 0x7f} // a NaN with a payload stays as it is
			data := bytes.Clone(nan)
			if err := g.AllReduceBytes(background(), group.Sum, dtype.Float32, data); err != nil || !bytes.Equal(data, nan) {
				t.Errorf("all reduce: %v, %v", data, err)
			}
			if sub, err := g.Split(background(), 3, 0); err != nil || sub != g {
				t.Errorf("split gives %p, %v; want the group itself", sub, err)
			}
			wantError(t, group.Send(background(), g, 0, 0, []int32{1}), "send", "no other rank")
			_, err := group.Recv[int32](background(), g, 0, 0)
			wantError(t, err, "recv", "no other rank")
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			if err := g.Barrier(background()); err != nil {
				t.Errorf("barrier after Close: %v", err)
			}
		})
	}
}

func TestGroupOfNone(t *testing.T) {
	g, err := group.Single().Split(background(), group.NoColor, 0)
	if err != nil {
		t.Fatal(err)
	}
	if g.Size() != 0 || g.Rank() != -1 || g.IsLeader() || g.Backend() != "none" {
		t.Errorf("rank %d of %d, leader %v, backend %q", g.Rank(), g.Size(), g.IsLeader(), g.Backend())
	}
	ctx := background()
	calls := map[string]func() error{
		"all_reduce":     func() error { return g.AllReduceBytes(ctx, group.Sum, dtype.Uint8, nil) },
		"all_gather":     func() error { return g.AllGatherBytes(ctx, nil, nil) },
		"reduce_scatter": func() error { return g.ReduceScatterBytes(ctx, group.Sum, dtype.Uint8, nil, nil) },
		"broadcast":      func() error { return g.Broadcast(ctx, 0, nil) },
		"gather":         func() error { return g.Gather(ctx, 0, nil, nil) },
		"scatter":        func() error { return g.Scatter(ctx, 0, nil, nil) },
		"all_to_all":     func() error { return g.AllToAll(ctx, nil, nil) },
		"barrier":        func() error { return g.Barrier(ctx) },
		"split":          func() error { _, err := g.Split(ctx, 0, 0); return err },
		"send":           func() error { return group.Send(ctx, g, 0, 0, []int8{1}) },
		"recv":           func() error { _, err := group.Recv[int8](ctx, g, 0, 0); return err },
	}
	for name, call := range calls {
		wantError(t, call(), name, "NoColor")
	}
	g.Abandon(1, "all_sum #1", errors.New("nobody there"))
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	gs := world(t, 2, nil)
	if err := errors.Join(gs[0].Close(), gs[0].Close()); err != nil {
		t.Fatal(err)
	}
	if err := gs[0].Barrier(background()); !errors.Is(err, group.ErrClosed) {
		t.Errorf("own call after Close: %v", err)
	}
	if err := group.Send(background(), gs[0], 1, 0, []int8{1}); !errors.Is(err, group.ErrClosed) {
		t.Errorf("own send after Close: %v", err)
	}
	err := gs[1].Barrier(background())
	wantError(t, err, "barrier", "rank 0")
	var peer *group.PeerError
	if !errors.As(err, &peer) || peer.Rank != 0 {
		t.Errorf("peer's call: %v", err)
	}
}

func TestCloseEndsARunningCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		ended := make(chan error, 1)
		go func() { ended <- gs[0].Barrier(background()) }()
		synctest.Wait()
		gs[0].Close()
		if err := <-ended; !errors.Is(err, group.ErrClosed) {
			t.Errorf("running call: %v", err)
		}
	})
}

func TestTimeouts(t *testing.T) {
	long := func(parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(parent, time.Hour)
	}
	short := func(parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeoutCause(parent, time.Second, errors.New("one second is over"))
	}
	cases := []struct {
		name  string
		cfg   group.Config
		bound func(context.Context) (context.Context, context.CancelFunc)
		after time.Duration
		words string
	}{
		{"default", group.Config{}, context.WithCancel, 10 * time.Minute, "timeout after 10m0s"},
		{"configured", group.Config{Timeout: 90 * time.Second}, context.WithCancel, 90 * time.Second, "timeout after 1m30s"},
		{"context ends later", group.Config{}, long, 10 * time.Minute, "timeout after 10m0s"},
		{"context ends earlier", group.Config{}, short, time.Second, "one second is over"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.cfg.Logger = quiet
				g := group.NewWith(grouptest.NewWorld(2)[0], c.cfg)
				ctx, cancel := c.bound(background())
				defer cancel()
				start := time.Now()
				err := g.Barrier(ctx)
				wantError(t, err, "barrier #1", "rank 1", c.words)
				if took := time.Since(start); took != c.after {
					t.Errorf("took %v, want %v", took, c.after)
				}
				var broken *group.BrokenError
				if err := g.Barrier(background()); !errors.As(err, &broken) {
					t.Errorf("after a timeout: %v", err)
				}
			})
		})
	}
}

func TestOwnTimeoutIsADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := world(t, 2, nil)[0].Barrier(background())
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no deadline", err)
		}
	})
}

func TestWaitingForTheTurnEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		first := make(chan error, 1)
		go func() { first <- gs[0].Barrier(background()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background(), time.Second)
		defer cancel()
		start := time.Now()
		wantError(t, gs[0].Barrier(ctx), "barrier", "deadline exceeded")
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want 1s", took)
		}
		wantError(t, <-first, "group broken", "deadline exceeded")
	})
}

func TestPeersLearnTheReason(t *testing.T) {
	gs := world(t, 3, nil)
	ctx, cancel := context.WithCancelCause(background())
	cancel(errors.New("the user pressed a key"))
	wantError(t, gs[2].Barrier(ctx), "barrier", "the user pressed a key")
	for _, g := range gs[:2] {
		err := g.Barrier(background())
		var broken *group.BrokenError
		if !errors.As(err, &broken) || broken.By != 2 {
			t.Errorf("peer: %v", err)
		}
		wantError(t, err, "rank 2", "the user pressed a key")
	}
}

func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		waiting := make(chan error, 1)
		go func() { waiting <- gs[0].Barrier(background()) }()
		synctest.Wait()
		gs[1].Abandon(1, "all_sum #17", errors.New("add at train.go:31: shapes differ"))
		gs[1].Abandon(1, "all_sum #18", errors.New("a later reason"))
		wantError(t, <-waiting, "barrier #1", "rank 1", "gave up all_sum #17: add at train.go:31: shapes differ")
		err := gs[1].Barrier(background())
		wantError(t, err, "gave up all_sum #17")
		if strings.Contains(err.Error(), "a later reason") {
			t.Errorf("%v: the first reason is lost", err)
		}
	})
}

func TestBreakWithoutBreakerCloses(t *testing.T) {
	gs := world(t, 2, kinds["bare"])
	gs[0].Abandon(1, "all_sum #1", errors.New("no memory"))
	wantError(t, gs[0].Barrier(background()), "gave up all_sum #1: no memory")
	if err := gs[0].Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, gs[1].Barrier(background()), "rank 0", "left")
}

func TestConcurrentCallersTakeTurns(t *testing.T) {
	gs := world(t, 3, nil)
	must(t, gs, func(g *group.Group) error {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				xs := []int64{1, 2}
				errs[i] = group.AllReduce(background(), g, group.Sum, xs)
				if errs[i] == nil && (xs[0] != 3 || xs[1] != 6) {
					errs[i] = errors.New("calls mixed")
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

func TestStallIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		comms := grouptest.NewWorld(2)
		g := group.NewWith(comms[0], group.Config{
			Backend: "memory",
			Timeout: 3 * time.Minute,
			Logger:  slog.New(slog.NewTextHandler(&out, nil)),
		})
		_ = g.Barrier(background())
		for _, word := range []string{"level=WARN", "barrier", "rank=0", "size=2", "backend=memory", "after=1m0s"} {
			if !strings.Contains(out.String(), word) {
				t.Errorf("log %q does not say %q", out.String(), word)
			}
		}
	})
}

func TestQuickCallsLogNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var gs []*group.Group
		for _, comm := range grouptest.NewWorld(2) {
			gs = append(gs, group.NewWith(comm, group.Config{Logger: slog.New(slog.NewTextHandler(&out, nil))}))
		}
		must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
		time.Sleep(time.Hour)
		if out.Len() > 0 {
			t.Errorf("log %q", out.String())
		}
	})
}

func TestRecordsCountFromOne(t *testing.T) {
	g := world(t, 2, nil)[0]
	send, recv := g.PeerLane(1, 5, true), g.PeerLane(1, 5, false)
	if send == recv || send != g.PeerLane(1, 5, true) || send == g.PeerLane(1, 6, true) {
		t.Error("lanes are not one for each peer, tag and direction")
	}
	for want := uint64(1); want <= 3; want++ {
		if got := g.NextRecord(); got != want {
			t.Errorf("group record %d, want %d", got, want)
		}
		if got := send.NextRecord(); got != want {
			t.Errorf("send record %d, want %d", got, want)
		}
	}
	if got := recv.NextRecord(); got != 1 {
		t.Errorf("recv record %d, want 1", got)
	}
	if g.Independent() || !send.Independent() {
		t.Error("collectives depend on each other, messages do not")
	}
}
