package kernel

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
	"github.com/lockstep-go/lockstep/internal/par"
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
// Sums and means are pairwise over blocks, in float64 for every real
// floating-point type, and are rounded once. The order is fixed by the number of
// elements and by what lies side by side, the elements of one result or those of
// neighbouring ones; it does not depend on who computes which part. Products
// accumulate in float64 likewise, in row order.
func Reduce(r Reduction, to dtype.Type, out []byte, from dtype.Type, in Operand, shape, axes []int) {
	switch {
	case from == to && isFewRows(in, shape, axes) && reduceFewRows(r, from, out, in, shape, axes):
		return
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
	p := foldPlans.Get().(*foldPlan)
	*p = foldPlan{}
	p.make(in, shape, axes)
	folders[r][from](out, to, p)
	*p = foldPlan{}
	foldPlans.Put(p)
}

var foldPlans = sync.Pool{New: func() any { return new(foldPlan) }}

// isFewRows finds the reduction of the last axes of a contiguous operand to so few
// results that there is nothing to plan.
func isFewRows(in Operand, shape, axes []int) bool {
	kept := len(shape) - len(axes)
	return len(axes) > 0 && axes[0] == kept && layout.Size(shape[:kept]) <= 2 && layout.IsContiguous(shape, in.Strides)
}

// reduceFewRows reports whether it knows how.
func reduceFewRows(r Reduction, t dtype.Type, out []byte, in Operand, shape, axes []int) bool {
	kept := len(shape) - len(axes)
	outputs, n := layout.Size(shape[:kept]), layout.Size(shape[kept:])
	switch {
	case n == 0:
		return false
	case t == dtype.Float32:
		return reduceFewFloats(r, buffer.As[float32](out)[:outputs], buffer.As[float32](in.Storage)[in.Offset:], n)
	case t == dtype.Float64:
		return reduceFewFloats(r, buffer.As[float64](out)[:outputs], buffer.As[float64](in.Storage)[in.Offset:], n)
	}
	return false
}

func reduceFewFloats[T float](r Reduction, y, x []T, n int) bool {
	for i := range y {
		row := x[i*n : (i+1)*n]
		switch r {
		case Sum:
			y[i] = T(sumFloats(row))
		case Mean:
			y[i] = T(sumFloats(row) / float64(n))
		case Max:
			y[i] = maxFloats(row)
		case Min:
			y[i] = minFloats(row)
		default:
			return false
		}
	}
	return true
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
	room        [2]int
}

// makeSimple makes the plan, at little cost, if the first or the last axes of a contiguous
// operand are reduced; it reports whether it has.
func (p *foldPlan) makeSimple(in Operand, shape, axes []int) bool {
	first := len(axes) > 0 && axes[len(axes)-1] == len(axes)-1
	last := len(axes) > 0 && axes[0] == len(shape)-len(axes)
	if !first && !last || !layout.IsContiguous(shape, in.Strides) {
		return false
	}
	p.storage, p.offset = in.Storage, in.Offset
	if last {
		kept := len(shape) - len(axes)
		p.outputs, p.n, p.stride = layout.Size(shape[:kept]), layout.Size(shape[kept:]), 1
		p.step = p.n
	} else {
		p.outputs, p.n = layout.Size(shape[len(axes):]), layout.Size(shape[:len(axes)])
		p.step, p.stride, p.asColumns = 1, p.outputs, p.n > 1
	}
	p.room = [2]int{p.outputs, p.step}
	p.shape, p.strides, p.inner = p.room[:1], p.room[1:], p.outputs
	return true
}

func (p *foldPlan) make(in Operand, shape, axes []int) {
	if p.makeSimple(in, shape, axes) {
		return
	}
	var kept, keptStrides, folded, foldedStrides []int
	for axis, d := range shape {
		if slices.Contains(axes, axis) {
			folded, foldedStrides = append(folded, d), append(foldedStrides, in.Strides[axis])
		} else {
			kept, keptStrides = append(kept, d), append(keptStrides, in.Strides[axis])
		}
	}
	p.storage, p.offset, p.n, p.outputs = in.Storage, in.Offset, layout.Size(folded), layout.Size(kept)
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
	rooms   *sync.Pool           // of accumulators, between calls
	inPlace func(out []byte) []A // results as accumulators, where they are of the same type
}

// width is how many columns are folded at a time, so that their accumulators stay
// in the first cache.
const width = 2048

// run shares outputs out, parts of the first axis, where there are many; a row or
// a stretch of columns may share out what it folds.
func (f folder[T, A]) run(out []byte, to dtype.Type, x []T, p *foldPlan) {
	first, bytes := p.shape[0], p.n*int(unsafe.Sizeof(*new(T)))
	each := p.outputs / max(first, 1)
	if first < 2*par.Workers() || p.asColumns && len(p.shape) == 1 {
		f.part(out, to, x, p, 0, first, each)
		return
	}
	shares(first, each*bytes, func(from, until int) { f.part(out, to, x, p, from, until, each) })
}

// part folds the outputs of a stretch of the first axis, with each outputs for
// each of its steps.
func (f folder[T, A]) part(out []byte, to dtype.Type, x []T, p *foldPlan, from, until, each int) {
	room := f.rooms.Get().(*[width]A)
	defer f.rooms.Put(room)
	acc := room[:min(width, p.inner)]
	k := from * each
	if len(p.shape) == 1 {
		f.stretch(out, to, x, p, acc, p.offset+from*p.step, until-from, k)
		return
	}
	shape := slices.Clone(p.shape)
	shape[0] = until - from
	layout.Rows(shape, [][]int{p.strides}, []int{p.offset + from*p.strides[0]}, func(at []int) {
		f.stretch(out, to, x, p, acc, at[0], p.inner, k)
		k += p.inner
	})
}

// stretch folds count outputs of the innermost axis and stores them from the k-th
// on.
func (f folder[T, A]) stretch(out []byte, to dtype.Type, x []T, p *foldPlan, acc []A, at, count, k int) {
	for j := 0; j < count; j += len(acc) {
		some := acc[:min(len(acc), count-j)]
		if f.inPlace != nil && p.asColumns {
			f.columns(f.inPlace(out)[k+j:][:len(some)], x, at+j, p.n, p.stride)
			continue
		}
		switch {
		case p.n == 0:
			for i := range some {
				some[i] = f.row(nil)
			}
		case p.asColumns:
			f.columns(some, x, at+j, p.n, p.stride)
		default:
			f.rows(some, x, at+j*p.step, p)
		}
		f.store(out, to, k+j, some, p.n)
	}
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
	f.rooms = &sync.Pool{New: func() any { return new([width]A) }}
	return func(out []byte, to dtype.Type, p *foldPlan) { f.run(out, to, buffer.As[T](p.storage), p) }
}
