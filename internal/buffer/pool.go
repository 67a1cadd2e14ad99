package buffer

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// block is memory in a slab or with a mapping of its own.
type block struct {
	mapping
	slab  *slab // nil for a mapping of its own
	class int
}

// slab is a mapping that is cut into blocks of one class, from the front.
type slab struct {
	mapping
	cut  int // bytes
	used int // blocks taken
}

// mapping is memory from the system, or from Go's heap.
type mapping struct {
	bytes  []byte
	system bool
}

// Stats are bytes of pooled buffers: those in use, the most that were in use at
// once, and those kept to be used again.
type Stats struct{ Active, Peak, Cached int64 }

// pool keeps the blocks that are not in use. Memory that is in use is reachable
// through Buffers alone; the collector, which cannot see how much that is, is
// called when it has grown.
type pool struct {
	mu      sync.Mutex
	free    [classes][]*block
	slabs   [classes]*slab // the one that new blocks are cut from
	large   []*block       // by size
	stats   Stats
	limit   int64 // of Stats.Cached; below 0 until it is first asked for
	collect int64 // bytes in use at which the collector is called
}

var memory = &pool{limit: -1, collect: mark(0)}

// growth is how many more bytes come into use, at least, before the collector is
// called again.
const growth = 128 << 20

// take returns a block of n bytes or more.
func (p *pool) take(n int) *block {
	p.mu.Lock()
	if p.stats.Active+int64(n) > p.collect {
		p.mu.Unlock()
		p.collectGarbage()
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	k := p.find(n)
	p.stats.Active += int64(len(k.bytes))
	p.stats.Peak = max(p.stats.Peak, p.stats.Active)
	if poison {
		fill(k.bytes)
	}
	return k
}

func (p *pool) find(n int) *block {
	if n > largest {
		return p.findLarge(n)
	}
	class := classOf(n)
	if free := p.free[class]; len(free) > 0 {
		k := free[len(free)-1]
		free[len(free)-1] = nil
		p.free[class] = free[:len(free)-1]
		p.stats.Cached -= int64(len(k.bytes))
		k.slab.used++
		return k
	}
	return p.cut(class)
}

// cut makes a new block of a slab's unused end.
func (p *pool) cut(class int) *block {
	size := classBytes(class)
	s := p.slabs[class]
	if s == nil || s.cut+size > len(s.bytes) {
		s = &slab{mapping: newSlab(size)}
		p.slabs[class] = s
	}
	k := &block{mapping: mapping{bytes: s.bytes[s.cut : s.cut+size : s.cut+size]}, slab: s, class: class}
	s.cut += size
	s.used++
	return k
}

// newSlab lets small blocks share less memory than large ones, and the smallest that of
// Go's heap.
func newSlab(block int) mapping {
	switch {
	case block < smallest:
		return mapping{bytes: Make(smallSlabBytes)}
	case block <= pageBytes/32:
		return mapMemory(pageBytes)
	}
	return mapMemory(slabBytes)
}

// findLarge takes the smallest mapping that has n bytes and not a quarter more
// than these need.
func (p *pool) findLarge(n int) *block {
	size := pages(n)
	i, _ := slices.BinarySearchFunc(p.large, size, func(k *block, size int) int { return len(k.bytes) - size })
	if i < len(p.large) && len(p.large[i].bytes) <= size+size/4 {
		k := p.large[i]
		p.large = slices.Delete(p.large, i, i+1)
		p.stats.Cached -= int64(len(k.bytes))
		return k
	}
	return &block{mapping: mapMemory(size)}
}

// giveBack takes a block that nothing refers to any more.
func (p *pool) giveBack(k *block) {
	if poison {
		fill(k.bytes)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	size := int64(len(k.bytes))
	p.stats.Active -= size
	p.stats.Cached += size
	if k.slab == nil {
		i, _ := slices.BinarySearchFunc(p.large, k, func(a, b *block) int { return len(a.bytes) - len(b.bytes) })
		p.large = slices.Insert(p.large, i, k)
	} else {
		k.slab.used--
		p.free[k.class] = append(p.free[k.class], k)
	}
	if p.stats.Cached > p.cacheLimit() {
		p.trim(p.cacheLimit())
	}
}

// lose forgets a block that stays in use for ever.
func (p *pool) lose(k *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Active -= int64(len(k.bytes))
	lost = append(lost, k)
}

// lost keeps what must not be used again from the collector.
var lost []*block

// trim gives memory back to the system until at most limit bytes are cached, or
// nothing more can be given back: a slab can once none of its blocks is in use.
func (p *pool) trim(limit int64) {
	for len(p.large) > 0 && p.stats.Cached > limit {
		k := p.large[len(p.large)-1]
		p.large[len(p.large)-1] = nil
		p.large = p.large[:len(p.large)-1]
		p.stats.Cached -= int64(len(k.bytes))
		k.unmap()
	}
	for class := classes - 1; class >= 0 && p.stats.Cached > limit; class-- {
		p.trimClass(class, limit)
	}
}

func (p *pool) trimClass(class int, limit int64) {
	gone := map[*slab]bool{}
	p.free[class] = slices.DeleteFunc(p.free[class], func(k *block) bool {
		if k.slab.used > 0 || p.stats.Cached <= limit && !gone[k.slab] {
			return false
		}
		gone[k.slab] = true
		p.stats.Cached -= int64(len(k.bytes))
		return true
	})
	if gone[p.slabs[class]] {
		p.slabs[class] = nil
	}
	for s := range gone {
		s.unmap()
	}
}

// collectGarbage lets the collector find buffers that nothing points to, waits
// until they have come back, and sets the mark for the next time. The mark moves
// first, so that others do not collect as well.
func (p *pool) collectGarbage() {
	set := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.collect = mark(p.stats.Active)
	}
	set()
	Collect()
	set()
}

// mark is how many bytes in use call the collector, when so many are left by it.
func mark(active int64) int64 {
	if poison {
		return active + 8<<20
	}
	return active + max(growth, active)
}

// Collect runs the collector, so that buffers which nothing points to are given
// back before it returns.
func Collect() {
	done := make(chan struct{})
	runtime.AddCleanup(&sentinel{}, func(done chan struct{}) { close(done) }, done)
	runtime.GC()
	end := time.After(50 * time.Millisecond)
	select {
	case <-done:
	case <-end:
	}
	// Several goroutines run the cleanups that the collector has found.
	for last := int64(-1); last != ReadStats().Active; {
		last = ReadStats().Active
		select {
		case <-time.After(200 * time.Microsecond):
		case <-end:
			return
		}
	}
}

// sentinel is large enough not to share its memory with others.
type sentinel struct{ _ [64]byte }

// CheckEnvironment says what is wrong with LOCKSTEP_CACHE_LIMIT.
var CheckEnvironment = sync.OnceValue(func() error {
	_, _, err := env.LookupCacheLimit()
	return err
})

func (p *pool) cacheLimit() int64 {
	if p.limit < 0 {
		p.limit = initialLimit()
	}
	return p.limit
}

// initialLimit is what LOCKSTEP_CACHE_LIMIT says, else half of the machine's memory.
func initialLimit() int64 {
	if limit, set, err := env.LookupCacheLimit(); set && err == nil {
		return limit
	}
	return machineMemory() / 2
}

// ReadStats returns the present figures.
func ReadStats() Stats {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	return memory.stats
}

// ResetPeak starts the measurement of Stats.Peak anew.
func ResetPeak() {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	memory.stats.Peak = memory.stats.Active
}

// SetCacheLimit sets how many bytes are kept to be used again and returns the
// limit before.
func SetCacheLimit(bytes int64) (before int64) {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	before = memory.cacheLimit()
	memory.limit = max(0, bytes)
	memory.trim(memory.limit)
	return before
}

// Trim gives all memory back to the system that is kept to be used again.
func Trim() {
	memory.mu.Lock()
	defer memory.mu.Unlock()
	memory.trim(0)
}

// defaultMemory is assumed of a machine that cannot be asked.
const defaultMemory = 4 << 30

func fill(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}
