package tree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

func paths(t tree.Tree) string {
	var all []string
	for _, leaf := range t {
		all = append(all, leaf.Path)
	}
	return strings.Join(all, " ")
}

// number is the value of a scalar.
func number(t *testing.T, x *array.Array) float64 {
	t.Helper()
	v, err := array.Item[float64](t.Context(), x)
	if err != nil {
		t.Error(err)
	}
	return v
}

func numbers(t *testing.T, leaves tree.Tree) []float64 {
	t.Helper()
	var all []float64
	for _, x := range leaves.Arrays() {
		all = append(all, number(t, x))
	}
	return all
}

func checkError(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error is %v, want %q in it", what, err, word)
		}
	}
}

func TestFromMapOrdersByPath(t *testing.T) {
	m := map[string]*array.Array{}
	for i, path := range []string{"b", "a.10", "a.2", "a", "B", ""} {
		m[path] = array.Scalar(float64(i))
	}
	leaves := tree.FromMap(m)
	if got := paths(leaves); got != " B a a.10 a.2 b" {
		t.Errorf("order is %q", got)
	}
	if got := numbers(t, leaves); !slices.Equal(got, []float64{5, 4, 3, 1, 2, 0}) {
		t.Errorf("arrays are %v", got)
	}
	if empty := tree.FromMap(nil); len(empty) != 0 || empty.Err() != nil {
		t.Errorf("of nothing: %v", empty)
	}
}

func TestWithGetAndMapMakeNewTrees(t *testing.T) {
	old := tree.Tree{{Path: "w", Array: array.Scalar(1.0)}, {Path: "b", Array: array.Scalar(2.0)}}
	with := old.With([]*array.Array{array.Scalar(3.0), array.Scalar(4.0)})
	mapped := old.Map(func(l tree.Leaf) *array.Array {
		if l.Path == "b" {
			return l.Array.MulScalar(10)
		}
		return l.Array
	})
	for name, c := range map[string]struct {
		got  tree.Tree
		want []float64
	}{"old": {old, []float64{1, 2}}, "with": {with, []float64{3, 4}}, "map": {mapped, []float64{1, 20}}} {
		if got := numbers(t, c.got); !slices.Equal(got, c.want) || paths(c.got) != "w b" {
			t.Errorf("%s: %v at %q", name, got, paths(c.got))
		}
	}
	if with.Get("b") != with[1].Array || with.Get("c") != nil {
		t.Error("get finds another array")
	}
}

func TestWithOfAnotherNumberOfArrays(t *testing.T) {
	two := tree.Tree{{Path: "w", Array: array.Scalar(1.0)}, {Path: "b", Array: array.Scalar(2.0)}}
	checkError(t, "one array", two.With(two.Arrays()[:1]).Err(), "w: with at tree_test.go:", "1 arrays for 2 leaves")
	checkError(t, "three arrays", two.With(append(two.Arrays(), array.Scalar(3.0))).Err(), "3 arrays for 2 leaves")
}

func TestSameNamesTheFirstDifference(t *testing.T) {
	of := func(paths ...string) tree.Tree {
		var leaves tree.Tree
		for _, path := range paths {
			leaves = append(leaves, tree.Leaf{Path: path})
		}
		return leaves
	}
	if err := of("a", "b").Same(of("a", "b")); err != nil {
		t.Error(err)
	}
	checkError(t, "another path", of("a", "b", "c").Same(of("a", "x", "y")), `leaf 1: "b" and "x"`)
	checkError(t, "another order", of("a", "b").Same(of("b", "a")), `leaf 0: "a" and "b"`)
	checkError(t, "fewer", of("a", "b").Same(of("a")), "2 and 1 leaves")
}

func TestErrNamesTheFirstLeafWithAMistake(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	leaves := tree.Tree{
		{Path: "a", Array: array.Scalar(1.0)},
		{Path: "b", Array: array.Fail("test", first)},
		{Path: "c", Array: array.Fail("test", second)},
	}
	if err := leaves.Err(); !errors.Is(err, first) || !strings.HasPrefix(err.Error(), "b: ") {
		t.Errorf("error is %v", err)
	}
	if err := leaves[:1].Err(); err != nil {
		t.Error(err)
	}
	checkError(t, "nil array", tree.Tree{{Path: "x"}}.Err(), "x: array is nil")
}

func TestZip(t *testing.T) {
	a := tree.Tree{{Path: "w", Array: array.Scalar(1.0)}, {Path: "b", Array: array.Scalar(2.0)}}
	b := a.With([]*array.Array{array.Scalar(10.0), array.Scalar(20.0)})
	sum, err := tree.Zip(func(path string, xs ...*array.Array) *array.Array {
		if path == "b" {
			return xs[0].Sub(xs[1]).Add(xs[2])
		}
		return xs[0].Add(xs[1]).Add(xs[2])
	}, a, b, b)
	if got := numbers(t, sum); err != nil || !slices.Equal(got, []float64{21, 2}) || paths(sum) != "w b" {
		t.Errorf("%v, %v", got, err)
	}
	_, err = tree.Zip(func(string, ...*array.Array) *array.Array { return nil }, a, b, b[:1])
	checkError(t, "fewer leaves", err, "2 and 1 leaves")
}
