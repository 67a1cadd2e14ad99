package array

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// MatMul is the matrix product of x [..., m, k] and y [..., k, n]: shape
// [..., m, n], where the leading axes broadcast. A vector x [k] counts as a row
// and a vector y [k] as a column, and that axis is left out of the result. The
// type is the promoted one, which must be inexact: integers are an error, as in
// MLX. float16 and bfloat16 are added up in float32 and rounded once. Zero times
// NaN or infinity is NaN.
func (x *Array) MatMul(y *Array) *Array {
	t := promoted(x, y)
	if _, err := matMulShape(x.spec().Shape, y.spec().Shape); err != nil || !t.IsInexact() {
		return Apply1(matMul{}, x, y) // which says what is wrong
	}
	x, y = x.AsType(t), y.AsType(t)
	switch {
	case x.Err() != nil || y.Err() != nil: // too large for this type
		return Apply1(matMul{}, x, y)
	case x.NDim() == 1:
		return x.ExpandDims(0).MatMul(y).Squeeze(-min(2, y.NDim()))
	case y.NDim() == 1:
		return x.MatMul(y.ExpandDims(1)).Squeeze(-1)
	case y.NDim() == 2 && x.NDim() > 2:
		return x.asMatrix().MatMul(y).Reshape(append(x.Shape()[:x.NDim()-1], y.Dim(1))...)
	}
	batch, _ := layout.Broadcast(matrixBatch(x), matrixBatch(y))
	return Apply1(matMul{}, x.inBatch(batch), y.inBatch(batch))
}

// AddMM is alpha·(x·y) + beta·c: the matrix product of x and y added to c, which
// broadcasts with it. Types and errors are those of MatMul and Add.
func AddMM(c, x, y *Array, alpha, beta float64) *Array {
	z := x.MatMul(y)
	if alpha != 1 {
		z = z.MulScalar(alpha)
	}
	if beta != 1 {
		c = c.MulScalar(beta)
	}
	return c.Add(z)
}

// asMatrix joins all axes but the last, so that one large product replaces many
// small ones.
func (x *Array) asMatrix() *Array {
	cols := x.Dim(-1)
	rows := layout.Size(x.spec().Shape[:x.NDim()-1])
	return x.Reshape(rows, cols)
}

// matrixBatch is the leading axes of a stack of matrices.
func matrixBatch(x *Array) []int { return x.spec().Shape[:x.NDim()-2] }

func (x *Array) inBatch(batch []int) *Array {
	return x.BroadcastTo(slices.Concat(batch, x.spec().Shape[x.NDim()-2:])...)
}

// matMulShape is the shape of the product.
func matMulShape(x, y []int) ([]int, error) {
	if len(x) == 0 || len(y) == 0 {
		return nil, fmt.Errorf("shapes %v and %v: a number has no matrix product", x, y)
	}
	a, b := x, y
	if len(a) == 1 {
		a = []int{1, a[0]}
	}
	if len(b) == 1 {
		b = []int{b[0], 1}
	}
	m, k := a[len(a)-2], a[len(a)-1]
	if inner := b[len(b)-2]; k != inner {
		return nil, fmt.Errorf("shapes %v and %v: %d columns and %d rows", x, y, k, inner)
	}
	batch, ok := layout.Broadcast(a[:len(a)-2], b[:len(b)-2])
	if !ok {
		return nil, fmt.Errorf("shapes %v and %v: leading axes do not broadcast", x, y)
	}
	return append(batch, m, b[len(b)-1]), nil
}

// matMul multiplies two stacks of matrices with the same leading axes.
type matMul struct{}

func (matMul) Name() string  { return "matmul" }
func (matMul) ReadsStrided() {}

// Equal reports whether o is the same operation.
func (matMul) Equal(o Primitive) bool { return o == matMul{} }

func (matMul) OutputSpecs(in []Spec) ([]Spec, error) {
	shape, err := matMulShape(in[0].Shape, in[1].Shape)
	if err != nil {
		return nil, err
	}
	if t := dtype.Promote(in[0].DType, in[1].DType); !t.IsInexact() {
		return nil, fmt.Errorf("%v and %v: %w", in[0], in[1], unsupported(t, dtype.Type.IsInexact))
	}
	if err := checkSize(in[0].DType, shape); err != nil {
		return nil, err
	}
	return []Spec{{shape, in[0].DType}}, nil
}

func (matMul) Eval(ctx context.Context, in, out []View) error {
	axes := len(out[0].Shape) - 2
	m, n, k := out[0].Shape[axes], out[0].Shape[axes+1], in[0].Shape[axes+1]
	x, y := walkable(in[0]), walkable(in[1])
	c, size := out[0].Bytes(), m*n*out[0].DType.Size()
	if axes == 0 {
		a, _ := matrixAt(x, x.Offset)
		b, _ := matrixAt(y, y.Offset)
		kernel.MatMul(x.DType, m, n, k, a, b, c)
		return context.Cause(ctx)
	}
	batch := append(slices.Clone(out[0].Shape[:axes]), 1)
	strides := [][]int{append(slices.Clone(x.Strides[:axes]), 0), append(slices.Clone(y.Strides[:axes]), 0)}
	layout.Rows(batch, strides, []int{x.Offset, y.Offset}, func(at []int) {
		if ctx.Err() != nil {
			return
		}
		a, _ := matrixAt(x, at[0])
		b, _ := matrixAt(y, at[1])
		kernel.MatMul(x.DType, m, n, k, a, b, c[:size])
		c = c[size:]
	})
	return context.Cause(ctx)
}

// walkable is v, or a copy where BLAS cannot walk its matrices.
func walkable(v View) View {
	if _, ok := matrixAt(v, v.Offset); ok {
		return v
	}
	return v.Contiguous()
}

func matrixAt(v View, offset int) (kernel.Matrix, bool) {
	last := len(v.Shape) - 1
	return kernel.NewMatrix(v.Storage, v.DType.Size(), offset,
		v.Shape[last-1], v.Shape[last], v.Strides[last-1], v.Strides[last])
}

func (matMul) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		if arg == 0 {
			dx[i] = dy[0].MatMul(in[1].Conj().SwapAxes(-1, -2))
		} else {
			dx[i] = in[0].Conj().SwapAxes(-1, -2).MatMul(dy[0])
		}
	}
	return dx, nil
}

// transposedProduct is x with its axes in the given order, where x is a matrix product that
// is not computed and the order exchanges the last two axes: (a·b)ᵀ is bᵀ·aᵀ, whose
// elements lie as its readers walk them. It is nil otherwise. Such is the gradient of the
// weight of a layer that multiplies with the weight's transpose.
func (x *Array) transposedProduct(order []int) *Array {
	last := len(order) - 1
	if last < 1 || order[last] != last-1 || order[last-1] != last || !slices.IsSorted(order[:last-1]) {
		return nil
	}
	p, in := x.node().source()
	if p != (Primitive)(matMul{}) || x.Err() != nil {
		return nil
	}
	return in.at(1).SwapAxes(-1, -2).MatMul(in.at(0).SwapAxes(-1, -2))
}

func (matMul) JVP(in, _, dx []*Array, argnums []int) ([]*Array, error) {
	var sum *Array
	for i, arg := range argnums {
		factors := slices.Clone(in)
		factors[arg] = dx[i]
		if part := factors[0].MatMul(factors[1]); sum == nil {
			sum = part
		} else {
			sum = sum.Add(part)
		}
	}
	return []*Array{sum}, nil
}

// VMap puts the batch axis in front, where it is one more axis of the stack.
func (matMul) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	front := slices.Clone(in)
	for i, axis := range axes {
		if axis >= 0 {
			front[i] = in[i].MoveAxis(axis, 0)
		}
	}
	return []*Array{front[0].MatMul(front[1])}, []int{0}, nil
}
