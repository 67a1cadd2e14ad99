package nn

import (
	"fmt"
	"hash/fnv"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// The default sizes of buckets: the first is small, so that communication
// starts early in the backward pass.
const (
	firstBucketBytes = 1 << 20
	bucketBytes      = 32 << 20
)

// AverageGradients replaces every gradient by its mean over the ranks of g, nil
// meaning the default group. Gradients travel together in buckets, formed from the
// last leaf backwards, as the backward pass finishes them; a bucket is full at
// 32 MiB, the first one at 1 MiB. The values are the same bits on every rank, and
// the same whatever the buckets. Integers become float32. A tree with several
// element types is averaged leaf by leaf. In a group of one all other leaves come
// back as they are. Paths, shapes and order must agree on all ranks; where they do not,
// all get an error that names the leaves of each. Every rank counts
// the same: where ranks have batches of different sizes, the mean of their gradients
// is not that of all examples.
func AverageGradients(grads tree.Tree, g *group.Group) tree.Tree {
	return averageInBuckets(grads, g, firstBucketBytes, bucketBytes)
}

// AverageGradientsIn is AverageGradients with buckets that are full at the given
// number of bytes; 0 or less averages leaf by leaf.
func AverageGradientsIn(grads tree.Tree, g *group.Group, bytes int) tree.Tree {
	return averageInBuckets(grads, g, bytes, bytes)
}

// AverageGradientsAs is AverageGradientsIn with gradients that travel in another
// type, such as float16 to send half as much: each is rounded to it, the mean is
// rounded to it once, and the result has the gradient's own type. Bytes are counted in
// the wire type. It must be a floating-point type, and complex gradients are errors.
func AverageGradientsAs(grads tree.Tree, g *group.Group, bytes int, wire dtype.Type) tree.Tree {
	switch {
	case !wire.IsFloat():
		bad := array.Fail("average_gradients", fmt.Errorf("%v is no floating-point type to send gradients in", wire))
		return grads.Map(func(tree.Leaf) *array.Array { return bad })
	case resolve(g).Size() == 1:
		return AverageGradients(grads, g)
	}
	sent := grads.Map(func(l tree.Leaf) *array.Array { return onWire(l.Array, wire) })
	means := AverageGradientsIn(sent, g, bytes).Arrays()
	for i, leaf := range grads {
		if t := leaf.Array.DType(); t.IsInexact() {
			means[i] = means[i].AsType(t)
		} else if t.Valid() {
			means[i] = means[i].AsType(dtype.Float32)
		}
	}
	return grads.With(means)
}

func onWire(x *array.Array, wire dtype.Type) *array.Array {
	switch {
	case x.Err() != nil || wire == x.DType():
		return x
	case x.DType().IsComplex():
		return array.Fail("average_gradients", fmt.Errorf("%v would lose its imaginary part as %v", x.Spec(), wire))
	}
	return x.AsType(wire)
}

func averageInBuckets(grads tree.Tree, g *group.Group, first, rest int) tree.Tree {
	g = resolve(g)
	means := grads.Arrays()
	if g.Size() == 1 || !uniform(means) {
		first, rest = 0, 0
	}
	for _, bucket := range buckets(means, first, rest) {
		averageBucket(grads, means, bucket, g)
	}
	return grads.With(means)
}

// resolve makes the default group of nil.
func resolve(g *group.Group) *group.Group {
	if g == nil {
		return group.Default()
	}
	return g
}

// uniform reports whether all arrays have one element type and no mistake.
func uniform(xs []*array.Array) bool {
	for _, x := range xs {
		if x.Err() != nil || x.DType() != xs[0].DType() {
			return false
		}
	}
	return true
}

// buckets groups the numbers of the arrays, last first. A bucket closes once it
// holds limit bytes or more.
func buckets(xs []*array.Array, first, rest int) [][]int {
	var all [][]int
	var open []int
	bytes, limit := 0, first
	for i := len(xs) - 1; i >= 0; i-- {
		open = append(open, i)
		if bytes += xs[i].Spec().Bytes(); bytes >= limit {
			all = append(all, open)
			open, bytes, limit = nil, 0, rest
		}
	}
	if open != nil {
		all = append(all, open)
	}
	return all
}

// averageBucket averages the arrays with the given numbers in one collective.
func averageBucket(grads tree.Tree, xs []*array.Array, numbers []int, g *group.Group) {
	what := described(grads, numbers)
	if len(numbers) == 1 {
		xs[numbers[0]] = ops.AllMeanOf(what, xs[numbers[0]], g)
		return
	}
	flat, ends, end := make([]*array.Array, len(numbers)), make([]int, len(numbers)-1), 0
	for i, number := range numbers {
		flat[i] = xs[number].Flatten()
		if end += flat[i].Size(); i < len(ends) {
			ends[i] = end
		}
	}
	means := array.SplitAt(ops.AllMeanOf(what, array.Concatenate(flat, 0), g), ends, 0)
	for i, number := range numbers {
		xs[number] = means[i].Reshape(xs[number].Shape()...)
	}
}

// described names the leaves with the given numbers, so that ranks whose trees
// differ find out: by their first and last path, and by a hash of all paths and shapes.
func described(grads tree.Tree, numbers []int) string {
	h := fnv.New64a()
	for _, i := range numbers {
		fmt.Fprintf(h, "%s %v\n", grads[i].Path, grads[i].Array.Spec())
	}
	first := grads[numbers[0]].Path
	if len(numbers) == 1 {
		return fmt.Sprintf("gradient of %s", first)
	}
	last := grads[numbers[len(numbers)-1]].Path
	return fmt.Sprintf("gradients of %d leaves, %s to %s, hash %08x", len(numbers), last, first, uint32(h.Sum64()))
}
