package kernel

import (
	"sync"

	"github.com/lockstep-go/lockstep/internal/par"
)

// Blocks of the operands of a product, so that a panel of b stays in the first
// cache, a block of a in the second and one of b in the third.
const (
	blockDepth   = 256
	blockRows    = 240 // a multiple of every tile's rows
	blockColumns = 2048
)

// nearBytes is how much of b stays in the first cache while a passes by.
const nearBytes = 16 << 10

// splitWork is how many multiply-adds a share of a product has at least.
const splitWork = 1 << 20

// tile computes tiles of c below one another, or adds to them; see gemm_amd64.go.
type tile[T float] func(k int, a *T, aRow, aStep int, b *T, bStep int, c *T, cRow int, add bool, count, aNext int)

// gemm multiplies matrices by tiles of registers, in the loops of BLIS (Van Zee
// and van de Geijn, 2015): blocks of columns, of depth and of rows, packed into
// panels as wide as a tile unless they can be read where they are.
//
// Each element of c is the sum of its blocks of depth in order, each of them one
// chain of fused multiply-adds. So the bits depend neither on the level, nor on
// how operands lie in memory, nor on the number of processors.
type gemm[T float] struct {
	rows, columns int           // of the largest tile
	tiles         [3][2]tile[T] // by thirds of rows and halves of columns
}

// strip is a matrix as tiles walk it: element i along the side that is cut into
// panels and l along the depth lies at data[i*side+l*depth].
type strip[T float] struct {
	data        []T
	side, depth int
}

// from is the strip that begins at element i of the side and l of the depth.
func (s strip[T]) from(i, l int) strip[T] {
	s.data = s.data[i*s.side+l*s.depth:]
	return s
}

// run computes c [m, n], with rows cRow apart, as the product of a [m, k] and
// b [k, n], k > 0, or adds it to c. Large products are shared out over the
// processors.
func (g *gemm[T]) run(m, n, k int, a, b strip[T], c []T, cRow int, add bool) {
	if par.Workers() == 1 || m*n*k < 2*splitWork {
		g.part(m, n, k, a, b, c, cRow, add)
		return
	}
	parts := g.split(m, n, k)
	par.Do(len(parts), func(i int) {
		p := parts[i]
		g.part(p.rows, p.columns, k, a.from(p.row, 0), b.from(p.column, 0), c[p.row*cRow+p.column:], cRow, add)
	})
}

// area is a part of the result.
type area struct{ row, column, rows, columns int }

// split halves the longer side, at the edge of a tile, until there is a share
// for every processor or shares get small.
func (g *gemm[T]) split(m, n, k int) []area {
	parts := []area{{0, 0, m, n}}
	for len(parts) < par.Workers() && m*n*k/len(parts) >= 2*splitWork {
		var halves []area
		for _, p := range parts {
			halves = append(halves, g.halve(p)...)
		}
		if len(halves) == len(parts) {
			break
		}
		parts = halves
	}
	return parts
}

func (g *gemm[T]) halve(p area) []area {
	p1, p2 := p, p
	if p.rows >= p.columns {
		p1.rows = roundUp(p.rows/2, g.rows)
		p2.row, p2.rows = p.row+p1.rows, p.rows-p1.rows
	} else {
		p1.columns = roundUp(p.columns/2, g.columns)
		p2.column, p2.columns = p.column+p1.columns, p.columns-p1.columns
	}
	if p2.rows <= 0 || p2.columns <= 0 {
		return []area{p}
	}
	return []area{p1, p2}
}

// part computes one share.
func (g *gemm[T]) part(m, n, k int, a, b strip[T], c []T, cRow int, add bool) {
	s := scratchOf[T]()
	defer s.release()
	for j := 0; j < n; j += blockColumns {
		columns := min(blockColumns, n-j)
		for l := 0; l < k; l += evenDepth(k) {
			depth := min(evenDepth(k), k-l)
			right := g.right(b.from(j, l), columns, depth, m, &s.right)
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				left := g.left(a.from(i, l), rows, depth, n, &s.left)
				g.block(rows, columns, depth, left, right, c[i*cRow+j:], cRow, add || l > 0, s)
			}
		}
	}
}

// evenDepth cuts a depth of k into the fewest blocks, of about the same depth.
func evenDepth(k int) int {
	blocks := (k + blockDepth - 1) / blockDepth
	return (k + blocks - 1) / blocks
}

// left has the panels of a block of a. Rows are read where they are; columns, of
// which each step of depth would touch another line, are packed where many panels
// of b meet them.
func (g *gemm[T]) left(a strip[T], rows, depth, n int, room *[]T) panels[T] {
	return makePanels(a, rows, depth, g.rows, g.rows/3, a.depth == 1 || n <= 4*g.columns, room)
}

// right has the panels of a block of b. Rows are packed where many panels of a
// meet them and they do not lie in the first cache anyway, and columns always: for
// a tile, rows must lie side by side.
func (g *gemm[T]) right(b strip[T], columns, depth, m int, room *[]T) panels[T] {
	near := m <= 4*g.rows || depth*b.depth*sizeOf[T]() <= nearBytes
	return makePanels(b, columns, depth, g.columns, g.columns/2, b.side == 1 && near, room)
}

// block multiplies panels.
func (g *gemm[T]) block(rows, columns, depth int, a, b panels[T], c []T, cRow int, add bool, s *scratch[T]) {
	for j := 0; j < columns; j += g.columns {
		width := min(g.columns, columns-j)
		y, _, yStep := b.at(j)
		halves := (width + g.columns/2 - 1) / (g.columns / 2)
		for i := 0; i < rows; {
			x, xRow, xStep := a.at(i)
			height, thirds, count := g.rows, 3, a.whole(i)
			if count == 0 {
				height = min(g.rows, rows-i)
				thirds, count = (height+g.rows/3-1)/(g.rows/3), 1
			}
			run := g.tiles[thirds-1][halves-1]
			if height*3 == thirds*g.rows && width*2 == halves*g.columns {
				to := c[i*cRow+j:]
				_ = to[(count*height-1)*cRow+width-1]
				run(depth, x, xRow, xStep, y, yStep, &to[0], cRow, add, count, a.next(i))
				i += count * height
				continue
			}
			run(depth, x, xRow, xStep, y, yStep, &s.tile[0], g.columns, false, 1, 0)
			copyTile(c[i*cRow+j:], cRow, s.tile, g.columns, height, width, add)
			i += height
		}
	}
}

// copyTile stores what of a tile lies within c, or adds it.
func copyTile[T float](c []T, cRow int, tile []T, tileRow, rows, columns int, add bool) {
	for i := range rows {
		to, from := c[i*cRow:][:columns], tile[i*tileRow:][:columns]
		if !add {
			copy(to, from)
			continue
		}
		for j, v := range from {
			to[j] += v
		}
	}
}

// panels are a block of an operand cut along its side. Those from packed on lie
// in room one after the other, filled up with zeros to a multiple of unit; the
// others are read in place.
type panels[T float] struct {
	strip[T]
	packed int // side index of the first packed panel
	room   []T
	unit   int
	end    int
	panel  int
	length int // depth
}

func makePanels[T float](s strip[T], n, depth, panel, unit int, inPlace bool, room *[]T) panels[T] {
	p := panels[T]{strip: s, unit: unit, end: n, panel: panel, length: depth}
	switch {
	case inPlace && n%unit == 0:
		p.packed = n
		return p
	case inPlace:
		p.packed = n / panel * panel
	}
	need := roundUp(n-p.packed, unit) * depth
	if len(*room) < need {
		*room = make([]T, need)
	}
	p.room = (*room)[:need]
	if s.side == 1 {
		p.packRows()
		return p
	}
	for i := p.packed; i < n; i += panel {
		p.packLines(i)
	}
	return p
}

// at is where the panel from element i of the side on begins, with its
// distances.
func (p panels[T]) at(i int) (first *T, side, depth int) {
	if i < p.packed {
		return &p.data[i*p.side], p.side, p.depth
	}
	return &p.room[(i-p.packed)*p.length], 1, p.width(i)
}

// whole is how many whole panels lie at equal distances from element i on.
func (p panels[T]) whole(i int) int {
	if i < p.packed {
		return (p.packed - i) / p.panel
	}
	return (p.end - i) / p.panel
}

// next is how far the panel after that from element i on is from it.
func (p panels[T]) next(i int) int {
	if i < p.packed {
		return p.panel * p.side
	}
	return p.panel * p.length
}

func (p panels[T]) width(i int) int { return roundUp(min(p.panel, p.end-i), p.unit) }

// packRows copies an operand whose elements along the side lie side by side: row
// by row, which memory is quickest at, to all panels at once.
func (p panels[T]) packRows() {
	if last := p.end / p.panel * p.panel; p.width(last) > p.end-last {
		clear(p.room[(last-p.packed)*p.length:])
	}
	for l := range p.length {
		row := p.data[l*p.depth:]
		for i := p.packed; i < p.end; i += p.panel {
			n := min(p.panel, p.end-i)
			copy(p.room[(i-p.packed)*p.length+l*p.width(i):][:n], row[i:i+n])
		}
	}
}

// packLines copies the panel from element i of the side on, one line of depth
// after the other.
func (p panels[T]) packLines(i int) {
	width, n := p.width(i), min(p.panel, p.end-i)
	to := p.room[(i-p.packed)*p.length:][:width*p.length]
	if n < width {
		clear(to)
	}
	for j := range n {
		packLine(to[j:], width, p.data[(i+j)*p.side:], p.depth, p.length)
	}
}

func packLine[T float](to []T, step int, from []T, depth, n int) {
	if depth == 1 {
		at := 0
		for _, v := range from[:n] {
			to[at] = v
			at += step
		}
		return
	}
	for l := range n {
		to[l*step] = from[l*depth]
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// scratch is the memory of one share at work.
type scratch[T float] struct {
	left, right []T
	tile        []T
	pool        *sync.Pool
}

// The pools keep scratch between products; the collector may empty them.
var pool32, pool64 sync.Pool

func scratchOf[T float]() *scratch[T] {
	pool := &pool64
	if any(T(0)) == any(float32(0)) {
		pool = &pool32
	}
	if s, ok := pool.Get().(*scratch[T]); ok {
		return s
	}
	return &scratch[T]{tile: make([]T, 12*32), pool: pool}
}

func (s *scratch[T]) release() { s.pool.Put(s) }
