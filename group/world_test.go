package group_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// bare hides what a communicator can do beyond the seven methods.
type bare struct{ group.Communicator }

// kinds are the worlds over which collectives are tested: one that compares
// fingerprints itself, and one for which the group composes everything.
var kinds = map[string]func(group.Communicator) group.Communicator{
	"able": func(c group.Communicator) group.Communicator { return c },
	"bare": func(c group.Communicator) group.Communicator { return bare{c} },
}

var quiet = slog.New(slog.DiscardHandler)

var sizes = []int{1, 2, 3, 4, 8}

// world returns the groups of n ranks in this process, closed after the test.
func world(t testing.TB, n int, wrap func(group.Communicator) group.Communicator) []*group.Group {
	t.Helper()
	var gs []*group.Group
	for _, comm := range grouptest.NewWorld(n) {
		if wrap != nil {
			comm = wrap(comm)
		}
		gs = append(gs, group.NewWith(comm, group.Config{Logger: quiet}))
	}
	t.Cleanup(func() {
		for _, g := range gs {
			_ = g.Close()
		}
	})
	return gs
}

// together runs do for every rank at once and returns the errors by rank.
func together(gs []*group.Group, do func(g *group.Group) error) []error {
	errs := make([]error, len(gs))
	var wg sync.WaitGroup
	for i, g := range gs {
		wg.Go(func() { errs[i] = do(g) })
	}
	wg.Wait()
	return errs
}

// must runs do for every rank at once and fails the test on any error.
func must(t *testing.T, gs []*group.Group, do func(g *group.Group) error) {
	t.Helper()
	if err := errors.Join(together(gs, do)...); err != nil {
		t.Fatal(err)
	}
}

// everywhere runs a test over every kind and size of world.
func everywhere(t *testing.T, test func(t *testing.T, gs []*group.Group)) {
	for _, kind := range []string{"able", "bare"} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s world of %d", kind, n), func(t *testing.T) {
				test(t, world(t, n, kinds[kind]))
			})
		}
	}
}

// wantError checks that err holds every one of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

func background() context.Context { return context.Background() }
