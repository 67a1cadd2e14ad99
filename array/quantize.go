package array

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Quantization says how the rows of a matrix are quantized: groups of GroupSize
// elements (32, 64 or 128) share a scale and a bias, and each element takes Bits
// bits (2, 3, 4, 5, 6 or 8). Zero means 64 and 4. Packing is MLX's: the elements
// of a row one after the other, from the lowest bit of the first uint32 on.
type Quantization struct {
	GroupSize int
	Bits      int
	// Mode is "affine" or empty, which is the same. MLX's floating-point modes are
	// errors that wrap errors.ErrUnsupported.
	Mode string
}

func (q Quantization) groups() (kernel.Groups, error) {
	g := kernel.Groups{Size: q.GroupSize, Bits: q.Bits}
	if g.Size == 0 {
		g.Size = 64
	}
	if g.Bits == 0 {
		g.Bits = 4
	}
	switch {
	case slices.Contains([]string{"mxfp4", "mxfp8", "nvfp4"}, q.Mode):
		return g, fmt.Errorf("mode %s (have affine): %w", q.Mode, errors.ErrUnsupported)
	case q.Mode != "" && q.Mode != "affine":
		return g, fmt.Errorf("mode %q (have affine)", q.Mode)
	case !slices.Contains([]int{32, 64, 128}, g.Size):
		return g, fmt.Errorf("groups of %d (have 32, 64, 128)", g.Size)
	case !slices.Contains([]int{2, 3, 4, 5, 6, 8}, g.Bits):
		return g, fmt.Errorf("%d bits (have 2, 3, 4, 5, 6, 8)", g.Bits)
	}
	return g, nil
}

// Quantize packs w, whose last axis of length n is a whole number of groups, into
// uint32 of length n·bits/32, with scales and biases of length n/group in the
// type of w: an element is about scale·q + bias. Complex numbers and integers
// are errors. It has no derivative.
func Quantize(w *Array, q Quantization) (packed, scales, biases *Array) {
	g, err := q.groups()
	if err != nil {
		bad := w.fail("quantize", err)
		return bad, bad, bad
	}
	out := Apply(quantize{groups: g}, w)
	return out[0], out[1], out[2]
}

// Dequantize unpacks what Quantize with the same settings has packed. The result
// has the type of scales and biases. The gradient goes to these two.
func Dequantize(packed, scales, biases *Array, q Quantization) *Array {
	g, err := q.groups()
	if err != nil {
		return packed.fail("dequantize", err)
	}
	t := promoted(scales, biases)
	if !t.Valid() {
		return Apply1(dequantize{g}, packed, scales, biases)
	}
	return Apply1(dequantize{g}, packed, scales.AsType(t), biases.AsType(t))
}

// QuantizedMatMul multiplies x of shape [… m k] with a quantized matrix without
// unpacking it as a whole: with the transpose of one of shape [n k] if transposed
// is true, as layers store it, or with one of shape [k n]. A matrix with more
// axes is a batch of matrices and broadcasts with x; a vector x gives a vector.
// The type is that of x, scales and biases promoted. The gradient goes to x,
// scales and biases.
func QuantizedMatMul(x, packed, scales, biases *Array, transposed bool, q Quantization) *Array {
	g, err := q.groups()
	if err != nil {
		return x.fail("quantized_matmul", err)
	}
	p := quantizedMatMul{g, transposed}
	t := promoted(x, scales, biases)
	if !t.Valid() || packed.Err() != nil || x.NDim() == 0 {
		return Apply1(p, x, packed, scales, biases)
	}
	if x.NDim() == 1 {
		return QuantizedMatMul(x.ExpandDims(0), packed, scales, biases, transposed, q).Squeeze(-2)
	}
	in := []*Array{x.AsType(t), packed, scales.AsType(t), biases.AsType(t)}
	if packed.NDim() > 2 {
		in = broadcastBatch(in)
	}
	return Apply1(p, in...)
}

// broadcastBatch broadcasts all axes but the last two, or leaves what does not
// fit as it is.
func broadcastBatch(xs []*Array) []*Array {
	var batch []int
	for _, x := range xs {
		shape := x.spec().Shape
		both, ok := layout.Broadcast(batch, shape[:max(0, len(shape)-2)])
		if !ok || len(shape) < 2 {
			return xs
		}
		batch = both
	}
	out := make([]*Array, len(xs))
	for i, x := range xs {
		out[i] = x.BroadcastTo(slices.Concat(batch, x.Shape()[x.NDim()-2:])...)
	}
	return out
}

// quantize gives packed elements, scales and biases.
type quantize struct {
	NoRules
	groups kernel.Groups
}

func (quantize) Name() string { return "quantize" }

// Outputs is three.
func (quantize) Outputs() int { return 3 }

// Equal reports whether o packs alike.
func (p quantize) Equal(o Primitive) bool { return o == p }

func (p quantize) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkReal(in[0]); err != nil {
		return nil, err
	}
	shape := in[0].Shape
	last := len(shape) - 1
	if last < 0 || shape[last]%p.groups.Size != 0 {
		return nil, fmt.Errorf("rows of %v are no whole number of groups of %d", in[0], p.groups.Size)
	}
	packed, scales := slices.Clone(shape), slices.Clone(shape)
	packed[last] = shape[last] * p.groups.Bits / 32
	scales[last] = shape[last] / p.groups.Size
	return []Spec{{packed, dtype.Uint32}, {scales, in[0].DType}, {scales, in[0].DType}}, nil
}

func (p quantize) Eval(_ context.Context, in, out []View) error {
	kernel.Quantize(p.groups, in[0].DType, Elements[uint32](out[0]), out[1].Bytes(), out[2].Bytes(), in[0].Bytes())
	return nil
}

func (p quantize) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}

// unpacked is the shape of the matrix that three inputs stand for.
func unpacked(g kernel.Groups, packed, scales, biases Spec) ([]int, error) {
	shape := slices.Clone(scales.Shape)
	last := len(shape) - 1
	if last < 0 || packed.DType != dtype.Uint32 || checkReal(scales) != nil || !scales.Equal(biases) {
		return nil, fmt.Errorf("packed %v with scales %v and biases %v", packed, scales, biases)
	}
	shape[last] *= g.Size * g.Bits / 32
	if !slices.Equal(shape, packed.Shape) {
		return nil, fmt.Errorf("packed %v with scales %v for groups of %d with %d bits", packed, scales, g.Size, g.Bits)
	}
	shape[last] = scales.Shape[last] * g.Size
	return shape, nil
}

// dequantize unpacks its first input with scales and biases.
type dequantize struct{ groups kernel.Groups }

func (dequantize) Name() string { return "dequantize" }

// Equal reports whether o unpacks alike.
func (p dequantize) Equal(o Primitive) bool { return o == p }

func (p dequantize) OutputSpecs(in []Spec) ([]Spec, error) {
	shape, err := unpacked(p.groups, in[0], in[1], in[2])
	return []Spec{{shape, in[1].DType}}, err
}

func (p dequantize) Eval(_ context.Context, in, out []View) error {
	kernel.Dequantize(p.groups, out[0].DType, out[0].Bytes(), buffer.As[uint32](in[0].Bytes()), in[1].Bytes(), in[2].Bytes())
	return nil
}

func (p dequantize) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	return p.pull(in, dy[0], argnums, 1), nil
}

// pull is the gradient of the scales (input number first) and of the biases, of
// the matrix with gradient d. in holds packed elements, scales and biases.
func (p dequantize) pull(in []*Array, d *Array, argnums []int, first int) []*Array {
	byGroup := append(in[1].Shape(), p.groups.Size)
	d = d.Reshape(byGroup...)
	var dx []*Array
	for _, arg := range argnums {
		if arg == first {
			q := Apply1(p, in[0], Ones(in[1].DType(), in[1].Shape()...), ZerosLike(in[2]))
			dx = append(dx, d.Mul(q.Reshape(byGroup...)).Sum(-1))
		} else if arg == first+1 {
			dx = append(dx, d.Sum(-1))
		}
	}
	return dx
}

func (p dequantize) JVP(in, _, dx []*Array, argnums []int) ([]*Array, error) {
	t := []*Array{in[0], ZerosLike(in[1]), ZerosLike(in[2])}
	for i, arg := range argnums {
		t[arg] = dx[i]
	}
	return Apply(p, t...), nil
}

func (p dequantize) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	xs, _ := batchAll(in, axes)
	return Apply(p, xs...), []int{0}, nil
}

// quantizedMatMul multiplies x with one packed matrix, or with as many as x has
// matrices.
type quantizedMatMul struct {
	groups     kernel.Groups
	transposed bool
}

func (quantizedMatMul) Name() string { return "quantized_matmul" }

// Equal reports whether o multiplies alike.
func (p quantizedMatMul) Equal(o Primitive) bool { return o == p }

func (p quantizedMatMul) OutputSpecs(in []Spec) ([]Spec, error) {
	x, w := in[0], in[2]
	shape, err := unpacked(p.groups, in[1], in[2], in[3])
	if err != nil {
		return nil, err
	}
	last := len(shape) - 1
	if len(x.Shape) < 2 || last < 1 || x.DType != w.DType {
		return nil, fmt.Errorf("%v with a matrix of %v%v", x, w.DType, shape)
	}
	k, n := shape[last-1], shape[last]
	if p.transposed {
		k, n = n, k
	}
	lead := x.Shape[:len(x.Shape)-1]
	if x.Shape[len(lead)] != k || last > 1 && !slices.Equal(lead[:len(lead)-1], shape[:last-1]) {
		return nil, fmt.Errorf("%v does not multiply with a matrix of shape %v, transposed %v", x, shape, p.transposed)
	}
	return []Spec{{append(slices.Clone(lead), n), x.DType}}, nil
}

func (p quantizedMatMul) Eval(_ context.Context, in, out []View) error {
	x, w, y := in[0].Shape, in[2].Shape, out[0].Shape
	size := kernel.Product{Batch: 1, K: x[len(x)-1], N: y[len(y)-1], Transposed: p.transposed}
	if len(w) > 2 {
		size.Batch = layout.Size(w[:len(w)-2])
	}
	size.M = layout.Size(x[:len(x)-1]) / max(1, size.Batch)
	kernel.QuantizedMatMul(p.groups, size, out[0].DType, out[0].Bytes(), in[0].Bytes(),
		buffer.As[uint32](in[1].Bytes()), in[2].Bytes(), in[3].Bytes())
	return nil
}

func (p quantizedMatMul) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	x, d := in[0], dy[0]
	var dx []*Array
	if argnums[0] == 0 {
		dx = append(dx, Apply1(quantizedMatMul{p.groups, !p.transposed}, d, in[1], in[2], in[3]))
	}
	if in[2].NDim() == 2 {
		x, d = x.Reshape(-1, x.Dim(-1)), d.Reshape(-1, d.Dim(-1))
	}
	dw := x.SwapAxes(-1, -2).MatMul(d)
	if p.transposed {
		dw = d.SwapAxes(-1, -2).MatMul(x)
	}
	return append(dx, dequantize{p.groups}.pull(in[1:], dw, argnums, 2)...), nil
}

func (p quantizedMatMul) JVP(in, out, dx []*Array, argnums []int) ([]*Array, error) {
	var sum *Array
	add := func(y *Array) {
		if sum == nil {
			sum = y
		} else {
			sum = sum.Add(y)
		}
	}
	t := []*Array{nil, nil, ZerosLike(in[2]), ZerosLike(in[3])}
	weights := false
	for i, arg := range argnums {
		if arg == 0 {
			add(Apply1(p, dx[i], in[1], in[2], in[3]))
		} else {
			t[arg], weights = dx[i], true
		}
	}
	if weights {
		add(Apply1(p, in[0], in[1], t[2], t[3]))
	}
	return []*Array{sum}, nil
}

func (p quantizedMatMul) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	if in[2].NDim() == 2 && axes[1] < 0 && axes[2] < 0 && axes[3] < 0 {
		return Apply(p, in[0].MoveAxis(axes[0], 0), in[1], in[2], in[3]), []int{0}, nil
	}
	xs, _ := batchAll(in, axes)
	lead := xs[0].Shape()[:xs[0].NDim()-2]
	for i, w := range xs[1:] {
		for w.NDim() < xs[0].NDim() {
			w = w.ExpandDims(1)
		}
		xs[i+1] = w.BroadcastTo(slices.Concat(lead, w.Shape()[w.NDim()-2:])...)
	}
	return Apply(p, xs...), []int{0}, nil
}
