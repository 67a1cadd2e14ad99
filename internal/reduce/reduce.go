// Package reduce is the one meaning of a reduction over typed bytes. Every
// transport calls it, so that all of them give the same bits.
//
//	err := reduce.Check(reduce.Sum, dtype.Float16)
//	reduce.Into(reduce.Sum, dtype.Float16, dst, [][]byte{rank0, rank1, rank2})
//
// Each element is combined over the parts in the order given, which is rank
// order, and rounded once: float16, bfloat16, float32 and complex64 accumulate in
// float64, float64 in itself, integers wrap around. Mean divides the accumulator
// before that one rounding. For bool, sum and max are "or", min is "and".
//
// A NaN in any part makes sum, mean, max and min NaN, and every NaN in a result
// is the canonical quiet one. Max prefers +0 to -0, min -0 to +0, and a sum of
// -0 alone is -0. Complex numbers are ordered by their real part, then by their
// imaginary part; their max and min are NaN in both parts once either part of any
// of them is NaN. The reduction of one part is that part, byte for byte.
package reduce

import (
	"fmt"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
)

// Op is a reduction; the numbers are those of package group and of the wire.
type Op uint8

// The reductions.
const (
	Sum Op = iota
	Mean
	Max
	Min
	ops
)

var names = [ops]string{"sum", "mean", "max", "min"}

// String is the name of the reduction in lower case.
func (op Op) String() string {
	if op >= ops {
		return fmt.Sprintf("op(%d)", uint8(op))
	}
	return names[op]
}

// Check reports, as an error that names what is allowed, an op or a type that
// does not exist and a mean of a type that has none.
func Check(op Op, t dtype.Type) error {
	switch {
	case op >= ops:
		return fmt.Errorf("reduce: unknown %v (have %s)", op, strings.Join(names[:], ", "))
	case !t.Valid():
		return fmt.Errorf("reduce: %v of element type %v (have %v)", op, t, dtype.All())
	case op == Mean && !t.IsInexact():
		return fmt.Errorf("reduce: mean of %v is not defined (only of %v)", t, inexact())
	}
	return nil
}

func inexact() []dtype.Type {
	var all []dtype.Type
	for _, t := range dtype.All() {
		if t.IsInexact() {
			all = append(all, t)
		}
	}
	return all
}

// Into sets dst to the reduction of parts, elementwise. All lengths are equal and
// a multiple of the element size, Check accepted op and t, and there is at least
// one part. dst may be one of the parts; otherwise nothing overlaps. Any address
// will do. Bytes of bool are 0 or 1.
func Into(op Op, t dtype.Type, dst []byte, parts [][]byte) {
	into(active(), op, t, dst, parts)
}

func into(fast *table, op Op, t dtype.Type, dst []byte, parts [][]byte) {
	if len(parts) == 1 {
		copy(dst, parts[0])
		return
	}
	if n := fast.into(op, t, dst, parts); n < len(dst) {
		portable(op, t, dst, parts, n)
	}
}

// portable combines the bytes from an offset on.
func portable(op Op, t dtype.Type, dst []byte, parts [][]byte, from int) {
	switch {
	case op == Sum && t == dtype.Float32 && len(parts) == 2:
		// The float64 sum of two float32 rounds to the same bits.
		inPlace(addFloat32, t, dst, parts, from)
	case t.IsInexact():
		widened(op, t, dst, parts, from, len(parts))
	default:
		inPlace(exact[t][op], t, dst, parts, from)
	}
}

// IntoPartial is Into for parts some of which are results of Sum already: in all
// they stand for the originals of so many ranks, by which a mean divides. It
// rounds what has been rounded before, so that its bits depend on what was
// combined first.
func IntoPartial(op Op, t dtype.Type, dst []byte, parts [][]byte, ranks int) {
	if op != Mean || len(parts) == ranks {
		Into(op, t, dst, parts)
		return
	}
	widened(op, t, dst, parts, 0, ranks)
}
