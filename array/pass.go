package array

import (
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
	"github.com/lockstep-go/lockstep/internal/par"
)

// pass computes a group of elementwise operations of one shape tile by tile: what
// they hand on to each other stays in the first-level cache.
type pass struct {
	n         int // elements
	tile      int // elements
	operands  []value
	walks     []walker // of the operands
	outputs   []value
	code      []tileOp
	registers int
	width     int  // bytes of an element in a register
	far       bool // operands are so long that they come from memory
}

// tileOp runs a loop on places: operands, then outputs, then registers.
type tileOp struct {
	loop  kernel.Loop
	in    []int
	sizes []int // bytes of an element of each operand
	out   int
	size  int // bytes of an element of the result
}

const (
	tileBytes  = 24 << 10 // for all registers
	mostTile   = 2048     // elements
	leastTile  = 256
	farBytes   = 1 << 20   // of an operand that does not stay in a near cache
	shareBytes = 256 << 10 // what one goroutine walks at least
)

// fuse makes one pass of operations in order. inner tells whether a store is only
// read by them.
func (b *programBuilder) fuse(ops []int, inner func(store int) bool) step {
	shape := b.ops[ops[0]].out[0].Shape
	p := &pass{n: layout.Size(shape)}
	w := &passWriter{pass: p, at: map[int]int{}, last: map[int]int{}}
	for _, i := range ops {
		for _, v := range b.ops[i].in {
			if maker := b.stores[v.store].maker; maker < 0 || !slices.Contains(ops, maker) {
				w.operand(v)
			}
			w.last[v.store] = i
		}
		if out := b.ops[i].out[0]; inner(out.store) {
			b.stores[out.store].kind = inRegister
		} else {
			p.outputs = append(p.outputs, out)
		}
	}
	for _, i := range ops {
		w.write(i, b.ops[i])
	}
	p.tile = w.tileSize()
	p.far = p.n*w.width >= farBytes && len(p.code) > 1
	for _, v := range p.operands {
		p.walks = append(p.walks, newWalker(v, p.tile))
	}
	return step{ops: ops, pass: p}
}

type passWriter struct {
	*pass
	at   map[int]int // place of the store that an operation of the pass has written
	last map[int]int // number of the last operation that reads a store
	free []int       // registers
}

func sameView(a, b value) bool {
	return a.store == b.store && a.Offset == b.Offset && a.DType == b.DType && slices.Equal(a.Strides, b.Strides)
}

func (w *passWriter) find(v value) int {
	return slices.IndexFunc(w.operands, func(o value) bool { return sameView(o, v) })
}

func (w *passWriter) operand(v value) {
	if w.find(v) < 0 {
		w.operands = append(w.operands, v)
	}
}

func (w *passWriter) write(i int, op *operation) {
	code := tileOp{loop: op.loop, size: op.out[0].DType.Size()}
	var over []int
	for _, v := range op.in {
		place, here := w.at[v.store]
		if !here {
			place = w.find(v)
		}
		code.in = append(code.in, place)
		code.sizes = append(code.sizes, v.DType.Size())
		if here && w.last[v.store] == i && place >= w.firstRegister() && !slices.Contains(over, place) {
			over = append(over, place)
		}
		w.width = max(w.width, v.DType.Size())
	}
	out := op.out[0]
	w.width = max(w.width, code.size)
	w.free = append(w.free, over...)
	code.out = w.placeOf(out)
	// A register may be written over by an operation that reads it only if elements
	// have one size.
	if slices.Contains(over, code.out) && slices.ContainsFunc(op.in, func(v value) bool { return v.DType.Size() != code.size }) {
		code.out = w.firstRegister() + w.registers
		w.registers++
		w.free = append(w.free, over[len(over)-1])
	}
	w.at[out.store] = code.out
	w.code = append(w.code, code)
}

func (w *passWriter) firstRegister() int { return len(w.operands) + len(w.outputs) }

func (w *passWriter) placeOf(out value) int {
	if k := slices.IndexFunc(w.outputs, func(o value) bool { return o.store == out.store }); k >= 0 {
		return len(w.operands) + k
	}
	if n := len(w.free); n > 0 {
		r := w.free[n-1]
		w.free = w.free[:n-1]
		return r
	}
	w.registers++
	return w.firstRegister() + w.registers - 1
}

// tileSize lets registers and what is gathered fit into the cache, and is a multiple
// of the periods in which short rows repeat, where that can be.
func (w *passWriter) tileSize() int {
	tile := tileBytes / (w.width * max(1, w.registers+len(w.operands)/2))
	tile = max(leastTile, min(mostTile, tile)) / 64 * 64
	for _, v := range w.operands {
		if period := newWalker(v, 1).period; period > 0 && period < tile {
			tile = tile / period * period
		}
	}
	return max(1, min(w.n, tile))
}

// mayReplace reports whether out may be written over a store that the pass is the
// last to read: if that is read at the same places only, and not after the
// operation that writes out.
func (p *pass) mayReplace(at int, out value) bool {
	place := len(p.operands) + slices.IndexFunc(p.outputs, func(o value) bool { return o.store == out.store })
	written := slices.IndexFunc(p.code, func(c tileOp) bool { return c.out == place })
	for k, v := range p.operands {
		if v.store != at {
			continue
		}
		if !v.isRows(out.Shape) || v.DType.Size() != out.DType.Size() {
			return false
		}
		for _, c := range p.code[written+1:] {
			if slices.Contains(c.in, k) {
				return false
			}
		}
	}
	return true
}

// run computes the pass, on several processors where there is much to do.
func (p *pass) run(stores [][]byte) {
	if p.n == 0 {
		return
	}
	tiles := (p.n + p.tile - 1) / p.tile
	shares := min(4*par.Workers(), p.n*p.width*(len(p.operands)+len(p.outputs))/shareBytes, tiles)
	if shares <= 1 || par.Workers() == 1 {
		p.runTiles(stores, 0, tiles)
		return
	}
	par.Do(shares, func(i int) { p.runTiles(stores, tiles*i/shares, tiles*(i+1)/shares) })
}

// tileScratch is the memory of one goroutine in a pass.
type tileScratch struct {
	bytes  []byte
	places [][]byte
	in     [][]byte
}

var tileScratches = sync.Pool{New: func() any { return new(tileScratch) }}

// prepare cuts the scratch into a part for each operand and register.
func (s *tileScratch) prepare(p *pass) {
	size := p.tile*p.width + 64 // parts of one size would meet in the same cache sets
	parts := len(p.operands) + p.registers
	if len(s.bytes) < parts*size {
		s.bytes = make([]byte, parts*size)
	}
	s.places = slices.Grow(s.places[:0], len(p.operands)+len(p.outputs)+p.registers)[:len(p.operands)+len(p.outputs)+p.registers]
	for r := range p.registers {
		s.places[len(p.operands)+len(p.outputs)+r] = s.part(p, len(p.operands)+r)
	}
}

func (s *tileScratch) part(p *pass, i int) []byte {
	size := p.tile*p.width + 64
	return s.bytes[i*size : (i+1)*size : (i+1)*size]
}

func (p *pass) runTiles(stores [][]byte, from, to int) {
	s := tileScratches.Get().(*tileScratch)
	s.prepare(p)
	for t := from; t < to; t++ {
		start := t * p.tile
		n := min(p.tile, p.n-start)
		for k := range p.operands {
			s.places[k] = p.walks[k].elements(stores[p.operands[k].store], s.part(p, k), start, n, t == from)
		}
		for k, v := range p.outputs {
			size := v.DType.Size()
			s.places[len(p.operands)+k] = stores[v.store][start*size:]
		}
		for c := range p.code {
			if p.far && t+1 < to {
				p.fetch(stores, start+p.tile, c)
			}
			p.code[c].run(s, n)
		}
	}
	clear(s.places)
	clear(s.in[:cap(s.in)])
	tileScratches.Put(s)
}

// fetch asks for a part of the next tile's operands, which begins at start: each operation
// for its share, since memory would otherwise wait while operations compute and they for
// it when a tile begins.
func (p *pass) fetch(stores [][]byte, start, operation int) {
	n := min(p.tile, p.n-start)
	from, to := n*operation/len(p.code), n*(operation+1)/len(p.code)
	for k := range p.walks {
		if w := &p.walks[k]; w.direct {
			kernel.Fetch(stores[p.operands[k].store][(w.offset+start+from)*w.size : (w.offset+start+to)*w.size])
		}
	}
}

func (c *tileOp) run(s *tileScratch, n int) {
	s.in = s.in[:0]
	for i, place := range c.in {
		s.in = append(s.in, s.places[place][:n*c.sizes[i]])
	}
	c.loop(s.places[c.out][:n*c.size], s.in)
}
