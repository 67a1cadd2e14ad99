package reduce

import (
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// combine reduces n bytes, a multiple of whole, of count parts from an offset on.
// It reads all parts of an element before it writes it.
type combine func(n int, dst *byte, parts *[]byte, count, from int)

// table holds the loops of a level of instructions; nil where it has none. They
// give the bits of the portable ones.
type table struct {
	loops [dtype.Complex64 + 1][ops]combine
	// sumsOfTwo need no accumulator wider than float32.
	sumsOfTwo [dtype.Complex64 + 1]combine
}

// active is the table of the level that package kernel has chosen.
var active = sync.OnceValue(func() *table {
	level, _ := kernel.Active() // a wrong choice is for its users to report
	return tables[level]
})

func (t *table) loop(op Op, elem dtype.Type, parts int) combine {
	switch {
	case t == nil:
		return nil
	case op == Sum && parts == 2 && t.sumsOfTwo[elem] != nil:
		return t.sumsOfTwo[elem]
	}
	return t.loops[elem][op]
}

const (
	// whole is a multiple of what every loop does at a time.
	whole = 256
	// fewParts may have an incomplete end, which is copied to be completed.
	fewParts = 16
)

// into combines as many bytes as it can, from the first on, and returns how many.
func (t *table) into(op Op, elem dtype.Type, dst []byte, parts [][]byte) int {
	loop := t.loop(op, elem, len(parts))
	if loop == nil || len(dst) == 0 {
		return 0
	}
	n := len(dst) / whole * whole
	if n > 0 {
		loop(n, &dst[0], &parts[0], len(parts), 0)
	}
	if len(parts) > fewParts || n == len(dst) {
		return n
	}
	end(loop, dst[n:], parts, n)
	return len(dst)
}

// ending is room to complete the ends of parts.
type ending struct {
	result [whole]byte
	rooms  [fewParts][whole]byte
	parts  [fewParts][]byte
}

var endings = sync.Pool{New: func() any { return new(ending) }}

// end combines fewer bytes than whole.
func end(loop combine, dst []byte, parts [][]byte, from int) {
	e := endings.Get().(*ending)
	defer endings.Put(e)
	for i, part := range parts {
		e.parts[i] = e.rooms[i][:]
		copy(e.parts[i], part[from:])
	}
	loop(whole, &e.result[0], &e.parts[0], len(parts), 0)
	copy(dst, e.result[:])
}
