package group_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/env"
)

// fake is a backend that says of itself what a test wants.
type fake struct {
	group.Detection
	err   error
	size  int
	inits atomic.Int32
	cfg   group.Config
}

func (f *fake) Detect() group.Detection { return f.Detection }

func (f *fake) Init(_ context.Context, cfg group.Config) (group.Communicator, error) {
	f.inits.Add(1)
	f.cfg = cfg
	if f.err != nil {
		return nil, f.err
	}
	return grouptest.NewWorld(f.size)[0], nil
}

func started(prefer, size int) *fake {
	return &fake{Detection: group.Detection{Available: true, Started: true, Prefer: prefer, Found: "FAKE is set"}, size: size}
}

func idle(prefer int) *fake {
	return &fake{
		Detection: group.Detection{Available: true, Prefer: prefer, Found: "FAKE is not set"},
		err:       fmt.Errorf("fake: FAKE is not set: %w", group.ErrNotConfigured),
	}
}

func failing(prefer int, text string) *fake {
	f := started(prefer, 0)
	f.err = errors.New(text)
	return f
}

func absent(prefer int) *fake {
	return &fake{Detection: group.Detection{Prefer: prefer, Found: "built without it"}}
}

type backends map[string]group.Backend

// using clears the environment and registers only these backends.
func using(t *testing.T, b backends) {
	t.Helper()
	for _, v := range env.Variables {
		if value, ok := os.LookupEnv(v.Name); ok {
			t.Setenv(v.Name, value) // restores it after the test
			os.Unsetenv(v.Name)
		}
	}
	t.Cleanup(group.Forget(b))
}

func TestInitChoice(t *testing.T) {
	type variables map[string]string
	cases := []struct {
		name     string
		row      string // of the conformance list
		backends backends
		env      variables
		cfg      group.Config
		want     string   // backend of the group
		fails    []string // words of the error
	}{
		{name: "nothing linked in, nothing started", want: "single"},
		{name: "nothing linked in, strict", cfg: group.Config{Strict: true}, fails: []string{"no backend is linked in", "group/all"}},
		{name: "nothing linked in but started", env: variables{"LOCKSTEP_RANK": "0", "LOCKSTEP_SIZE": "2", "LOCKSTEP_COORDINATOR": "h:1"},
			fails: []string{"LOCKSTEP_RANK=0", "one of several", "group/all"}},
		{name: "nothing linked in, started alone", env: variables{"LOCKSTEP_RANK": "0", "LOCKSTEP_SIZE": "1"}, want: "single"},
		{name: "mpirun -np 1 without backends", env: variables{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, want: "single"},
		{name: "the preferred backend wins", backends: backends{"ring": started(1, 2), "mpi": started(2, 2)}, want: "mpi"},
		{name: "one that was not started is passed over", row: "G7", backends: backends{"ring": started(1, 2), "mpi": idle(2)}, want: "ring"},
		{name: "any is spelled out", backends: backends{"ring": started(1, 2)}, cfg: group.Config{Backend: "any"}, want: "ring"},
		{name: "equal preference goes by name", backends: backends{"b": started(1, 2), "a": started(1, 2)}, want: "a"},
		{name: "a world of one is single", backends: backends{"ring": started(1, 1)}, cfg: group.Config{Strict: true}, want: "single"},
		{name: "none started", row: "G3", backends: backends{"ring": idle(1), "mpi": idle(2)}, want: "single"},
		{name: "none started, strict", backends: backends{"ring": idle(1), "mpi": absent(2)}, cfg: group.Config{Strict: true},
			fails: []string{"ring: FAKE is not set", "mpi: built without it"}},
		{name: "started, preferred backend not built", backends: backends{"ring": idle(1), "mpi": absent(2)}, env: variables{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"},
			fails: []string{"OMPI_COMM_WORLD_SIZE=4", "mpi: built without it", "ring: FAKE is not set"}},
		{name: "started backend fails, no fall back", backends: backends{"ring": started(1, 2), "mpi": failing(2, "mpi: no peer")}, fails: []string{"mpi: no peer"}},
		{name: "failure says which preferred one is missing", backends: backends{"ring": failing(1, "ring: no coordinator"),
			"mpi": &fake{Detection: group.Detection{Started: true, Prefer: 2, Found: "built without it"}}},
			fails: []string{"init: mpi: built without it; ring: no coordinator"}},
		{name: "started backend finds nothing after all", backends: backends{"mpi": &fake{Detection: group.Detection{Available: true, Started: true}, err: group.ErrNotConfigured}}, want: "single"},

		{name: "named", backends: backends{"ring": started(1, 2), "mpi": started(2, 2)}, cfg: group.Config{Backend: "ring"}, want: "ring"},
		{name: "named, absent", backends: backends{"ring": idle(1)}, cfg: group.Config{Backend: "ring"}, want: "single"},
		{name: "named, absent, strict", backends: backends{"ring": idle(1)}, cfg: group.Config{Backend: "ring", Strict: true}, fails: []string{"fake: FAKE is not set"}},
		{name: "named, not built", backends: backends{"mpi": absent(1)}, cfg: group.Config{Backend: "mpi"}, want: "single"},
		{name: "named, not built, strict", backends: backends{"mpi": absent(1)}, cfg: group.Config{Backend: "mpi", Strict: true}, fails: []string{"mpi: built without it"}},
		{name: "named, not the one that was started", backends: backends{"mpi": idle(1)}, cfg: group.Config{Backend: "mpi"},
			env: variables{"MLX_RANK": "0", "MLX_HOSTFILE": "/h"}, fails: []string{"one of several", "MLX_RANK=0", "FAKE is not set"}},
		{name: "named, wrong", backends: backends{"ring": failing(1, "MLX_RANK is \"-1\"")}, cfg: group.Config{Backend: "ring"}, fails: []string{"MLX_RANK is \"-1\""}},
		{name: "unknown", row: "G2", backends: backends{"ring": idle(1), "mpi": idle(2)}, cfg: group.Config{Backend: "nonsense"}, fails: []string{`"nonsense"`, "any, mpi, ring"}},
		{name: "unknown, nothing linked in", cfg: group.Config{Backend: "ring"}, fails: []string{`"ring"`, "group/all"}},

		{name: "variable names one", backends: backends{"ring": started(1, 2), "mpi": started(2, 2)}, env: variables{"LOCKSTEP_BACKEND": "ring"}, want: "ring"},
		{name: "variable says any", backends: backends{"ring": started(1, 2), "mpi": started(2, 2)}, env: variables{"LOCKSTEP_BACKEND": "any"}, want: "mpi"},
		{name: "variable is empty", backends: backends{"ring": started(1, 2)}, env: variables{"LOCKSTEP_BACKEND": ""}, fails: []string{`LOCKSTEP_BACKEND is ""`}},
		{name: "variable is unknown", backends: backends{"ring": started(1, 2)}, env: variables{"LOCKSTEP_BACKEND": "nccl"}, fails: []string{"LOCKSTEP_BACKEND", `"nccl"`, "any, ring"}},
		{name: "program's choice beats the variable", backends: backends{"ring": started(1, 2), "mpi": started(2, 2)}, env: variables{"LOCKSTEP_BACKEND": "ring"}, cfg: group.Config{Backend: "mpi"}, want: "mpi"},

		{name: "negative timeout", cfg: group.Config{Timeout: -time.Second}, fails: []string{"negative timeout", "-1s"}},
		{name: "negative connect timeout", cfg: group.Config{ConnectTimeout: -time.Second}, fails: []string{"negative timeout", "-1s"}},
		{name: "timeout variable is wrong", env: variables{"LOCKSTEP_TIMEOUT": "soon"}, fails: []string{`LOCKSTEP_TIMEOUT is "soon"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.row != "" {
				conform.Row(t, c.row)
			}
			using(t, c.backends)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			g, err := group.Init(background(), c.cfg)
			if c.fails != nil {
				wantError(t, err, append(c.fails, "group: init: ")...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g.Backend() != c.want {
				t.Errorf("backend %q, want %q", g.Backend(), c.want)
			}
			if g.Rank() != 0 || g.Size() < 1 {
				t.Errorf("rank %d of %d", g.Rank(), g.Size())
			}
		})
	}
}

func TestInitHandsOutCompleteConfig(t *testing.T) {
	ring := started(1, 2)
	using(t, backends{"ring": ring})
	t.Setenv("LOCKSTEP_TIMEOUT", "90s")
	if _, err := group.Init(background(), group.Config{}); err != nil {
		t.Fatal(err)
	}
	if cfg := ring.cfg; cfg.Timeout != 90*time.Second || cfg.ConnectTimeout != time.Minute || cfg.Backend != "ring" || cfg.Logger == nil {
		t.Errorf("backend got %+v", cfg)
	}
}

func TestInitTwiceGivesTheSameGroup(t *testing.T) {
	conform.Row(t, "G5", "G6")
	ring, mpi := started(1, 2), started(2, 3)
	using(t, backends{"ring": ring, "mpi": mpi})
	initialise := func(name string) *group.Group {
		g, err := group.Init(background(), group.Config{Backend: name})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	first := initialise("ring")
	if initialise("ring") != first || initialise("") != first || initialise("any") != first {
		t.Error("a second Init made another group")
	}
	if second := initialise("mpi"); second == first || second.Size() != 3 {
		t.Errorf("mpi gives a group of %d", second.Size())
	}
	if initialise("any") != first || group.Default() != first {
		t.Error("the first group is not the default any more")
	}
	if ring.inits.Load() != 1 || mpi.inits.Load() != 1 {
		t.Errorf("connected %d and %d times", ring.inits.Load(), mpi.inits.Load())
	}
}

func TestInitRemembersNoFailure(t *testing.T) {
	conform.Row(t, "G8")
	ring := idle(1)
	using(t, backends{"ring": ring})
	if g, err := group.Init(background(), group.Config{Backend: "ring"}); err != nil || g != group.Single() {
		t.Fatalf("not configured: %v, %v", g, err)
	}
	if _, err := group.Init(background(), group.Config{Backend: "ring", Strict: true}); err == nil {
		t.Error("strict Init after a forgiving one found a world")
	}
	ring.err, ring.size = nil, 2
	if g, err := group.Init(background(), group.Config{Backend: "ring"}); err != nil || g.Size() != 2 {
		t.Errorf("once configured: %v", err)
	}
}

func TestInitAfterClose(t *testing.T) {
	using(t, backends{"ring": started(1, 2)})
	first, err := group.Init(background(), group.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := group.Default().Barrier(background()); !errors.Is(err, group.ErrClosed) {
		t.Errorf("closed default group: %v", err)
	}
	second, err := group.Init(background(), group.Config{})
	if err != nil || second == first || group.Default() != second {
		t.Errorf("Init after Close: same %v, default %v, %v", second == first, group.Default() == second, err)
	}
}

func TestInitConcurrently(t *testing.T) {
	ring := started(1, 2)
	using(t, backends{"ring": ring})
	got := make([]*group.Group, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = group.Init(background(), group.Config{}) })
	}
	wg.Wait()
	for i, g := range got {
		if g == nil || g != got[0] {
			t.Errorf("call %d got another group", i)
		}
	}
	if n := ring.inits.Load(); n != 1 {
		t.Errorf("connected %d times", n)
	}
}

func TestInitEndsWithContext(t *testing.T) {
	using(t, backends{"ring": started(1, 2)})
	ctx, cancel := context.WithCancelCause(background())
	cancel(errors.New("no patience"))
	_, err := group.Init(ctx, group.Config{})
	wantError(t, err, "group: init", "no patience")
}

func TestDefault(t *testing.T) {
	conform.Row(t, "G9")
	using(t, nil)
	if group.Default() != group.Single() {
		t.Error("default is not the group of one")
	}
	g := world(t, 2, nil)[1]
	group.SetDefault(g)
	if group.Default() != g {
		t.Error("SetDefault has no effect")
	}
	group.SetDefault(nil)
	if group.Default() != group.Single() {
		t.Error("SetDefault(nil) does not restore the group of one")
	}
}

func TestInitKeepsTheUsersDefault(t *testing.T) {
	using(t, backends{"ring": started(1, 2)})
	mine := world(t, 2, nil)[1]
	group.SetDefault(mine)
	if _, err := group.Init(background(), group.Config{}); err != nil {
		t.Fatal(err)
	}
	if group.Default() != mine {
		t.Error("Init replaced the group that SetDefault chose")
	}
}

func TestRegistry(t *testing.T) {
	conform.Row(t, "G1")
	using(t, backends{})
	group.Register("b", idle(1))
	group.Register("a", absent(1))
	if got := fmt.Sprint(group.Backends()); got != "[a b]" {
		t.Errorf("backends %v", got)
	}
	for name, want := range map[string]bool{"any": true, "b": true, "a": false, "nonsense": false, "nccl": false, "": false} {
		if got := group.IsAvailable(name); got != want {
			t.Errorf("IsAvailable(%q) = %v", name, got)
		}
	}
	for name, register := range map[string]func(){
		"twice": func() { group.Register("a", idle(1)) },
		"nil":   func() { group.Register("c", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("registering %s does not panic", name)
				}
			}()
			register()
		}()
	}
}
