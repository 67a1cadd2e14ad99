package tree_test

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

type linear struct {
	Weight *array.Array
	Bias   *array.Array
	notes  string
}

type norm struct{ Gain *array.Array }

type model struct {
	norm               // not exported: left out
	Embedded           // no name of its own
	Layers   []*linear `tree:"blocks"`
	ByName   map[string]linear
	Pair     [2]*array.Array
	Any      any
	Extra    tree.Tree
	QKVProj  *array.Array
	Missing  *linear
	Steps    int `tree:"-"`
	hidden   *array.Array
}

type Embedded struct{ Scale *array.Array }

// example holds the numbers 0 to 11, in the order of the leaves.
func example() *model {
	n := -1.0
	next := func() *array.Array {
		n++
		return array.Scalar(n)
	}
	m := &model{norm: norm{array.Scalar(-1.0)}, hidden: array.Scalar(-2.0), Steps: 3}
	m.Scale = next()
	m.Layers = []*linear{{next(), next(), "first"}, nil, {Weight: next()}}
	m.ByName = map[string]linear{"b": {}, "a": {Weight: next()}, "c": {Bias: next()}}
	m.Pair = [2]*array.Array{next(), next()}
	m.Any = []any{next(), map[string]*array.Array{"x": next()}, nil}
	m.Extra = tree.Tree{{Path: "deep.path", Array: next()}}
	m.QKVProj = next()
	return m
}

const examplePaths = "scale blocks.0.weight blocks.0.bias blocks.2.weight by_name.a.weight by_name.c.bias " +
	"pair.0 pair.1 any.0 any.1.x extra.deep.path qkv_proj"

func TestFlattenListsArraysInOrder(t *testing.T) {
	leaves, err := tree.Flatten(example())
	if err != nil || paths(leaves) != examplePaths {
		t.Fatalf("paths are %q; %v", paths(leaves), err)
	}
	if got := numbers(t, leaves); !slices.Equal(got, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		t.Errorf("arrays are %v", got)
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"an array":       {array.Scalar(1.0), ""},
		"a value":        {linear{Weight: array.Scalar(1.0)}, "weight"},
		"a slice":        {[]*array.Array{array.Scalar(1.0), nil, array.Scalar(2.0)}, "0 2"},
		"the same twice": {[]*linear{example().Layers[0], example().Layers[0]}, "0.weight 0.bias 1.weight 1.bias"},
		"nothing":        {nil, ""},
		"a nil pointer":  {(*model)(nil), ""},
		"empty slices":   {[][]*array.Array{{}, {}}, ""},
	} {
		leaves, err := tree.Flatten(c.v)
		if err != nil || paths(leaves) != c.want {
			t.Errorf("%s: paths are %q; %v", name, paths(leaves), err)
		}
	}
}

func TestLikeCopiesAndUnflattenReplaces(t *testing.T) {
	m := example()
	leaves, err := tree.Flatten(m)
	if err != nil {
		t.Fatal(err)
	}
	tenfold := leaves.Map(func(l tree.Leaf) *array.Array { return l.Array.MulScalar(10) })
	like, err := tree.Like(m, tenfold)
	if err != nil {
		t.Fatal(err)
	}
	wanted := []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}
	again, err := tree.Flatten(like)
	if got := numbers(t, again); err != nil || !slices.Equal(got, wanted) || paths(again) != examplePaths {
		t.Errorf("like holds %v at %q; %v", got, paths(again), err)
	}
	if like.Steps != 3 || like.Layers[0].notes != "first" || like.Layers[1] != nil || number(t, like.hidden) != -2 {
		t.Error("what is not a leaf is lost")
	}
	if old, _ := tree.Flatten(m); !slices.Equal(old.Arrays(), leaves.Arrays()) || like.Layers[0] == m.Layers[0] {
		t.Error("the original has changed or is shared")
	}
	layer := m.Layers[0]
	if err := tree.Unflatten(tenfold, m); err != nil {
		t.Fatal(err)
	}
	changed, _ := tree.Flatten(m)
	if got := numbers(t, changed); !slices.Equal(got, wanted) {
		t.Errorf("unflattened into: %v", got)
	}
	if number(t, layer.Weight) != 1 {
		t.Error("what shares a part has changed")
	}
}

func TestUnflattenIntoMapsSlicesAndArrays(t *testing.T) {
	x := array.Scalar(7.0)
	byName := map[string]*array.Array{"a": array.Scalar(1.0)}
	list := []*array.Array{array.Scalar(1.0)}
	one := array.Scalar(1.0)
	var anything any = linear{Bias: one}
	for path, into := range map[string]any{"a": &byName, "0": &list, "": &one, "bias": &anything} {
		if err := tree.Unflatten(tree.Tree{{Path: path, Array: x}}, into); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if byName["a"] != x || list[0] != x || one != x || anything.(linear).Bias != x {
		t.Error("an array was not put back")
	}
}

func TestWhatIsNotATree(t *testing.T) {
	x := array.Scalar(1.0)
	type list struct {
		X    *array.Array
		Next *list
	}
	ring := &list{X: x}
	ring.Next = &list{X: x, Next: ring}
	inside := []any{x, nil}
	inside[1] = inside
	within := map[string]any{}
	within["m"] = within
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"a number":              {struct{ A struct{ Rate float64 } }{}, "flatten: a.rate: float64 is neither an array"},
		"a number itself":       {3, "the value itself: int is neither"},
		"a function":            {[]any{x, func() {}}, "1: func() is neither"},
		"keys that are numbers": {struct{ M map[int]*array.Array }{map[int]*array.Array{1: x}}, "m: map[int]*array.Array has keys that are not strings"},
		"two at one path":       {map[string]any{"a": map[string]*array.Array{"b": x}, "a.b": x}, "a.b: a second array at this path"},
		"two fields of one name": {struct {
			A *array.Array `tree:"x"`
			B *array.Array `tree:"x"`
		}{x, x}, "x: a second array at this path"},
		"a ring of pointers": {ring, "next.next: *tree_test.list holds itself"},
		"a slice in itself":  {inside, "1: []interface {} holds itself"},
		"a map in itself":    {within, "m: map[string]interface {} holds itself"},
	} {
		_, err := tree.Flatten(c.v)
		checkError(t, name, err, c.want)
	}
}

func TestUnflattenOfAnotherTree(t *testing.T) {
	x := array.Scalar(1.0)
	at := func(paths ...string) tree.Tree {
		var leaves tree.Tree
		for _, path := range paths {
			leaves = append(leaves, tree.Leaf{Path: path, Array: x})
		}
		return leaves
	}
	m := linear{array.Scalar(2.0), array.Scalar(3.0), ""}
	before := m
	for name, c := range map[string]struct {
		t    tree.Tree
		into any
		want string
	}{
		"another path":  {at("weight", "gain"), &m, `unflatten: bias: the tree has "gain" here`},
		"another order": {at("bias", "weight"), &m, `weight: the tree has "bias" here`},
		"fewer leaves":  {at("weight"), &m, "bias: no leaf is left, the tree has 1"},
		"more leaves":   {at("weight", "bias", "gain"), &m, "gain: there is no place for it"},
		"a value":       {at("weight", "bias"), m, "into is tree_test.linear, not a pointer"},
		"nil":           {at("weight"), nil, "into is <nil>, not a pointer"},
		"a nil pointer": {at("weight"), (*linear)(nil), "into is *tree_test.linear, not a pointer"},
		"an array":      {at(""), x, "into is *array.Array, not a pointer"},
	} {
		checkError(t, name, tree.Unflatten(c.t, c.into), c.want)
		if m != before {
			t.Errorf("%s: changed in spite of the error", name)
		}
	}
	if _, err := tree.Like(m, at("weight")); err == nil {
		t.Error("like takes a tree that is too short")
	}
}
