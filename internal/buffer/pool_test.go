package buffer

import (
	"runtime"
	"slices"
	"sync"
	"testing"
)

func TestClassesHoldWhatTheyAreFor(t *testing.T) {
	for n := 1; n <= largest; n += 1 + n/97 {
		c := classOf(n)
		switch size := classBytes(c); {
		case c < 0 || c >= classes:
			t.Fatalf("%d bytes have class %d of %d", n, c, classes)
		case size < n || size%alignment != 0:
			t.Fatalf("%d bytes get %d", n, size)
		case c > 0 && classBytes(c-1) >= n && classBytes(c-1) != size:
			t.Fatalf("%d bytes get %d, though there is a class of %d", n, size, classBytes(c-1))
		case size > n+n/4+alignment:
			t.Fatalf("%d bytes get %d, more than a quarter too much", n, size)
		}
	}
	if c := classOf(largest); c != classes-1 || classBytes(c) != largest {
		t.Errorf("the last class is %d of %d bytes", c, classBytes(c))
	}
}

// sizes are of a class, on its border, and of mappings of their own.
var sizes = []int{smallest, smallest + 1, 100_000, largest, largest + 1, 3*largest + 5}

func TestReleasedMemoryIsUsedAgain(t *testing.T) {
	p := &pool{limit: 1 << 40, collect: 1 << 40}
	for _, n := range sizes {
		first := p.take(n)
		if len(first.bytes) < n {
			t.Fatalf("%d bytes for %d", len(first.bytes), n)
		}
		p.giveBack(first)
		if again := p.take(n); again != first {
			t.Errorf("%d bytes: released memory was not used again", n)
		}
	}
}

func TestBlocksDoNotOverlap(t *testing.T) {
	p := &pool{limit: 1 << 40, collect: 1 << 40}
	var taken []*block
	for i := range 200 {
		k := p.take(sizes[i%4])
		for j := range k.bytes {
			k.bytes[j] = byte(i)
		}
		taken = append(taken, k)
	}
	for i, k := range taken {
		if at := slices.IndexFunc(k.bytes, func(b byte) bool { return b != byte(i) }); at >= 0 {
			t.Fatalf("block %d holds %d at %d", i, k.bytes[at], at)
		}
	}
}

func TestStatsCountWhatIsInUseAndKept(t *testing.T) {
	p := &pool{limit: 1 << 40, collect: 1 << 40}
	a, b := p.take(pageBytes), p.take(3*pageBytes)
	if want := (Stats{4 * pageBytes, 4 * pageBytes, 0}); p.stats != want {
		t.Errorf("two in use: %+v, want %+v", p.stats, want)
	}
	p.giveBack(a)
	p.giveBack(b)
	if want := (Stats{0, 4 * pageBytes, 4 * pageBytes}); p.stats != want {
		t.Errorf("none in use: %+v, want %+v", p.stats, want)
	}
	p.trim(0)
	if want := (Stats{0, 4 * pageBytes, 0}); p.stats != want {
		t.Errorf("trimmed: %+v, want %+v", p.stats, want)
	}
}

func TestTrimLeavesSlabsInUse(t *testing.T) {
	p := &pool{limit: 1 << 40, collect: 1 << 40}
	kept, given := p.take(100_000), p.take(100_000)
	kept.bytes[0] = 7
	p.giveBack(given)
	p.trim(0)
	if p.stats.Cached == 0 || kept.bytes[0] != 7 {
		t.Errorf("a slab in use was given back: %+v", p.stats)
	}
	p.giveBack(kept)
	p.trim(0)
	if p.stats.Cached != 0 || p.stats.Active != 0 {
		t.Errorf("an unused slab was kept: %+v", p.stats)
	}
	if again := p.take(100_000); len(again.bytes) < 100_000 {
		t.Error("nothing after the trim")
	}
}

func TestLimitOfWhatIsKept(t *testing.T) {
	p := &pool{limit: 2 * pageBytes, collect: 1 << 40}
	var taken []*block
	for range 4 {
		taken = append(taken, p.take(largest+1))
	}
	for _, k := range taken {
		p.giveBack(k)
		if p.stats.Cached > p.limit {
			t.Errorf("%d bytes are kept, the limit is %d", p.stats.Cached, p.limit)
		}
	}
}

func TestTheLastReferenceGivesBack(t *testing.T) {
	b := New(100_000)
	before := ReadStats().Active
	b.Retain()
	b.Release()
	if ReadStats().Active != before || b.Bytes() == nil {
		t.Error("given back with a reference left")
	}
	b.Release()
	if ReadStats().Active >= before {
		t.Error("not given back by the last reference")
	}
}

func TestTheCollectorGivesBack(t *testing.T) {
	Collect()
	before := ReadStats().Active
	New(largest).Bytes()[0] = 1
	kept := New(largest)
	Collect()
	if after := ReadStats().Active; after != before+largest {
		t.Errorf("%d bytes in use after, %d before; one of two buffers of %d is reachable", after, before, largest)
	}
	runtime.KeepAlive(kept)
}

func TestGrowthCallsTheCollector(t *testing.T) {
	Collect()
	before := ReadStats().Active
	for range 4 * growth / largest {
		New(largest)
		if now := ReadStats().Active; now > before+2*growth {
			t.Fatalf("%d bytes in use that nothing points to", now)
		}
	}
}

func TestAbandonedMemoryIsNeverUsedAgain(t *testing.T) {
	b := New(largest - 100)
	mine := &b.Bytes()[0]
	b.Abandon()
	b.Release()
	b = nil
	Collect()
	for range 100 {
		if c := New(largest - 100); &c.Bytes()[0] == mine {
			t.Fatal("abandoned memory was used again")
		}
	}
}

func TestMemoryIsAbandonedOnce(t *testing.T) {
	before := ReadStats().Active
	b := New(largest)
	for range 3 {
		b.Abandon()
		b.Release()
	}
	if after := ReadStats().Active; after != before {
		t.Errorf("%d bytes in use after, %d before", after, before)
	}
}

func TestManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 60 {
				b := New(smallest << (i % 6))
				for j := range b.Bytes() {
					b.Bytes()[j] = byte(g)
				}
				if slices.ContainsFunc(b.Bytes(), func(x byte) bool { return x != byte(g) }) {
					t.Error("shared memory")
				}
				if i%3 > 0 {
					b.Release()
				}
			}
		})
	}
	all.Wait()
}
