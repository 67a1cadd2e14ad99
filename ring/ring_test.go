package ring

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

func TestConformance(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator { return newWorld(t, n, Config{}) })
}

func TestConformanceOverSockets(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		return newWorld(t, n, Config{NoSharedMemory: true})
	})
}

// TestConformanceOverPumps goes the way of systems other than Linux.
func TestConformanceOverPumps(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		return newWorld(t, n, Config{NoSharedMemory: true, portable: true})
	})
}

func newWorld(t *testing.T, n int, cfg Config) []group.Communicator {
	t.Helper()
	comms, err := Local(t.Context(), n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return comms
}

// makeWorld is newWorld that closes with the test.
func makeWorld(t *testing.T, n int, cfg Config) []group.Communicator {
	t.Helper()
	comms := newWorld(t, n, cfg)
	t.Cleanup(func() { everyRank(n, func(r int) { comms[r].Close() }) })
	return comms
}

// everyRank runs f for each rank at once and waits.
func everyRank(n int, f func(r int)) {
	var ranks sync.WaitGroup
	for r := range n {
		ranks.Go(func() { f(r) })
	}
	ranks.Wait()
}

func ExampleLocal() {
	ctx := context.Background()
	comms, err := Local(ctx, 3, Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	everyRank(3, func(r int) {
		defer comms[r].Close()
		data := []byte{byte(r), 10}
		if err := comms[r].AllReduce(ctx, group.Sum, dtype.Uint8, data); err != nil {
			fmt.Println(err)
		}
		if r == 0 {
			fmt.Println(data)
		}
	})
	// Output: [3 30]
}

func TestWorldOfNone(t *testing.T) {
	_, err := Local(t.Context(), 0, Config{})
	wantError(t, err, "0 ranks")
	_, err = Local(t.Context(), 2, Config{Timeout: -1})
	wantError(t, err, "negative")
}
