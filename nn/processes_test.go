//go:build world

package nn_test

import (
	"os"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// everyone is the group of all processes that were started together, and most their number.
var (
	everyone *group.Group
	most     int
)

// The binary is started as many processes, by launch or mpirun, and each is one rank.
func TestMain(m *testing.M) {
	os.Exit(grouptest.Main(m, time.Minute, func(g *group.Group) { everyone, most = g, g.Size() }))
}

// world runs f as this process's rank of a group of n. The other processes go on.
func world(t *testing.T, n int, f func(g *group.Group)) {
	t.Helper()
	if n > most {
		t.Skipf("a world of %d ranks is too small", most)
	}
	color := 0
	if everyone.Rank() >= n {
		color = group.NoColor
	}
	g, err := everyone.Split(t.Context(), color, group.KeepRank)
	if err != nil {
		t.Fatal(err)
	}
	if g.Size() == 0 {
		return
	}
	if g != everyone { // which a split of one is
		defer g.Close()
	}
	f(g)
}
