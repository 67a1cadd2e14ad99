package ring

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

func TestConformanceOverTheNeighbourRing(t *testing.T) {
	skipInShort(t)
	grouptest.RunPartialSums(t, func(t *testing.T, n int) []group.Communicator {
		if n == 4 || n == 8 {
			return nil
		}
		return newWorld(t, n, Config{Topology: "ring"})
	})
}

// TestConformanceByHosts has two ranks take themselves for a host, and the next
// one or two for another; the hosts of five ranks are uneven and interleaved.
func TestConformanceByHosts(t *testing.T) {
	skipInShort(t)
	grouptest.RunPartialSums(t, func(t *testing.T, n int) []group.Communicator {
		hosts := map[int]string{3: "aab", 4: "aabb", 5: "abcab"}[n]
		if hosts == "" {
			return nil
		}
		return worldOf(t, n, func(r int) Config { return Config{Reduce: "hierarchical", host: hosts[r : r+1]} })
	})
}

// TestConformanceInLevels is the whole suite, bits and all, over ranks that take
// themselves for two or three hosts, even and uneven, in and out of order.
func TestConformanceInLevels(t *testing.T) {
	skipInShort(t)
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		hosts := map[int]string{3: "aab", 4: "abab", 5: "abcab"}[n]
		if hosts == "" {
			return nil
		}
		return worldOf(t, n, func(r int) Config { return Config{NoSharedMemory: n == 4, host: hosts[r : r+1]} })
	})
}

// TestConformanceOfForcedSchedules goes both ways at every size.
func TestConformanceOfForcedSchedules(t *testing.T) {
	skipInShort(t)
	for _, schedule := range []string{"doubling", "sliced"} {
		t.Run(schedule, func(t *testing.T) {
			grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
				if n != 3 {
					return nil
				}
				return newWorld(t, n, Config{NoSharedMemory: true, Schedule: schedule})
			})
		})
	}
}

// skipInShort leaves out what takes minutes under the race detector and has no
// goroutines of its own.
func skipInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: the other suites have the same goroutines")
	}
}

// worldOf is a world in this process whose ranks have configurations of their own.
func worldOf(t *testing.T, n int, cfg func(r int) Config) []group.Communicator {
	t.Helper()
	comms, err := tryWorldOf(t, n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return comms
}

func tryWorldOf(t *testing.T, n int, cfg func(r int) Config) ([]group.Communicator, error) {
	t.Helper()
	listeners, addrs := make([]net.Listener, n), make([]string, n)
	for r := range n {
		listeners[r] = listenLocal(t)
		addrs[r] = listeners[r].Addr().String()
	}
	comms, errs := make([]group.Communicator, n), make([]error, n)
	everyRank(n, func(r int) {
		comms[r], errs[r] = FromListener(t.Context(), r, n, listeners[r], addrs, cfg(r))
	})
	return comms, errors.Join(errs...)
}

// TestSettingsDiffer gives one rank of three other settings: every rank, also the
// two that agree, gets an error that names them, long before any deadline.
func TestSettingsDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		odd  Config
		want string
	}{
		"topology": {Config{Topology: "ring"}, "topology=ring"},
		"reduce":   {Config{Reduce: "hierarchical"}, "reduce=hierarchical"},
		"schedule": {Config{Schedule: "sliced"}, "schedule=sliced"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := tryWorldOf(t, 3, func(r int) Config {
				if r == 1 {
					return c.odd
				}
				return Config{}
			})
			if err == nil {
				t.Fatal("a world was formed")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != 3 {
				t.Errorf("%d errors, want one for each rank:\n%v", len(lines), err)
			}
			for _, line := range lines {
				for _, want := range []string{"different ways", "ranks 0,2 have topology=direct reduce=originals schedule=auto", "rank 1 has ", c.want} {
					if !strings.Contains(line, want) {
						t.Errorf("%s\nwant %q in it", line, want)
					}
				}
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestWrongSettings(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"unknown topology":  {Config{Topology: "star"}, []string{"Topology", `"star"`, "direct, ring"}},
		"unknown reduction": {Config{Reduce: "tree"}, []string{"Reduce", `"tree"`, "originals, hierarchical"}},
		"unknown schedule":  {Config{Schedule: "fast"}, []string{"Schedule", `"fast"`, "auto, doubling, sliced"}},
		"ring of hosts":     {Config{Topology: "ring", Reduce: "hierarchical"}, []string{"topology=ring", "reduce=hierarchical", "exclude"}},
		"ring by doubling":  {Config{Topology: "ring", Schedule: "doubling"}, []string{"topology=ring", "schedule=doubling"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Local(t.Context(), 2, c.cfg)
			wantError(t, err, c.want...)
		})
	}
}

// TestChoice is what docs/algorithms.md says about the choice.
func TestChoice(t *testing.T) {
	direct := surroundings{topology: "direct", reduce: "originals", schedule: "auto"}
	of := func(change func(*surroundings), ranks int) surroundings {
		s := direct
		s.ranks = ranks
		if change != nil {
			change(&s)
		}
		return s
	}
	shared := func(s *surroundings) { s.shared = true }
	ring := func(s *surroundings) { s.topology = "ring" }
	hosts := func(s *surroundings) { s.levels, s.reduce = true, "hierarchical" }
	levels := func(s *surroundings) { s.levels = true }
	oneHost := func(s *surroundings) { s.shared, s.reduce = true, "hierarchical" }
	doubling := func(s *surroundings) { s.schedule = "doubling" }
	sliced := func(s *surroundings) { s.schedule = "sliced" }
	for _, c := range []struct {
		name  string
		kind  callKind
		bytes int
		in    surroundings
		want  way
	}{
		{"one host", allReduce, 1 << 20, of(shared, 4), byMemory},
		{"two ranks, 1 MiB", allReduce, 1 << 20, of(nil, 2), byDoubling},
		{"two ranks, more", allReduce, 1<<20 + 1, of(nil, 2), byPipeline},
		{"four ranks, 16 KiB", allGather, 16 << 10, of(nil, 4), byDoubling},
		{"four ranks, more", allGather, 16<<10 + 1, of(nil, 4), byDirect},
		{"five ranks, more than 4 KiB", allReduce, 4<<10 + 1, of(nil, 5), byPipeline},
		{"broadcast of any size", broadcast, 1 << 30, of(nil, 5), byDoubling},
		{"barrier", barrier, 0, of(nil, 5), byDoubling},
		{"all-to-all", allToAll, 8, of(nil, 5), byDirect},
		{"reduce-scatter", reduceScatter, 8, of(nil, 5), byPipeline},
		{"split is a small gather", split, 16, of(nil, 64), byDoubling},
		{"neighbours, whatever is shared", allReduce, 8, of(func(s *surroundings) { shared(s); ring(s) }, 4), byNeighbours},
		{"neighbours, everything", allToAll, 8, of(ring, 4), byNeighbours},
		{"one rank has no neighbours", allGather, 8, of(ring, 1), byDoubling},
		{"sums by hosts", allReduce, 8, of(hosts, 4), byHosts},
		{"scattered sums by hosts", reduceScatter, 8, of(hosts, 4), byHosts},
		{"short gathers know no hosts", allGather, 8, of(hosts, 4), byDoubling},
		{"long sums in two levels", allReduce, 16<<10 + 1, of(levels, 4), byTwoLevels},
		{"short sums do not", allReduce, 16 << 10, of(levels, 4), byDoubling},
		{"long gathers in two levels", allGather, 16<<10 + 1, of(levels, 4), byTwoLevels},
		{"long broadcasts in two levels", broadcast, 16<<10 + 1, of(levels, 4), byTwoLevels},
		{"scattered sums have nothing to save", reduceScatter, 1 << 20, of(levels, 4), byPipeline},
		{"nor has all-to-all", allToAll, 1 << 20, of(levels, 4), byDirect},
		{"forced slices over hosts", allReduce, 1 << 20, of(func(s *surroundings) { levels(s); sliced(s) }, 4), byPipeline},
		{"one host has one level", allReduce, 8, of(oneHost, 4), byMemory},
		{"forced doubling", allReduce, 1 << 30, of(doubling, 4), byDoubling},
		{"forced slices", allReduce, 8, of(sliced, 4), byPipeline},
		{"forced slices of a gather", allGather, 8, of(sliced, 4), byDirect},
		{"nothing to force in shared memory", allReduce, 8, of(func(s *surroundings) { shared(s); sliced(s) }, 4), byMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := choose(c.kind, c.bytes, c.in); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestChoiceIsLogged once for each kind of collective and power of two.
func TestChoiceIsLogged(t *testing.T) {
	var out lockedBuffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	comms := worldOf(t, 3, func(r int) Config {
		cfg := Config{Topology: "ring"}
		if r == 1 {
			cfg.Logger = log
		}
		return cfg
	})
	everyRank(3, func(r int) {
		defer comms[r].Close()
		for _, n := range []int{1024, 1028, 2044, 2048, 4, 1024} {
			if err := comms[r].AllReduce(t.Context(), group.Sum, dtype.Float32, make([]byte, n)); err != nil {
				t.Error(err)
			}
		}
	})
	if got := strings.Count(out.String(), `msg="ring: schedule"`); got != 3 {
		t.Errorf("%d lines, want 3:\n%s", got, out.String())
	}
	if want := `op=all_reduce bytes=1024 schedule="neighbour ring" ranks="[0 1 2]"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// TestWhoTalksToWhom sees that a rank of a neighbour ring has connections for
// collectives to the ranks beside it and to no others, and that hosts talk through
// their first ranks alone, but for a greeting between neighbours.
func TestWhoTalksToWhom(t *testing.T) {
	neighbours := func(a, b int) bool { return b == (a+1)%6 || a == (b+1)%6 }
	hosts := func(a, b int) bool { return a/3 == b/3 || a%3 == 0 && b%3 == 0 || neighbours(a, b) }
	two := func(r int) string { return fmt.Sprint(r / 3) }
	sum := func(t *testing.T, c group.Communicator) error {
		return c.AllReduce(t.Context(), group.Sum, dtype.Float32, make([]byte, 1<<20))
	}
	gather := func(t *testing.T, c group.Communicator) error {
		return c.AllGather(t.Context(), make([]byte, 1<<20), make([]byte, 6<<20))
	}
	broadcast := func(t *testing.T, c group.Communicator) error {
		return c.(*comm).Broadcast(t.Context(), 4, make([]byte, 1<<20))
	}
	for name, c := range map[string]struct {
		cfg  func(r int) Config
		call func(t *testing.T, c group.Communicator) error
		want func(a, b int) bool
	}{
		"sum round the ring":    {func(int) Config { return Config{Topology: "ring"} }, sum, neighbours},
		"gather round the ring": {func(int) Config { return Config{Topology: "ring"} }, gather, neighbours},
		"sum by hosts": {func(r int) Config {
			return Config{Reduce: "hierarchical", host: two(r), Schedule: "sliced", NoSharedMemory: true}
		}, sum, hosts},
		"gather in two levels":    {func(r int) Config { return Config{host: two(r), NoSharedMemory: true} }, gather, hosts},
		"broadcast in two levels": {func(r int) Config { return Config{host: two(r), NoSharedMemory: true} }, broadcast, hosts},
		"gather in two levels and shared memory": {func(r int) Config { return Config{host: two(r)} }, gather,
			func(a, b int) bool { return a%3 == 0 && b%3 == 0 || neighbours(a, b) }},
	} {
		t.Run(name, func(t *testing.T) {
			comms := worldOf(t, 6, c.cfg)
			everyRank(6, func(r int) {
				if err := c.call(t, comms[r]); err != nil {
					t.Error(err)
				}
			})
			for a := range 6 {
				for b, p := range comms[a].(*comm).peers {
					if p != nil && p.link != nil && !c.want(a, b) {
						t.Errorf("rank %d has a connection to rank %d", a, b)
					}
				}
			}
			everyRank(6, func(r int) { comms[r].Close() })
		})
	}
}
