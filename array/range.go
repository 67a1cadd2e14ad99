package array

import (
	"context"
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Arange counts from start in the given step, up to but without stop. Element i
// is start + i·step in float64, converted once to t. Empty if stop lies the
// other way. An error if step is zero or a number is not finite.
func Arange(start, stop, step float64, t dtype.Type) *Array {
	n := math.Ceil((stop - start) / step)
	if step == 0 || math.IsNaN(n) || math.IsInf(n, 0) || math.IsInf(start, 0) || math.IsInf(step, 0) {
		return Fail("arange", fmt.Errorf("from %g to %g in steps of %g", start, stop, step))
	}
	if n > math.MaxInt32*float64(1<<16) {
		return Fail("arange", fmt.Errorf("from %g to %g in steps of %g is too large", start, stop, step))
	}
	return Apply1(ramp{start: start, step: step, n: max(0, int(n)), t: t})
}

// Linspace returns n numbers of type t in equal distances from start to stop,
// which is the last one. One number is start.
func Linspace(start, stop float64, n int, t dtype.Type) *Array {
	if n < 0 || math.IsInf(stop-start, 0) || math.IsNaN(stop-start) {
		return Fail("linspace", fmt.Errorf("%d numbers from %g to %g", n, start, stop))
	}
	if n == 1 {
		stop = start
	}
	return Apply1(ramp{start: start, step: (stop - start) / float64(max(1, n-1)), last: stop, closed: true, n: n, t: t})
}

// Eye is a matrix of n rows and m columns with ones on diagonal k (above the
// main one if positive) and zeros elsewhere.
func Eye(n, m, k int, t dtype.Type) *Array {
	return diagonals("eye", n, m, k, t, (*Array).Equal)
}

// Tri is a matrix of n rows and m columns with ones on and below diagonal k and
// zeros above.
func Tri(n, m, k int, t dtype.Type) *Array {
	return diagonals("tri", n, m, k, t, (*Array).LessEqual)
}

// diagonals compares the column of each element with its row + k.
func diagonals(op string, n, m, k int, t dtype.Type, compare func(column, row *Array) *Array) *Array {
	if err := checkShape(t, []int{n, m}); err != nil {
		return Fail(op, err)
	}
	rows := Arange(float64(k), float64(n)+float64(k), 1, dtype.Int64).ExpandDims(1)
	return compare(Arange(0, float64(m), 1, dtype.Int64), rows).AsType(t)
}

// Tril keeps the elements on and below diagonal k of the last two axes and makes
// the others zero.
func (x *Array) Tril(k int) *Array { return x.triangle("tril", k, false) }

// Triu keeps the elements on and above diagonal k of the last two axes and makes
// the others zero.
func (x *Array) Triu(k int) *Array { return x.triangle("triu", k-1, true) }

func (x *Array) triangle(op string, k int, above bool) *Array {
	if x.Err() != nil {
		return x
	}
	if x.NDim() < 2 {
		return x.fail(op, fmt.Errorf("%v is not a matrix", x.spec()))
	}
	mask := Tri(x.Dim(-2), x.Dim(-1), k, dtype.Bool)
	if above {
		return Where(mask, ZerosLike(x), x)
	}
	return Where(mask, x, ZerosLike(x))
}

// indexType holds indices of n elements.
func indexType(n int) dtype.Type {
	if n > math.MaxUint32 {
		return dtype.Uint64
	}
	return dtype.Uint32
}

// ramp counts up from start. A closed one ends with last.
type ramp struct {
	NoRules
	start, step, last float64
	closed            bool
	n                 int
	t                 dtype.Type
}

func (ramp) Name() string { return "arange" }

// Equal reports whether o counts alike.
func (p ramp) Equal(o Primitive) bool { return o == p }

func (p ramp) OutputSpecs([]Spec) ([]Spec, error) { return []Spec{{[]int{p.n}, p.t}}, nil }

func (p ramp) Eval(_ context.Context, _, out []View) error {
	x := make([]float64, p.n)
	for i := range x {
		x[i] = p.start + float64(float64(i)*p.step)
	}
	if p.n > 0 && p.closed {
		x[p.n-1] = p.last
	}
	kernel.Cast(dtype.Float64, p.t)(out[0].Bytes(), [][]byte{buffer.Bytes(x)})
	return nil
}
