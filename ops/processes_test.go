//go:build world

package ops_test

import (
	"os"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// everyone is the group of all processes that were started together, and most their number.
var (
	everyone *group.Group
	most     int
)

// large is the length in bytes of a message of many among n ranks.
func large(n int) int { return 128 << 20 / n }

// patience is how long operations may wait for peers; only what hangs spends it.
const patience = time.Minute

// The binary is started as many processes, by launch or mpirun, and each is one rank.
func TestMain(m *testing.M) {
	os.Exit(grouptest.Main(m, time.Minute, func(g *group.Group) { everyone, most = g, g.Size() }))
}

// world runs f as this process's rank of a group of n. The other processes go on.
func world(t *testing.T, n int, f func(r rank)) { patientWorld(t, n, patience, f) }

// patientWorld is world with another deadline for operations.
func patientWorld(t *testing.T, n int, timeout time.Duration, f func(r rank)) {
	t.Helper()
	switch {
	case n > most:
		t.Skipf("a world of %d ranks is too small", most)
	case most == 1:
		f(rank{t, everyone, 0, array.WithStream(t.Context()), func() {}})
		return
	}
	part, err := everyone.Split(t.Context(), color(n), 0) // for meet
	if err != nil {
		t.Fatal(err)
	}
	if part.Size() == 0 {
		_, err := everyone.Communicator().(group.Splitter).Split(t.Context(), group.NoColor, 0)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	defer part.Close()
	comm, err := everyone.Communicator().(group.Splitter).Split(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := group.NewWith(comm, group.Config{Backend: everyone.Backend(), Timeout: timeout})
	defer g.Close()
	ctx := array.WithStream(t.Context())
	f(rank{t, g, g.Rank(), ctx, func() {
		if err := part.Barrier(t.Context()); err != nil {
			t.Error(err)
		}
	}})
	array.Synchronize(ctx)
}

func color(n int) int {
	if everyone.Rank() < n {
		return 0
	}
	return group.NoColor
}
