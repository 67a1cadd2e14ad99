package kernel

import (
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Reduction names a reduction over axes, as messages to people do.
type Reduction string

// The reductions. All and Any take bool only.
const (
	Sum  Reduction = "sum"
	Mean Reduction = "mean"
	Prod Reduction = "prod"
	Max  Reduction = "max"
	Min  Reduction = "min"
	All  Reduction = "all"
	Any  Reduction = "any"
)

// Reduce reduces an operand of the given shape and type over axes, which are in
// increasing order, and writes the results, of type to, in row order.
//
// Sums and means are pairwise over blocks in an order fixed by the number of
// elements alone, in float64 for every real floating-point type, and are rounded
// once; the result depends neither on strides nor on who computes it. Products
// accumulate in float64 likewise, in row order.
func Reduce(r Reduction, to dtype.Type, out []byte, from dtype.Type, in Operand, shape, axes []int) {
	switch {
	case from == dtype.Float16 || from == dtype.BFloat16:
		in, from = widenAll(from, in, shape), dtype.Float32
		if r == Max || r == Min {
			wide := make([]float32, len(out)/2)
			Reduce(r, from, buffer.Bytes(wide), from, in, shape, axes)
			Narrow(to, out, wide)
			return
		}
	case from == dtype.Complex64 && (r == Sum || r == Mean):
		in, shape = parts(in, shape)
		from, to = dtype.Float32, dtype.Float32
	}
	p := newFoldPlan(in, shape, axes)
	folders[r][from](out, to, p)
}

// widenAll copies a half-precision operand to a contiguous one of float32.
func widenAll(t dtype.Type, in Operand, shape []int) Operand {
	n := layout.Size(shape)
	var packed []byte
	if n > 0 && layout.IsContiguous(shape, in.Strides) {
		packed = in.slice(in.Offset, n)
	} else {
		packed = buffer.Make(2 * n)
		layout.Copy(packed, in.Storage, 2, shape, in.Strides, in.Offset)
	}
	wide := make([]float32, n)
	Widen(t, wide, packed)
	return Operand{Storage: buffer.Bytes(wide), Size: 4, Strides: layout.Strides(shape)}
}

// parts views complex elements as an innermost axis of two real ones.
func parts(in Operand, shape []int) (Operand, []int) {
	strides := make([]int, len(shape), len(shape)+1)
	for i, s := range in.Strides {
		strides[i] = 2 * s
	}
	real := Operand{Storage: in.Storage, Size: 4, Strides: append(strides, 1), Offset: 2 * in.Offset}
	return real, append(slices.Clone(shape), 2)
}

// foldPlan is an operand seen as outputs, each of which folds n elements that
// lie stride apart.
type foldPlan struct {
	storage     []byte
	shape       []int // of the outputs, coalesced
	strides     []int // from output to output
	offset      int
	n, stride   int
	outputs     int
	asColumns   bool // neighbouring outputs lie side by side; else each one's elements do
	inner, step int  // innermost axis of shape and its stride
}

func newFoldPlan(in Operand, shape, axes []int) *foldPlan {
	var kept, keptStrides, folded, foldedStrides []int
	for axis, d := range shape {
		if slices.Contains(axes, axis) {
			folded, foldedStrides = append(folded, d), append(foldedStrides, in.Strides[axis])
		} else {
			kept, keptStrides = append(kept, d), append(keptStrides, in.Strides[axis])
		}
	}
	p := &foldPlan{storage: in.Storage, offset: in.Offset, n: layout.Size(folded), outputs: layout.Size(kept)}
	var lists [][]int
	p.shape, lists = layout.Coalesce(kept, keptStrides)
	p.strides = lists[0]
	folded1, lists := layout.Coalesce(folded, foldedStrides)
	p.stride = lists[0][0]
	last := len(p.shape) - 1
	p.inner, p.step = p.shape[last], p.strides[last]
	switch {
	case p.n == 0 || p.n == 1 || len(folded1) == 1 && p.stride == 1:
	case len(folded1) == 1 && (p.step == 1 || p.inner == 1):
		p.asColumns = true
	default:
		p.pack(in.Size, append(kept, folded...), append(keptStrides, foldedStrides...))
	}
	return p
}

// pack copies the elements so that those of each output are contiguous.
func (p *foldPlan) pack(size int, shape, strides []int) {
	packed := buffer.Make(p.n * p.outputs * size)
	layout.Copy(packed, p.storage, size, shape, strides, p.offset)
	p.storage, p.offset = packed, 0
	p.shape, p.strides = []int{p.outputs}, []int{p.n}
	p.inner, p.step, p.stride = p.outputs, p.n, 1
}

// folder folds elements of type T in an accumulator of type A.
type folder[T, A any] struct {
	row     func(x []T) A
	columns func(acc []A, x []T, at, n, stride int) // acc[j] over x[at+j+i*stride]
	store   func(out []byte, to dtype.Type, at int, acc []A, n int)
}

// width is how many columns are folded at a time.
const width = 256

func (f folder[T, A]) run(out []byte, to dtype.Type, x []T, p *foldPlan) {
	if p.n == 0 {
		for k := range p.outputs {
			f.store(out, to, k, []A{f.row(nil)}, 0)
		}
		return
	}
	k := 0
	acc := make([]A, width)
	layout.Rows(p.shape, [][]int{p.strides}, []int{p.offset}, func(at []int) {
		for j := 0; j < p.inner; j += width {
			some := acc[:min(width, p.inner-j)]
			if p.asColumns {
				f.columns(some, x, at[0]+j, p.n, p.stride)
			} else {
				f.rows(some, x, at[0]+j*p.step, p)
			}
			f.store(out, to, k, some, p.n)
			k += len(some)
		}
	})
}

func (f folder[T, A]) rows(acc []A, x []T, at int, p *foldPlan) {
	for j := range acc {
		acc[j] = f.row(x[at : at+p.n])
		at += p.step
	}
}

// fold erases the types of a folder.
type fold func(out []byte, to dtype.Type, p *foldPlan)

func erase[T dtype.Element, A any](f folder[T, A]) fold {
	return func(out []byte, to dtype.Type, p *foldPlan) { f.run(out, to, buffer.As[T](p.storage), p) }
}
