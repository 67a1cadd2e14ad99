// Package tree is the form in which parameters, gradients, optimizer state and
// checkpoints share arrays: a list of (path, array) in one canonical order.
//
//	params := tree.Tree{{Path: "weight", Array: w}, {Path: "bias", Array: b}}
//	scaled := params.Map(func(l tree.Leaf) *array.Array { return l.Array.MulScalar(0.5) })
//
// Flatten makes a tree of structs, maps and slices that hold arrays, and Unflatten
// and Like put arrays back.
//
// A tree is a slice and never a Go map, so every process walks it in the same
// order. Trees are values: functions return new ones.
package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/array"
)

// Leaf is one array and where it belongs, such as "layers.0.weight".
type Leaf struct {
	Path  string
	Array *array.Array
}

// Tree is a list of leaves. Its order is the canonical order; paths are unique.
type Tree []Leaf

// FromMap returns the tree of a map, ordered by path.
func FromMap(m map[string]*array.Array) Tree {
	t := make(Tree, 0, len(m))
	for path, x := range m {
		t = append(t, Leaf{path, x})
	}
	slices.SortFunc(t, func(a, b Leaf) int { return strings.Compare(a.Path, b.Path) })
	return t
}

// Arrays lists the arrays in order.
func (t Tree) Arrays() []*array.Array {
	xs := make([]*array.Array, len(t))
	for i, leaf := range t {
		xs[i] = leaf.Array
	}
	return xs
}

// With returns a tree of the same paths with the given arrays, one for each leaf.
// If there are more or fewer of them, every leaf carries that mistake.
func (t Tree) With(xs []*array.Array) Tree {
	if len(xs) != len(t) {
		bad := array.Fail("with", fmt.Errorf("%d arrays for %d leaves", len(xs), len(t)))
		return t.Map(func(Leaf) *array.Array { return bad })
	}
	out := make(Tree, len(t))
	for i, leaf := range t {
		out[i] = Leaf{leaf.Path, xs[i]}
	}
	return out
}

// Get returns the array at a path, nil if there is none.
func (t Tree) Get(path string) *array.Array {
	for _, leaf := range t {
		if leaf.Path == path {
			return leaf.Array
		}
	}
	return nil
}

// Map applies f to every leaf.
func (t Tree) Map(f func(Leaf) *array.Array) Tree {
	out := make(Tree, len(t))
	for i, leaf := range t {
		out[i] = Leaf{leaf.Path, f(leaf)}
	}
	return out
}

// Same returns an error that names the first difference when o does not have
// the same paths in the same order.
func (t Tree) Same(o Tree) error {
	for i := range min(len(t), len(o)) {
		if t[i].Path != o[i].Path {
			return fmt.Errorf("trees differ at leaf %d: %q and %q", i, t[i].Path, o[i].Path)
		}
	}
	if len(t) != len(o) {
		return fmt.Errorf("trees differ: %d and %d leaves", len(t), len(o))
	}
	return nil
}

// Err is the first mistake that a leaf carries, in order, with its path.
func (t Tree) Err() error {
	for _, leaf := range t {
		if err := leaf.Array.Err(); err != nil {
			return fmt.Errorf("%s: %w", leaf.Path, err)
		}
	}
	return nil
}

// Zip applies f at every path to the arrays of all trees there. An error names
// the first difference between their paths.
func Zip(f func(path string, xs ...*array.Array) *array.Array, first Tree, rest ...Tree) (Tree, error) {
	for _, t := range rest {
		if err := first.Same(t); err != nil {
			return nil, err
		}
	}
	out := make(Tree, len(first))
	for i, leaf := range first {
		xs := []*array.Array{leaf.Array}
		for _, t := range rest {
			xs = append(xs, t[i].Array)
		}
		out[i] = Leaf{leaf.Path, f(leaf.Path, xs...)}
	}
	return out, nil
}
