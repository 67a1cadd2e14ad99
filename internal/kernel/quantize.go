package kernel

import (
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Groups is how rows are quantized: elements of Bits bits, packed from the lowest
// bit of the first word on, with a scale and a bias for every Size elements.
type Groups struct{ Size, Bits int }

// words is how many words n elements take.
func (g Groups) words(n int) int { return n * g.Bits / 32 }

// Quantize packs contiguous elements of the floating-point type t, a whole number
// of groups. The element of a group that is farthest from zero is kept exactly,
// up to the rounding of scales and biases to t.
func Quantize(g Groups, t dtype.Type, packed []uint32, scales, biases, w []byte) {
	x := float32s(t, w)
	clear(packed)
	n := len(x) / g.Size
	s, b := make([]float32, n), make([]float32, n)
	for i := range n {
		s[i], b[i] = g.quantize(packed, i*g.Size, x[i*g.Size:(i+1)*g.Size])
	}
	storeFloat32s(t, scales, s)
	storeFloat32s(t, biases, b)
}

// quantize packs one group whose first element is number at.
func (g Groups) quantize(packed []uint32, at int, x []float32) (scale, bias float32) {
	scale, bias = g.affine(minRow(x), maxRow(x))
	top := float64(g.mask())
	for j, v := range x {
		q := math.RoundToEven(float64((v - bias) / scale))
		g.put(packed, at+j, uint64(min(max(q, 0), top))&g.mask())
	}
	return scale, bias
}

func (g Groups) affine(low, high float32) (scale, bias float32) {
	scale = max((high-low)/float32(g.mask()), 1e-7)
	edge := low
	if !(-low > high) {
		scale, edge = -scale, high
	}
	if q := float32(math.RoundToEven(float64(edge / scale))); q != 0 {
		return edge / q, edge
	}
	return scale, 0
}

func (g Groups) mask() uint64 { return 1<<g.Bits - 1 }

func (g Groups) put(packed []uint32, i int, q uint64) {
	at, shift := i*g.Bits/32, i*g.Bits%32
	q <<= shift
	packed[at] |= uint32(q)
	if q>>32 != 0 {
		packed[at+1] |= uint32(q >> 32)
	}
}

func (g Groups) get(packed []uint32, i int) uint64 {
	at, shift := i*g.Bits/32, i*g.Bits%32
	q := uint64(packed[at])
	if shift+g.Bits > 32 {
		q |= uint64(packed[at+1]) << 32
	}
	return q >> shift & g.mask()
}

// Dequantize unpacks elements to type t: scale·q + bias.
func Dequantize(g Groups, t dtype.Type, y []byte, packed []uint32, scales, biases []byte) {
	if t == dtype.Float64 {
		unpack(g, buffer.As[float64](y), packed, buffer.As[float64](scales), buffer.As[float64](biases))
		return
	}
	wide := make([]float32, len(y)/t.Size())
	unpack(g, wide, packed, float32s(t, scales), float32s(t, biases))
	storeFloat32s(t, y, wide)
}

func unpack[T float](g Groups, y []T, packed []uint32, scales, biases []T) {
	for i, scale := range scales {
		bias := biases[i]
		for j := i * g.Size; j < (i+1)*g.Size; j++ {
			y[j] = T(scale*T(g.get(packed, j))) + bias
		}
	}
}

// float32s is the elements of a floating-point type, rounded to float32.
func float32s(t dtype.Type, x []byte) []float32 {
	if t == dtype.Float32 {
		return buffer.As[float32](x)
	}
	y := make([]float32, len(x)/t.Size())
	Cast(t, dtype.Float32)(buffer.Bytes(y), [][]byte{x})
	return y
}

func storeFloat32s(t dtype.Type, y []byte, x []float32) {
	if t == dtype.Float32 {
		copy(buffer.As[float32](y), x)
		return
	}
	Cast(dtype.Float32, t)(y, [][]byte{buffer.Bytes(x)})
}

// Product is the size of a product of m rows of k elements with a quantized
// matrix: n rows of k, of which the transpose is taken, or k rows of n.
type Product struct {
	Batch, M, K, N int
	Transposed     bool
}

// QuantizedMatMul multiplies x, of type t, with a packed matrix, of which it
// unpacks one row at a time. Elements of the result are added in float64 in the
// order of k, rows of a matrix that is not transposed in t, float32 for the half
// types.
func QuantizedMatMul(g Groups, p Product, t dtype.Type, y, x []byte, packed []uint32, scales, biases []byte) {
	if t == dtype.Float64 {
		multiply(g, p, buffer.As[float64](y), buffer.As[float64](x), packed, buffer.As[float64](scales), buffer.As[float64](biases))
		return
	}
	wide := make([]float32, len(y)/t.Size())
	multiply(g, p, wide, float32s(t, x), packed, float32s(t, scales), float32s(t, biases))
	storeFloat32s(t, y, wide)
}

func multiply[T float](g Groups, p Product, y, x []T, packed []uint32, scales, biases []T) {
	if len(y) == 0 {
		return
	}
	rows, width := p.K, p.N
	if p.Transposed {
		rows, width = p.N, p.K
	}
	words, groups := g.words(width), width/g.Size
	row := make([]T, width)
	clear(y)
	for b := range p.Batch {
		xs, ys := x[b*p.M*p.K:(b+1)*p.M*p.K], y[b*p.M*p.N:(b+1)*p.M*p.N]
		for r := range rows {
			at := b*rows + r
			unpack(g, row, packed[at*words:(at+1)*words], scales[at*groups:(at+1)*groups], biases[at*groups:(at+1)*groups])
			if p.Transposed {
				dotRow(p, ys, xs, row, r)
			} else {
				addRow(p, ys, xs, row, r)
			}
		}
	}
}

// dotRow computes column n of the result.
func dotRow[T float](p Product, y, x, row []T, n int) {
	for m := range p.M {
		sum := 0.0
		for k, v := range x[m*p.K : (m+1)*p.K] {
			sum += float64(float64(v) * float64(row[k]))
		}
		y[m*p.N+n] = T(sum)
	}
}

// addRow adds what row k of the matrix contributes.
func addRow[T float](p Product, y, x, row []T, k int) {
	for m := range p.M {
		v := x[m*p.K+k]
		for n, w := range row {
			y[m*p.N+n] += T(v * w)
		}
	}
}
