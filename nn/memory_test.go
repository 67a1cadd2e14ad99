//go:build !world

package nn_test

import (
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// most is the size of the largest world.
const most = 32

// world runs f as every rank of a world of n.
func world(t *testing.T, n int, f func(g *group.Group)) {
	t.Helper()
	var wait sync.WaitGroup
	for _, comm := range grouptest.NewWorld(n) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: 10 * time.Second})
			defer g.Close()
			f(g)
		})
	}
	wait.Wait()
}
