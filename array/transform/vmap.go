package transform

import (
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// VMap returns a function that applies f to every example of a batch at once.
// in[i] is the axis of argument i along which its examples lie, or -1 for an
// argument that is the same for all; it is removed before f sees the argument.
// out[i] is where the batch axis of result i is put. One axis given in either
// list serves for all. Axes count from the end if negative, except that -1 in
// the list in means none.
//
// A result that does not depend on a batched argument is repeated.
func VMap(f Func, in, out []int) Func {
	return func(xs ...*array.Array) []*array.Array {
		axes, size, err := batchAxes(in, xs)
		if err != nil {
			return []*array.Array{array.Fail("vmap", err)}
		}
		t, err := recordExamples(f, xs, axes)
		if err != nil {
			return []*array.Array{array.Fail("vmap", err)}
		}
		b := &batching{size: size, arrays: map[array.Node][]*array.Array{}, axes: map[array.Node][]int{}}
		for i, x := range t.standIns {
			b.arrays[x.Node()], b.axes[x.Node()] = xs[i:i+1], axes[i:i+1]
		}
		return b.results(t, out)
	}
}

// batchAxes gives every argument its axis, and the common length of these.
func batchAxes(in []int, xs []*array.Array) (axes []int, size int, err error) {
	if len(in) != 1 && len(in) != len(xs) {
		return nil, 0, fmt.Errorf("%d batch axes for %d arguments", len(in), len(xs))
	}
	axes, size = make([]int, len(xs)), -1
	for i, x := range xs {
		axis := in[min(i, len(in)-1)]
		if err := x.Err(); err != nil {
			return nil, 0, err
		}
		if axis == -1 {
			axes[i] = -1
			continue
		}
		if axis < 0 {
			axis += x.NDim()
		}
		if axis < 0 || axis >= x.NDim() {
			return nil, 0, fmt.Errorf("argument %d of shape %v has no batch axis %d", i, x.Shape(), axis)
		}
		if size >= 0 && size != x.Dim(axis) {
			return nil, 0, fmt.Errorf("argument %d has %d examples, those before have %d", i, x.Dim(axis), size)
		}
		axes[i], size = axis, x.Dim(axis)
	}
	if size < 0 {
		return nil, 0, fmt.Errorf("no argument has a batch axis")
	}
	return axes, size, nil
}

// recordExamples calls f with stand-ins for one example. They never get a value:
// the recorded nodes only serve as a plan.
func recordExamples(f Func, xs []*array.Array, axes []int) (*traced, error) {
	examples := make([]*array.Array, len(xs))
	for i, x := range xs {
		shape := x.Shape()
		if axes[i] >= 0 {
			shape = slices.Delete(shape, axes[i], axes[i]+1)
		}
		examples[i] = array.Zeros(x.DType(), shape...)
	}
	t := record(f, examples)
	if bad := t.mistake(); bad != nil {
		return nil, bad.Err()
	}
	return t, nil
}

// batching holds, for each node already walked, its outputs for the whole batch
// and the batch axis of each, -1 where it has none.
type batching struct {
	size   int
	arrays map[array.Node][]*array.Array
	axes   map[array.Node][]int
}

func (b *batching) results(t *traced, out []int) []*array.Array {
	if len(out) != 1 && len(out) != len(t.outs) {
		return all(array.Fail("vmap", fmt.Errorf("%d output axes for %d results", len(out), len(t.outs))), max(1, len(t.outs)))
	}
	nodes, _ := t.between(batchInputs)
	for _, n := range nodes {
		if err := b.replay(n); err != nil {
			return all(array.Fail("vmap", noRule("vmap", n, err)), len(t.outs))
		}
	}
	results := make([]*array.Array, len(t.outs))
	for i, x := range t.outs {
		y, axis := b.get(x)
		results[i] = b.place(y, axis, out[min(i, len(out)-1)])
	}
	return results
}

// batchInputs reads what the batched form of a node is made from: of a custom
// function the arguments alone.
func batchInputs(n array.Node) []*array.Array {
	if p, ok := n.Primitive().(custom); ok {
		return n.Inputs()[p.results:]
	}
	return n.Inputs()
}

// replay applies the primitive of n again, to what its inputs are for the batch.
func (b *batching) replay(n array.Node) error {
	in, axes, batched := make([]*array.Array, len(n.Inputs())), make([]int, len(n.Inputs())), false
	for i, x := range n.Inputs() {
		in[i], axes[i] = b.get(x)
		batched = batched || axes[i] >= 0
	}
	if _, again := n.Primitive().(custom); !batched && !again {
		b.arrays[n] = array.Apply(n.Primitive(), in...)
		b.axes[n] = slices.Repeat([]int{-1}, len(b.arrays[n]))
		return nil
	}
	var err error
	b.arrays[n], b.axes[n], err = n.Primitive().VMap(in, axes)
	return err
}

func (b *batching) get(x *array.Array) (*array.Array, int) {
	if have, ok := b.arrays[x.Node()]; ok {
		return have[x.Index()], b.axes[x.Node()][x.Index()]
	}
	return x, -1
}

// place moves the batch axis to where the caller wants it.
func (b *batching) place(y *array.Array, axis, want int) *array.Array {
	if y.Err() != nil {
		return y
	}
	if axis < 0 {
		y, axis = y.ExpandDims(0).BroadcastTo(append([]int{b.size}, y.Shape()...)...), 0
	}
	return y.MoveAxis(axis, want)
}
