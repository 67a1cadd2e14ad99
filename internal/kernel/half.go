package kernel

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// block is how many elements are converted or gathered at a time, so that they
// stay in the first-level cache.
const block = 512

// Widen writes the exact values of half-precision elements of type t to y.
func Widen(t dtype.Type, y []float32, x []byte) {
	if t == dtype.Float16 {
		for i, h := range buffer.As[dtype.F16](x) {
			y[i] = h.Float32()
		}
		return
	}
	for i, h := range buffer.As[dtype.BF16](x) {
		y[i] = h.Float32()
	}
}

// Narrow rounds x once to half-precision elements of type t.
func Narrow(t dtype.Type, y []byte, x []float32) {
	if t == dtype.Float16 {
		for i := range buffer.As[dtype.F16](y) {
			buffer.As[dtype.F16](y)[i] = dtype.F16From(float64(x[i]))
		}
		return
	}
	for i := range buffer.As[dtype.BF16](y) {
		buffer.As[dtype.BF16](y)[i] = dtype.BF16From(float64(x[i]))
	}
}

// halves carries a float32 loop over operands of the half type t, whose output
// is of type t as well.
func halves(t dtype.Type, f Loop) Loop {
	if f == nil {
		return nil
	}
	w := widened{t: t, loop: f}
	var result []float32
	return func(out []byte, in [][]byte) {
		if result == nil {
			result = make([]float32, block)
		}
		w.run(in, len(out)/2, func(i, n int) {
			w.loop(buffer.Bytes(result[:n]), w.operands)
			Narrow(t, out[2*i:2*(i+n)], result[:n])
		})
	}
}

// halfTests is halves for loops whose output is bool.
func halfTests(t dtype.Type, f Loop) Loop {
	if f == nil {
		return nil
	}
	w := widened{t: t, loop: f}
	return func(out []byte, in [][]byte) {
		w.run(in, len(out), func(i, n int) { w.loop(out[i:i+n], w.operands) })
	}
}

// widened converts operands block by block to float32.
type widened struct {
	t        dtype.Type
	loop     Loop
	scratch  [][]float32
	operands [][]byte // the present block as float32
}

// run calls f for each block of n elements from the i-th on.
func (w *widened) run(in [][]byte, total int, f func(i, n int)) {
	for len(w.scratch) < len(in) {
		w.scratch = append(w.scratch, make([]float32, block))
		w.operands = append(w.operands, nil)
	}
	for i := 0; i < total; i += block {
		n := min(block, total-i)
		for k := range in {
			Widen(w.t, w.scratch[k][:n], in[k][2*i:2*(i+n)])
			w.operands[k] = buffer.Bytes(w.scratch[k][:n])
		}
		f(i, n)
	}
}
