package nn

import (
	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
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
// back as they are. Paths, shapes and order must agree on all ranks. Every rank counts
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

func averageInBuckets(grads tree.Tree, g *group.Group, first, rest int) tree.Tree {
	if g == nil {
		g = group.Default()
	}
	means := grads.Arrays()
	if g.Size() == 1 || !uniform(means) {
		first, rest = 0, 0
	}
	for _, bucket := range buckets(means, first, rest) {
		averageBucket(means, bucket, g)
	}
	return grads.With(means)
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
func averageBucket(xs []*array.Array, numbers []int, g *group.Group) {
	if len(numbers) == 1 {
		xs[numbers[0]] = ops.AllMean(xs[numbers[0]], g)
		return
	}
	flat, ends, end := make([]*array.Array, len(numbers)), make([]int, len(numbers)-1), 0
	for i, number := range numbers {
		flat[i] = xs[number].Flatten()
		if end += flat[i].Size(); i < len(ends) {
			ends[i] = end
		}
	}
	means := array.SplitAt(ops.AllMean(array.Concatenate(flat, 0), g), ends, 0)
	for i, number := range numbers {
		xs[number] = means[i].Reshape(xs[number].Shape()...)
	}
}
