package reduce

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// block is the number of elements reduced at a time: accumulator, operand and
// source of one block stay in the first-level cache.
const block = 512

// inPlace folds the parts, from an offset on, in their own type.
func inPlace(fold func(acc, part []byte), t dtype.Type, dst []byte, parts [][]byte, from int) {
	step := min(len(dst)-from, block*t.Size())
	accumulator := buffer.Make(step)
	var a aligner
	for lo := from; lo < len(dst); lo += step {
		hi := min(lo+step, len(dst))
		acc := accumulator[:hi-lo]
		copy(acc, parts[0][lo:hi])
		for _, part := range parts[1:] {
			fold(acc, a.view(part[lo:hi], t))
		}
		copy(dst[lo:hi], acc)
	}
}

// widened folds the parts, from an offset on, in float64 and rounds at the end. A
// mean is that of so many ranks.
func widened(op Op, t dtype.Type, dst []byte, parts [][]byte, from, ranks int) {
	format, fold := formats[t], folds(op, t)
	step := min(len(dst)-from, block*t.Size())
	floats := step / t.Size() * format.floats
	accumulator, operand, result := make([]float64, floats), make([]float64, floats), buffer.Make(step)
	var a aligner
	for lo := from; lo < len(dst); lo += step {
		hi := min(lo+step, len(dst))
		acc := accumulator[:(hi-lo)/t.Size()*format.floats]
		format.widen(acc, a.view(parts[0][lo:hi], t))
		for _, part := range parts[1:] {
			x := operand[:len(acc)]
			format.widen(x, a.view(part[lo:hi], t))
			fold(acc, x)
		}
		if op == Mean {
			divide(acc, ranks)
		}
		format.narrow(result[:hi-lo], acc)
		copy(dst[lo:hi], result)
	}
}

// aligner lets typed loops read bytes at any address.
type aligner struct{ scratch []byte }

// view returns b, or a copy of it that lasts until the next call.
func (a *aligner) view(b []byte, t dtype.Type) []byte {
	if buffer.Aligned(b, t) {
		return b
	}
	if a.scratch == nil {
		a.scratch = buffer.Make(block * t.Size())
	}
	return a.scratch[:copy(a.scratch, b)]
}
