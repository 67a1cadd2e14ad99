package nn_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/nn"
)

// world runs f as every rank of a world of n.
func world(t *testing.T, n int, f func(g *group.Group)) {
	t.Helper()
	var wait sync.WaitGroup
	for _, comm := range grouptest.NewWorld(n) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: 10 * time.Second})
			defer g.Close()
			f(g)
		})
	}
	wait.Wait()
}

// leaves makes a tree of ones with the given sizes in bytes, of float32.
func leaves(bytes ...int) tree.Tree {
	var t tree.Tree
	for i, n := range bytes {
		t = append(t, tree.Leaf{Path: string(rune('a' + i)), Array: array.Ones(dtype.Float32, n/4)})
	}
	return t
}

func TestBucketsOfGradients(t *testing.T) {
	ten := slices.Repeat([]int{40}, 10)
	for name, c := range map[string]struct {
		sizes []int
		limit int // -1 for the default
		calls int64
	}{
		"default size takes all":          {ten, -1, 1},
		"five leaves fill 200 bytes":      {ten, 200, 2},
		"nothing shares a bucket":         {ten, 0, 10},
		"50+300 then 100+100":             {[]int{100, 100, 300, 48}, 250, 2},
		"50+300, then one at a time":      {[]int{100, 100, 300, 48}, 100, 3},
		"one byte is full at once":        {[]int{100, 100, 300, 48}, 1, 4},
		"huge buckets":                    {[]int{100, 100, 300, 48}, 1e9, 1},
		"an empty tree":                   {nil, -1, 0},
		"empty leaves travel along":       {[]int{0, 40, 0}, -1, 1},
		"first bucket of 1 MiB by itself": {[]int{40, 40, 1 << 20}, -1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			world(t, 2, func(g *group.Group) {
				grads := leaves(c.sizes...)
				means := nn.AverageGradients(grads, g)
				if c.limit >= 0 {
					means = nn.AverageGradientsIn(grads, g, c.limit)
				}
				if err := array.Eval(context.Background(), means.Arrays()...); err != nil {
					t.Error(err)
				}
				for i, leaf := range means {
					values(t, leaf.Path, leaf.Array, slices.Repeat([]float64{1}, c.sizes[i]/4), c.sizes[i]/4)
				}
				if n := g.Stats().Collectives; n != c.calls {
					t.Errorf("%d collectives, want %d", n, c.calls)
				}
			})
		})
	}
}

func TestAverageKeepsShapesAndTypes(t *testing.T) {
	world(t, 2, func(g *group.Group) {
		r := float32(g.Rank())
		grads := tree.Tree{
			{Path: "a", Array: array.From([]float32{1 + 2*r, 1 + 4*r})},
			{Path: "b", Array: array.From([]float32{2 + 2*r}, 1, 1)},
			{Path: "half", Array: array.Full(float64(40000), dtype.Float16, 2)},
			{Path: "count", Array: array.Scalar(int32(3 + g.Rank()))},
		}
		means := nn.AverageGradients(grads, g)
		values(t, "a", means.Get("a"), []float64{2, 3}, 2)
		values(t, "b", means.Get("b"), []float64{3}, 1, 1)
		values(t, "half", means.Get("half"), []float64{40000, 40000}, 2)
		values(t, "count", means.Get("count"), []float64{3.5})
		if a, h := means.Get("a").DType(), means.Get("half").DType(); a != dtype.Float32 || h != dtype.Float16 {
			t.Errorf("types are %v and %v", a, h)
		}
	})
}

func TestAverageOfOneRankIsTheTreeItself(t *testing.T) {
	grads := leaves(40, 80)
	if means := nn.AverageGradients(grads, nil); !slices.Equal(means, grads) {
		t.Error("the leaves are not the very same arrays")
	}
}

func TestBucketsDoNotChangeBits(t *testing.T) {
	world(t, 3, func(g *group.Group) {
		var grads tree.Tree
		for i, n := range []int{1, 7, 1000, 3000} {
			grads = append(grads, tree.Leaf{Path: string(rune('a' + i)), Array: normal(uint64(10*g.Rank()+i), n)})
		}
		one, many := nn.AverageGradients(grads, g), nn.AverageGradientsIn(grads, g, 0)
		for i := range grads {
			a, err := array.Bytes(context.Background(), one[i].Array)
			b, err2 := array.Bytes(context.Background(), many[i].Array)
			if err != nil || err2 != nil || !slices.Equal(a, b) {
				t.Errorf("%s differs between buckets: %v, %v", grads[i].Path, err, err2)
			}
		}
	})
}

func TestAMistakeInOneGradientReachesEveryRank(t *testing.T) {
	world(t, 2, func(g *group.Group) {
		grads := leaves(40, 40)
		if g.Rank() == 1 {
			grads[0].Array = grads[0].Array.Add(array.Ones(dtype.Float32, 3))
		}
		err := array.Eval(context.Background(), nn.AverageGradients(grads, g).Arrays()...)
		if err == nil || !strings.Contains(err.Error(), "add at average_test.go:") {
			t.Errorf("rank %d: error is %v", g.Rank(), err)
		}
	})
}
