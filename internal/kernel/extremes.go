package kernel

import (
	"math"
	"slices"
	"sync"
)

// extremes finds the greatest and the least at a level: of a row, with whether
// there is a NaN, and of columns.
type extremes[T float] struct {
	max, min       func(n int, x *T) (r T, nan bool)
	maxCol, minCol func(n, rows int, x *T, stride int, acc *T, ahead int) (nan bool)
	vector         int // columns are a multiple of this

	quick quickExtremes[T] // where a level has them
}

// quickExtremes are right unless a result is zero, of which they do not know the sign, or there is
// a NaN. Rows are a multiple of many elements. stripes are for what the second cache holds.
type quickExtremes[T float] struct {
	max, min               func(n int, x *T) (r T, nan bool)
	maxStripes, minStripes func(n, rows int, x *T, stride int, acc *T) (unsure bool)
	many                   int
}

// exactly is f after quick, where that is known and not enough.
func (q *quickExtremes[T]) exactly(quick, f func(n int, x *T) (T, bool)) func(n int, x *T) (T, bool) {
	if quick == nil {
		return f
	}
	return func(n int, x *T) (T, bool) {
		if n >= q.many && n%q.many == 0 {
			if r, nan := quick(n, x); nan || r != 0 {
				return r, nan
			}
		}
		return f(n, x)
	}
}

func extremesOf[T float](k *kernels) *extremes[T] {
	if e, ok := any(&k.extremes32).(*extremes[T]); ok {
		return e
	}
	return any(&k.extremes64).(*extremes[T])
}

func maxFloats[T float](x []T) T {
	e := extremesOf[T](active())
	return extremeFloats(x, e.quick.exactly(e.quick.max, e.max), maxRow[T])
}

func minFloats[T float](x []T) T {
	e := extremesOf[T](active())
	return extremeFloats(x, e.quick.exactly(e.quick.min, e.min), minRow[T])
}

// extremeFloats is by f, where a level has it, on all processors.
func extremeFloats[T float](x []T, f func(n int, x *T) (T, bool), portable func(x []T) T) T {
	if f == nil {
		return portable(x)
	}
	of := func(x []T) T {
		r, nan := f(len(x), &x[0])
		if nan {
			return T(math.NaN())
		}
		return r
	}
	if !isShared(len(x), sizeOf[T]()) {
		return of(x)
	}
	parts := make([]T, (len(x)+rowShare-1)/rowShare)
	shares(len(parts), rowShare*sizeOf[T](), func(from, to int) {
		for i := from; i < to; i++ {
			parts[i] = of(x[i*rowShare : min(len(x), (i+1)*rowShare)])
		}
	})
	return portable(parts)
}

func maxFloatColumns[T float](acc []T, x []T, at, n, stride int) {
	e := extremesOf[T](active())
	if !e.inStripes(e.quick.maxStripes, acc, x, at, n, stride) {
		extremeColumns(e.vector, e.maxCol, maxColumns[T], acc, x, at, n, stride)
	}
}

func minFloatColumns[T float](acc []T, x []T, at, n, stride int) {
	e := extremesOf[T](active())
	if !e.inStripes(e.quick.minStripes, acc, x, at, n, stride) {
		extremeColumns(e.vector, e.minCol, minColumns[T], acc, x, at, n, stride)
	}
}

// inStripes reports whether the extrema of columns could be found by f.
func (e *extremes[T]) inStripes(f func(n, rows int, x *T, stride int, acc *T) bool, acc, x []T, at, n, stride int) bool {
	if f == nil || len(acc) == 0 || len(acc)%e.vector != 0 || aheadOf[T](n, stride) != 0 {
		return false
	}
	_ = x[at+(n-1)*stride+len(acc)-1]
	return !f(len(acc), n, &x[at], stride, &acc[0])
}

// extremeColumns is by f, where a level has it, on all processors. Where there is a NaN the
// portable function begins anew.
func extremeColumns[T float](vector int, f func(n, rows int, x *T, stride int, acc *T, ahead int) bool, portable func(acc, x []T, at, n, stride int), acc, x []T, at, n, stride int) {
	full := 0
	if f != nil {
		full = len(acc) / vector * vector
	}
	if full > 0 {
		_ = x[at+(n-1)*stride+full-1]
		copy(acc[:full], x[at:])
		nan := false
		if !isShared(n, full*sizeOf[T]()) {
			nan = f(full, n, &x[at], stride, &acc[0], aheadOf[T](n, stride))
		} else {
			parts := extremeParts[T]{f: f, acc: acc[:full]}
			shares(n, full*sizeOf[T](), func(from, to int) { parts.take(x[at+from*stride:], to-from, stride) })
			nan = parts.nan
		}
		if nan {
			full = 0
		}
	}
	portable(acc[full:], x, at+full, n, stride)
}

// extremeParts joins what the processors find, in any order.
type extremeParts[T float] struct {
	f     func(n, rows int, x *T, stride int, acc *T, ahead int) bool
	mutex sync.Mutex
	acc   []T
	nan   bool // found by any
}

func (p *extremeParts[T]) take(x []T, rows, stride int) {
	own := slices.Clone(x[:len(p.acc)])
	nan := p.f(len(own), rows, &x[0], stride, &own[0], aheadOf[T](rows, stride))
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.nan = p.nan || nan
	p.f(len(own), 1, &own[0], 0, &p.acc[0], 0)
}
