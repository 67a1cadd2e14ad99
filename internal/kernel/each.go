package kernel

import (
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Operand is an input of Each: elements of Size bytes in Storage, which start at
// Offset and are walked by Strides, both in elements.
type Operand struct {
	Storage []byte
	Size    int
	Strides []int
	Offset  int
}

func (o Operand) slice(at, n int) []byte { return o.Storage[at*o.Size : (at+n)*o.Size] }

// Each runs f over operands that all have the given shape. out is contiguous
// with elements of size bytes; it may be the storage of an operand that lies in
// the same way. Rows whose elements do not lie side by side are gathered in small
// blocks first, so that no operand is copied as a whole. Large arrays are shared
// out over the processors.
func Each(f Loop, out []byte, size int, shape []int, in []Operand) {
	n := layout.Size(shape)
	if n == 0 {
		return
	}
	if areContiguous(shape, in) {
		eachFlat(f, out, size, n, in)
		return
	}
	strides, offsets := make([][]int, len(in)), make([]int, len(in))
	for k := range in {
		strides[k], offsets[k] = in[k].Strides, in[k].Offset
	}
	rowShape, rowStrides := layout.Coalesce(shape, strides...)
	first, each := rowShape[0], n/rowShape[0]
	shares(first, each*bytesOf(size, in), func(from, to int) {
		part, at := slices.Clone(rowShape), slices.Clone(offsets)
		part[0] = to - from
		for k := range at {
			at[k] += from * rowStrides[k][0]
		}
		eachRow(f, out[from*each*size:to*each*size], size, part, rowStrides, at, in)
	})
}

func areContiguous(shape []int, in []Operand) bool {
	for k := range in {
		if !layout.IsContiguous(shape, in[k].Strides) {
			return false
		}
	}
	return true
}

// bytesOf is how much memory one element of all operands and the result takes.
func bytesOf(size int, in []Operand) int {
	for _, o := range in {
		size += o.Size
	}
	return size
}

// operandLists are lists of operands, at most three each, between calls.
var operandLists = sync.Pool{New: func() any { return new([3][]byte) }}

// Loops of a level write a result of streamBytes or more past the caches, which saves
// reading what is written over. That pays where it would not stay in the caches anyway: for
// results of fromMemory or more. Of smaller ones loops get parts.
const (
	streamBytes = 1 << 20
	fromMemory  = 16 << 20
)

// eachFlat runs f over n elements that lie side by side in every operand.
func eachFlat(f Loop, out []byte, size, n int, in []Operand) {
	part := n
	if n*size < fromMemory {
		part = min(n, streamBytes/size/2)
	}
	if len(in) > 3 || n > part || isShared(n, bytesOf(size, in)) {
		shares(n, bytesOf(size, in), func(from, to int) {
			operands := make([][]byte, len(in))
			for ; from < to; from += part {
				count := min(part, to-from)
				for k, o := range in {
					operands[k] = o.slice(o.Offset+from, count)
				}
				f(out[from*size:(from+count)*size], operands)
			}
		})
		return
	}
	list := operandLists.Get().(*[3][]byte)
	for k, o := range in {
		list[k] = o.slice(o.Offset, n)
	}
	f(out[:n*size], list[:len(in)])
	*list = [3][]byte{}
	operandLists.Put(list)
}

// eachRow runs f over the innermost rows of a coalesced shape.
func eachRow(f Loop, out []byte, size int, shape []int, strides [][]int, offsets []int, in []Operand) {
	inner := len(shape) - 1
	n := shape[inner]
	r := newRow(f, in, strides, inner, n)
	at := 0
	layout.Rows(shape, strides, offsets, func(offsets []int) {
		r.run(out[at*size:(at+n)*size], size, offsets)
		at += n
	})
}

// row runs a loop over one innermost row at a time.
type row struct {
	loop     Loop
	in       []Operand
	step     []int    // innermost stride of each operand
	gathered [][]byte // scratch of the operands that are gathered, else nil
	operands [][]byte
	direct   bool // no operand is gathered
}

func newRow(f Loop, in []Operand, strides [][]int, inner, n int) *row {
	r := &row{
		loop: f, in: in, direct: true,
		step: make([]int, len(in)), gathered: make([][]byte, len(in)), operands: make([][]byte, len(in)),
	}
	for k := range in {
		r.step[k] = strides[k][inner]
		if r.step[k] != 1 && n > 1 {
			r.gathered[k] = buffer.Make(min(n, block) * in[k].Size)
			r.direct = false
		}
	}
	return r
}

func (r *row) run(out []byte, size int, at []int) {
	n := len(out) / size
	width := n
	if !r.direct {
		width = min(n, block)
	}
	for i := 0; i < n; i += width {
		m := min(width, n-i)
		for k, o := range r.in {
			r.operands[k] = r.part(k, o, at[k], i, m)
		}
		r.loop(out[i*size:(i+m)*size], r.operands)
	}
}

// part is m elements of operand k from the i-th of a row that starts at offset.
func (r *row) part(k int, o Operand, offset, i, m int) []byte {
	into := r.gathered[k]
	switch {
	case into == nil:
		return o.slice(offset+i, m)
	case r.step[k] == 0 && i > 0:
		return into[:m*o.Size] // the block before has filled it
	}
	gather(into, o, offset+i*r.step[k], r.step[k], m)
	return into[:m*o.Size]
}

func gather(into []byte, o Operand, at, step, n int) {
	switch o.Size {
	case 1:
		pick(into, o.Storage, at, step, n)
	case 2:
		pick(buffer.As[uint16](into), buffer.As[uint16](o.Storage), at, step, n)
	case 4:
		pick(buffer.As[uint32](into), buffer.As[uint32](o.Storage), at, step, n)
	case 8:
		pick(buffer.As[uint64](into), buffer.As[uint64](o.Storage), at, step, n)
	}
}

func pick[T unsigned](into, from []T, at, step, n int) {
	for i := range into[:n] {
		into[i] = from[at]
		at += step
	}
}
