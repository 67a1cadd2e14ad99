//go:build cgo && mpi

package mpi

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
)

// sharesMemory compares what every rank has found. Where nobody was told to keep
// out, they share if the launcher says that all are on one host.
func sharesMemory(t *testing.T, c *comm) {
	here := []byte{0, 0}
	if c.shared != nil {
		here[0] = 1
	}
	if c.job.sharing {
		here[1] = 1
	}
	all := make([]byte, 2*c.size)
	if err := c.AllGather(t.Context(), here, all); err != nil {
		t.Fatal(err)
	}
	shared, willing := 0, 0
	for r := range c.size {
		shared, willing = shared+int(all[2*r]), willing+int(all[2*r+1])
	}
	want := 0
	if willing == c.size {
		want = c.size
	}
	oneHost := os.Getenv("OMPI_COMM_WORLD_LOCAL_SIZE") == os.Getenv("OMPI_COMM_WORLD_SIZE")
	if shared != want && (oneHost || shared != 0) {
		t.Errorf("%d of %d ranks share memory, %d of which may; want %d", shared, c.size, willing, want)
	}
}

// mapped counts the shared memory that this process sees.
func mapped() int {
	maps, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(maps), "memfd:lockstep")
}

// unmaps has splits end in two ways: closed, and broken before they are closed.
func unmaps(t *testing.T, c *comm) {
	before := mapped()
	for range 3 {
		child, err := c.Split(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		sumsOfOnes(t, child.(*comm), 100_000)
		if err := child.Close(); err != nil {
			t.Error(err)
		}
		if child, err = c.Split(t.Context(), 0, 0); err != nil {
			t.Fatal(err)
		}
		child.(group.Breaker).Break(errChanged)
		child.Close()
	}
	if after := mapped(); after != before {
		t.Errorf("%d mappings, %d before", after, before)
	}
}

// everyWay runs reductions of lengths around those at which shared memory is used
// in another way.
func everyWay(t *testing.T, c *comm) {
	for _, n := range onehost.Sizes(c.size) {
		sumsOfOnes(t, c, n)
		all := make([]byte, n*c.size)
		if err := c.AllGather(t.Context(), pattern(c.rank, n), all); err != nil {
			t.Fatal(err)
		}
		swapped := slices.Clone(all)
		if err := errors.Join(c.AllToAll(t.Context(), all, swapped), c.Broadcast(t.Context(), c.size-1, all)); err != nil {
			t.Fatal(err)
		}
		for r := range c.size {
			if !slices.Equal(slot(all, r, n), pattern(r, n)) || !slices.Equal(slot(swapped, r, n), pattern(c.rank, n)) {
				t.Fatalf("%d bytes with rank %d came wrong", n, r)
			}
		}
	}
}
