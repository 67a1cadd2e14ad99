package kernel

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Indices calls f with contiguous indices of an integer type into an axis of length n,
// which are lent. Negative ones count from the end; one out of range is an error.
func Indices(t dtype.Type, x []byte, n int, f func(at []int)) error {
	list := indexLists.Get().(*[]int)
	defer indexLists.Put(list)
	*list = slices.Grow((*list)[:0], len(x)/t.Size())[:len(x)/t.Size()]
	if err := indicesOf(*list, t, x, n); err != nil {
		return err
	}
	f(*list)
	return nil
}

var indexLists = sync.Pool{New: func() any { return new([]int) }}

func indicesOf(out []int, t dtype.Type, x []byte, n int) error {
	switch t {
	case dtype.Uint8:
		return indices(out, buffer.As[uint8](x), n)
	case dtype.Uint16:
		return indices(out, buffer.As[uint16](x), n)
	case dtype.Uint32:
		return indices(out, buffer.As[uint32](x), n)
	case dtype.Uint64:
		return indices(out, buffer.As[uint64](x), n)
	case dtype.Int8:
		return indices(out, buffer.As[int8](x), n)
	case dtype.Int16:
		return indices(out, buffer.As[int16](x), n)
	case dtype.Int32:
		return indices(out, buffer.As[int32](x), n)
	}
	return indices(out, buffer.As[int64](x), n)
}

func indices[T integer](out []int, x []T, n int) error {
	for i, v := range x {
		at := int(v)
		if v < 0 {
			at += n
		}
		if at < 0 || at >= n {
			return fmt.Errorf("index %d of an axis of length %d", v, n)
		}
		out[i] = at
	}
	return nil
}

// Picks tells how indices are applied: for each of Batch × Outer blocks of N rows
// of Inner elements, rows are picked by the K indices of the batch.
type Picks struct {
	Batch, Outer, N, Inner int
	K                      int
}

// each calls f with the first row of every picked pair: one of the large array,
// which has N rows in a block, and one of the small, which has K.
func (p Picks) each(at []int, f func(large, small int)) {
	if p.isEmpty() {
		return
	}
	for b := range p.Batch {
		list := at[b*p.K : (b+1)*p.K]
		for o := range p.Outer {
			block := b*p.Outer + o
			for k, i := range list {
				f((block*p.N+i)*p.Inner, (block*p.K+k)*p.Inner)
			}
		}
	}
}

// isEmpty says that nothing is picked, from however many blocks.
func (p Picks) isEmpty() bool { return p.K == 0 || p.Inner == 0 }

// Take copies the picked rows of x, whose elements are size bytes long, to y.
func Take(p Picks, size int, y, x []byte, at []int) {
	if len(y) == 0 {
		return // there may be more blocks than there is time to walk
	}
	if p.Inner == 1 {
		takeElements(p, size, y, x, at)
		return
	}
	n := p.Inner * size
	p.each(at, func(large, small int) { copy(y[small*size:small*size+n], x[large*size:]) })
}

func takeElements(p Picks, size int, y, x []byte, at []int) {
	switch size {
	case 1:
		takeSingly(p, y, x, at)
	case 2:
		takeSingly(p, buffer.As[uint16](y), buffer.As[uint16](x), at)
	case 4:
		takeSingly(p, buffer.As[uint32](y), buffer.As[uint32](x), at)
	case 8:
		takeSingly(p, buffer.As[uint64](y), buffer.As[uint64](x), at)
	}
}

func takeSingly[T unsigned](p Picks, y, x []T, at []int) {
	if p.isEmpty() {
		return
	}
	for b := range p.Batch {
		list := at[b*p.K : (b+1)*p.K]
		for o := range p.Outer {
			block := b*p.Outer + o
			to, from := y[block*p.K:], x[block*p.N:]
			for k, i := range list {
				to[k] = from[i]
			}
		}
	}
}

// Put replaces the picked rows of y by those of x, the last one where several
// indices are equal.
func Put(p Picks, size int, y, x []byte, at []int) {
	if len(x) == 0 {
		return
	}
	n := p.Inner * size
	p.each(at, func(large, small int) { copy(y[large*size:large*size+n], x[small*size:]) })
}

// AddRows adds the rows of x to the picked rows of y, in the order of the
// indices. bool is or. The half types are added in float32 and rounded once.
func AddRows(p Picks, t dtype.Type, y, x []byte, at []int) {
	if len(x) == 0 {
		return
	}
	switch t {
	case dtype.Bool:
		orRows(p, y, x, at)
	case dtype.Uint8:
		addRows[uint8](p, y, x, at)
	case dtype.Uint16:
		addRows[uint16](p, y, x, at)
	case dtype.Uint32:
		addRows[uint32](p, y, x, at)
	case dtype.Uint64:
		addRows[uint64](p, y, x, at)
	case dtype.Int8:
		addRows[int8](p, y, x, at)
	case dtype.Int16:
		addRows[int16](p, y, x, at)
	case dtype.Int32:
		addRows[int32](p, y, x, at)
	case dtype.Int64:
		addRows[int64](p, y, x, at)
	case dtype.Float32:
		addRows[float32](p, y, x, at)
	case dtype.Float64:
		addRows[float64](p, y, x, at)
	case dtype.Complex64:
		addRows[complex64](p, y, x, at)
	default:
		wideY, wideX := make([]float32, len(y)/2), make([]float32, len(x)/2)
		Widen(t, wideY, y)
		Widen(t, wideX, x)
		addRows[float32](p, buffer.Bytes(wideY), buffer.Bytes(wideX), at)
		Narrow(t, y, wideY)
	}
}

func addRows[T interface {
	number
	dtype.Element
}](p Picks, y, x []byte, at []int) {
	to, from := buffer.As[T](y), buffer.As[T](x)
	p.each(at, func(large, small int) {
		row := from[small : small+p.Inner]
		for j, v := range to[large : large+p.Inner] {
			to[large+j] = v + row[j]
		}
	})
}

func orRows(p Picks, y, x []byte, at []int) {
	p.each(at, func(large, small int) {
		for j, v := range x[small : small+p.Inner] {
			y[large+j] |= v
		}
	})
}
