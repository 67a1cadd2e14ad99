package ring

import (
	"fmt"
	"net"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
)

// TestTrafficOfAReduction counts what passes before the ports of all ranks: each of them sends and receives
// 2(N-1)/N of the data, and a little more for heads.
func TestTrafficOfAReduction(t *testing.T) {
	const bytes = 4 << 20
	for _, n := range []int{2, 3, 4} {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			conform.Row(t, "B8")
			listeners, addrs, proxies := make([]net.Listener, n), make([]string, n), make([]*proxy, n)
			for r := range n {
				listeners[r] = listenLocal(t)
				proxies[r] = newProxy(t, listeners[r])
				addrs[r] = proxies[r].front.Addr().String()
			}
			comms := join2(t, listeners, addrs, Config{NoSharedMemory: true})
			passed := func() (sum int64) {
				for _, p := range proxies {
					sum += p.bytes.Load()
				}
				return sum
			}
			sumAll(t, comms)
			before := passed()
			everyRank(n, func(r int) {
				if err := comms[r].AllReduce(t.Context(), group.Sum, dtype.Float32, make([]byte, bytes)); err != nil {
					t.Error(err)
				}
			})
			got, want := passed()-before, int64(2*(n-1)*bytes)
			if got < want || got > want+want/50 {
				t.Errorf("%d bytes passed, want %d and at most 2%% more", got, want)
			}
		})
	}
}

// TestWorldsOfOneProcess has several worlds in this process at once, all on ports that the system chose.
func TestWorldsOfOneProcess(t *testing.T) {
	conform.Row(t, "B1")
	worlds := map[int][]group.Communicator{}
	for _, n := range []int{1, 2, 3, 5} {
		worlds[n] = makeWorld(t, n, Config{})
	}
	for n, comms := range worlds {
		everyRank(n, func(r int) {
			g := group.New(comms[r])
			if g.Rank() != r || g.Size() != n || g == group.Default() {
				t.Errorf("rank %d of %d is rank %d of %d", r, n, g.Rank(), g.Size())
			}
			ranks, err := group.AllGather(t.Context(), g, []int32{int32(r)})
			for want, got := range ranks {
				if int(got) != want {
					t.Errorf("rank %d of %d gathered %v, %v", r, n, ranks, err)
				}
			}
			if len(ranks) != n {
				t.Errorf("rank %d of %d gathered %v, %v", r, n, ranks, err)
			}
		})
	}
}

func TestASlowReceiver(t *testing.T) {
	skipInShort(t)
	conform.Row(t, "B19")
	comms := makeWorld(t, 2, Config{})
	everyRank(2, func(r int) {
		if err := grouptest.SlowReceiver(t.Context(), comms[r]); err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	})
}
