package kernel

import (
	"math/bits"
	"sync"

	"github.com/lockstep-go/lockstep/internal/par"
)

// Rows are added in blocks, each in lanes, and columns in blocks of rows. Blocks
// are added as a binary tree whose left half is the largest power of two of
// blocks, so that the order does not depend on who computes which part.
const (
	lanes    = 32
	rowBlock = 1024 // elements that are added in lanes
	colBlock = 64   // elements of a column that are added one by one
	// rowBlocks is how many blocks are added up before their sums are; it is a
	// power of two, and so many are a share for a processor.
	rowBlocks = 64
	rowShare  = rowBlocks * rowBlock
)

// half is where the left half of n elements, more than a block, ends.
func half(n, block int) int {
	blocks := (n + block - 1) / block
	return 1 << (bits.Len(uint(blocks-1)) - 1) * block
}

// summing adds up at a level: a row up to a block long, whole blocks, and rows to
// a row of sums. Where there are stripes they do the latter, without a row of sums to begin with, of what the second
// cache holds.
type summing[T float] struct {
	block   func(n int, x *T) float64
	blocks  func(blocks int, x *T, y *float64)
	columns func(n, rows int, x *T, stride int, acc *float64, ahead int)
	stripes func(n, rows int, x *T, stride int, acc *float64)
}

func summingOf[T float](k *kernels) *summing[T] {
	if s, ok := any(&k.sums32).(*summing[T]); ok {
		return s
	}
	return any(&k.sums64).(*summing[T])
}

func sizeOf[T float]() int {
	if any(T(0)) == any(float32(0)) {
		return 4
	}
	return 8
}

// sumFloats is sumRow in float64, bit for bit, by the active level and on all
// processors.
func sumFloats[T float](x []T) float64 {
	s := summingOf[T](active())
	if !isShared(len(x), sizeOf[T]()) {
		return sumBy(s, x)
	}
	sums := make([]float64, (len(x)+rowShare-1)/rowShare)
	shares(len(sums), rowShare*sizeOf[T](), func(from, to int) {
		for i := from; i < to; i++ {
			sums[i] = sumBy(s, x[i*rowShare:min(len(x), (i+1)*rowShare)])
		}
	})
	return sumTree(sums)
}

func sumBy[T float](s *summing[T], x []T) float64 {
	switch n := len(x); {
	case s.block == nil:
		return sumRow[T, float64](x)
	case n == 0:
		return 0
	case n <= rowBlock:
		return s.block(n, &x[0])
	case n > rowShare:
		middle := half(n, rowBlock)
		return sumBy(s, x[:middle]) + sumBy(s, x[middle:])
	}
	var sums [rowBlocks]float64
	whole := len(x) / rowBlock
	s.blocks(whole, &x[0], &sums[0])
	if rest := x[whole*rowBlock:]; len(rest) > 0 {
		sums[whole] = s.block(len(rest), &rest[0])
		whole++
	}
	return sumTree(sums[:whole])
}

// sumTree adds up the sums of blocks, which it overwrites, eight at a time: three
// levels of the tree.
func sumTree(x []float64) float64 {
	for len(x) > 8 {
		n := 0
		for i := 0; i < len(x); i += 8 {
			x[n] = sumEight(x[i:min(len(x), i+8)])
			n++
		}
		x = x[:n]
	}
	return sumEight(x)
}

func sumEight(x []float64) float64 {
	if len(x) == 8 {
		return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
	}
	for apart := 1; apart < len(x); apart *= 2 {
		for i := 0; i+apart < len(x); i += 2 * apart {
			x[i] += x[i+apart]
		}
	}
	return x[0]
}

// sumRow adds up one row. Element i of a block goes to lane i%32, and lanes are
// added in halves.
func sumRow[T realNumber, A accumulator](x []T) A {
	if n := len(x); n > rowBlock {
		return sumRow[T, A](x[:half(n, rowBlock)]) + sumRow[T, A](x[half(n, rowBlock):])
	}
	var s [lanes]A
	for len(x) >= lanes {
		for i, v := range (*[lanes]T)(x) {
			s[i] += A(v)
		}
		x = x[lanes:]
	}
	for i, v := range x {
		s[i] += A(v)
	}
	return addLanes(&s)
}

// addLanes adds them up in halves.
func addLanes[A accumulator](s *[lanes]A) A {
	for apart := lanes / 2; apart > 0; apart /= 2 {
		for i := range apart {
			s[i] += s[i+apart]
		}
	}
	return s[0]
}

// sumColumns sets acc to the sums of columns of n elements.
func sumColumns[T realNumber, A accumulator](acc []A, x []T, at, n, stride int) {
	if n > colBlock {
		rest := make([]A, len(acc))
		sumColumns(acc, x, at, half(n, colBlock), stride)
		sumColumns(rest, x, at+half(n, colBlock)*stride, n-half(n, colBlock), stride)
		for j, v := range rest {
			acc[j] += v
		}
		return
	}
	clear(acc)
	for i := range n {
		for j, v := range x[at+i*stride:][:len(acc)] {
			acc[j] += A(v)
		}
	}
}

// sumFloatColumns is sumColumns in float64, bit for bit, by the active level and
// on all processors.
func sumFloatColumns[T float](acc []float64, x []T, at, n, stride int) {
	s := summingOf[T](active())
	bytes := len(acc) * sizeOf[T]()
	if s.columns == nil || !isShared(n, bytes) {
		sumColumnsBy(s, acc, x, at, n, stride)
		return
	}
	share := colBlock
	for share*bytes < shareBytes || n/share > sharesEach*par.Workers() {
		share *= 2
	}
	parts := make([][]float64, (n+share-1)/share)
	shares(len(parts), share*bytes, func(from, to int) {
		for i := from; i < to; i++ {
			parts[i] = make([]float64, len(acc))
			sumColumnsBy(s, parts[i], x, at+i*share*stride, min(share, n-i*share), stride)
		}
	})
	for apart := 1; apart < len(parts); apart *= 2 {
		for i := 0; i+apart < len(parts); i += 2 * apart {
			addTo(parts[i], parts[i+apart])
		}
	}
	copy(acc, parts[0])
}

func sumColumnsBy[T float](s *summing[T], acc []float64, x []T, at, n, stride int) {
	full := len(acc) &^ 7
	if s.columns == nil {
		full = 0
	}
	if full > 0 {
		_ = x[at+(n-1)*stride+full-1]
		room := sumRooms.Get().(*sumRoom)
		room.ahead = aheadOf[T](n, stride)
		sumColumnBlocks(s, room, 0, acc[:full], x, at, n, stride)
		sumRooms.Put(room)
	}
	if full < len(acc) {
		sumColumns(acc[full:], x, at+full, n, stride)
	}
}

// sumColumnBlocks is sumColumns of a multiple of 8 columns by a level.
func sumColumnBlocks[T float](s *summing[T], room *sumRoom, depth int, acc []float64, x []T, at, n, stride int) {
	if n <= colBlock {
		if s.stripes != nil && room.ahead == 0 {
			s.stripes(len(acc), n, &x[at], stride, &acc[0])
			return
		}
		clear(acc)
		s.columns(len(acc), n, &x[at], stride, &acc[0], room.ahead)
		return
	}
	rest, middle := room.at(depth, len(acc)), half(n, colBlock)
	sumColumnBlocks(s, room, depth+1, acc, x, at, middle, stride)
	sumColumnBlocks(s, room, depth+1, rest, x, at+middle*stride, n-middle, stride)
	addTo(acc, rest)
}

// aheadOf is how many elements ahead rows are fetched that are read four at a
// time: none where they are in the second cache anyway.
func aheadOf[T float](rows, stride int) int {
	if rows*stride*sizeOf[T]() <= 512<<10 {
		return 0
	}
	return 4 * stride
}

// addTo adds x to acc by the active level.
func addTo(acc, x []float64) { adding64()(acc, acc, x) }

var adding64 = sync.OnceValue(func() func(z, x, y []float64) { return fastBinary(active().vectors64, Add) })

// sumRoom has a row of sums for each depth of the tree.
type sumRoom struct {
	rows  [][]float64
	ahead int
}

// sumRooms keeps them between calls.
var sumRooms = sync.Pool{New: func() any { return new(sumRoom) }}

func (r *sumRoom) at(depth, n int) []float64 {
	for len(r.rows) <= depth {
		r.rows = append(r.rows, make([]float64, width))
	}
	return r.rows[depth][:n]
}
