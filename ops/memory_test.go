//go:build !world

package ops_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// most is the largest number of ranks that a world can have.
const most = math.MaxInt

// large is the length in bytes of a message of many among n ranks.
func large(n int) int { return 8 << 20 / n }

// patience is how long operations may wait for peers; only what hangs spends it.
const patience = time.Minute

// world runs f as every rank of a group of n, all in this process.
func world(t *testing.T, n int, f func(r rank)) { patientWorld(t, n, patience, f) }

// patientWorld is world with another deadline for operations.
func patientWorld(t *testing.T, n int, timeout time.Duration, f func(r rank)) {
	t.Helper()
	var wait sync.WaitGroup
	meet := meeting(n)
	for i, comm := range grouptest.NewWorld(n) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: timeout})
			defer g.Close()
			ctx := array.WithStream(t.Context())
			f(rank{t, g, i, ctx, meet})
			array.Synchronize(ctx)
		})
	}
	wait.Wait()
}

// meeting makes a function in which n goroutines wait for each other, time and again.
func meeting(n int) func() {
	var mu sync.Mutex
	here, all := 0, make(chan struct{})
	return func() {
		mu.Lock()
		opened := all
		if here++; here == n {
			here, all = 0, make(chan struct{})
			close(opened)
		}
		mu.Unlock()
		<-opened
	}
}
