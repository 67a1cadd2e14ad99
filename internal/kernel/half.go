package kernel

import (
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// block is how many elements are converted or gathered at a time, so that they
// stay in the first-level cache.
const block = 512

// conversion is what a level has for a half type: conversions of n elements, a
// multiple of a vector's.
type conversion struct {
	vector int
	widen  func(n int, y *float32, x *uint16)
	narrow func(n int, y *uint16, x *float32)
	binary map[Op]func(n int, z, x, y *uint16)
}

func (k *kernels) half(t dtype.Type) *conversion {
	if t == dtype.Float16 {
		return &k.f16
	}
	return &k.bf16
}

// widened converts as many elements as fill vectors and says how many these are.
func (c *conversion) widened(y []float32, x []uint16) int {
	if c.widen == nil || len(x) < c.vector {
		return 0
	}
	n := len(x) / c.vector * c.vector
	_ = y[n-1]
	c.widen(n, &y[0], &x[0])
	return n
}

// narrowed is widened the other way.
func (c *conversion) narrowed(y []uint16, x []float32) int {
	if c.narrow == nil || len(x) < c.vector {
		return 0
	}
	n := len(x) / c.vector * c.vector
	_ = y[n-1]
	c.narrow(n, &y[0], &x[0])
	return n
}

// Widen writes the exact values of half-precision elements of type t to y.
func Widen(t dtype.Type, y []float32, x []byte) {
	done := active().half(t).widened(y, buffer.As[uint16](x))
	y, x = y[done:], x[2*done:]
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
	done := active().half(t).narrowed(buffer.As[uint16](y), x[:len(y)/2])
	y, x = y[2*done:], x[done:]
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
	return func(out []byte, in [][]byte) {
		w := widenedOf(t)
		defer w.release()
		result := w.room[maxOperands][:]
		w.run(in, len(out)/2, func(i, n int) {
			f(buffer.Bytes(result[:n]), w.operands[:len(in)])
			Narrow(t, out[2*i:2*(i+n)], result[:n])
		})
	}
}

// halfBinary is the loop of two operands of a half type: by the level what fills
// vectors, the rest through float32.
func halfBinary(k *kernels, op Op, t dtype.Type) Loop {
	rest := halves(t, loop2(fastBinary(k.vectors32, op)))
	f, vector := k.half(t).binary[op], k.half(t).vector
	if f == nil {
		return rest
	}
	return func(out []byte, in [][]byte) {
		z, x, y := buffer.As[uint16](out), buffer.As[uint16](in[0]), buffer.As[uint16](in[1])
		n := len(z) / vector * vector
		if n > 0 {
			_, _ = x[n-1], y[n-1]
			f(n, &z[0], &x[0], &y[0])
		}
		if n < len(z) {
			rest(out[2*n:], [][]byte{in[0][2*n:], in[1][2*n:]})
		}
	}
}

// halfTests is halves for loops whose output is bool.
func halfTests(t dtype.Type, f Loop) Loop {
	if f == nil {
		return nil
	}
	return func(out []byte, in [][]byte) {
		w := widenedOf(t)
		defer w.release()
		w.run(in, len(out), func(i, n int) { f(out[i:i+n], w.operands[:len(in)]) })
	}
}

const maxOperands = 3

// widened is room for a block of operands, as float32, and of a result.
type widened struct {
	t        dtype.Type
	room     [maxOperands + 1][block]float32
	operands [maxOperands][]byte // the present block
}

// widenedRooms keeps them between calls.
var widenedRooms = sync.Pool{New: func() any { return new(widened) }}

func widenedOf(t dtype.Type) *widened {
	w := widenedRooms.Get().(*widened)
	w.t = t
	return w
}

func (w *widened) release() { widenedRooms.Put(w) }

// run calls f for each block of n elements from the i-th on.
func (w *widened) run(in [][]byte, total int, f func(i, n int)) {
	for i := 0; i < total; i += block {
		n := min(block, total-i)
		for k := range in {
			Widen(w.t, w.room[k][:n], in[k][2*i:2*(i+n)])
			w.operands[k] = buffer.Bytes(w.room[k][:n])
		}
		f(i, n)
	}
}
