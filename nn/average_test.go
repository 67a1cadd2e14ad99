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
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
)

// leaves makes a tree of ones of a type with the given sizes in bytes.
func leaves(kind dtype.Type, bytes ...int) tree.Tree {
	var t tree.Tree
	for i, n := range bytes {
		t = append(t, tree.Leaf{Path: string(rune('a' + i)), Array: array.Ones(kind, n/kind.Size())})
	}
	return t
}

// ones checks that means are those of the ones in grads, in their type.
func ones(t *testing.T, grads, means tree.Tree) {
	t.Helper()
	if err := array.Eval(context.Background(), means.Arrays()...); err != nil {
		t.Error(err)
	}
	for i, leaf := range means {
		n := grads[i].Array.Size()
		values(t, leaf.Path, leaf.Array, slices.Repeat([]float64{1}, n), n)
		if have, want := leaf.Array.DType(), grads[i].Array.DType(); have != want {
			t.Errorf("%s is %v, want %v", leaf.Path, have, want)
		}
	}
}

func TestBucketsOfGradients(t *testing.T) {
	const byDefault = -1 << 20
	ten, f32, f16 := slices.Repeat([]int{40}, 10), dtype.Float32, dtype.Float16
	four := []int{100, 100, 300, 50}
	for _, c := range []struct {
		id, name string
		kind     dtype.Type
		sizes    []int
		limit    int
		calls    int64
	}{
		{"V1", "default size takes all", f32, ten, byDefault, 1},
		{"V2", "five leaves fill 200 bytes", f32, ten, 200, 2},
		{"V3", "nothing shares a bucket", f32, ten, 0, 10},
		{"V3", "a negative size", f32, ten, -1, 10},
		{"V4", "50+300 then 100+100", f16, four, 250, 2},
		{"V4", "50+300, then one at a time", f16, four, 100, 3},
		{"V4", "one byte is full at once", f16, four, 1, 4},
		{"V4", "huge buckets", f16, four, 1e9, 1},
		{"V7", "an empty tree", f32, nil, byDefault, 0},
		{"V9", "empty leaves travel along", f32, []int{0, 40, 0}, byDefault, 1},
		{"V9", "nothing but empty leaves", f32, []int{0, 0}, byDefault, 1},
		{"V1", "first bucket of 1 MiB by itself", f32, []int{40, 40, 1 << 20}, byDefault, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			conform.Row(t, c.id)
			worlds(t, []int{2, 3, 4, 8}, func(t *testing.T, g *group.Group) {
				grads := leaves(c.kind, c.sizes...)
				means := nn.AverageGradients(grads, g)
				if c.limit != byDefault {
					means = nn.AverageGradientsIn(grads, g, c.limit)
				}
				ones(t, grads, means)
				count(t, g, "all buckets", 0, c.calls)
			})
		})
	}
}

func TestAverageKeepsShapesAndTypes(t *testing.T) {
	conform.Row(t, "V5", "V6", "V9", "V10", "V11")
	world(t, 2, func(g *group.Group) {
		r := float32(g.Rank())
		grads := tree.Tree{
			{Path: "a", Array: array.From([]float32{1 + 2*r, 1 + 4*r})},
			{Path: "b", Array: array.From([]float32{2 + 2*r}, 1, 1)},
			{Path: "half", Array: array.Full(float64(40000), dtype.Float16, 2)},
			{Path: "count", Array: array.Scalar(int32(3 + g.Rank()))},
			{Path: "none", Array: array.Zeros(dtype.Float32, 0, 3)},
		}
		means := nn.AverageGradients(grads, g)
		if err := array.Eval(t.Context(), means.Arrays()...); err != nil {
			t.Error(err)
		}
		values(t, "a", means.Get("a"), []float64{2, 3}, 2)
		values(t, "b", means.Get("b"), []float64{3}, 1, 1)
		values(t, "half", means.Get("half"), []float64{40000, 40000}, 2)
		values(t, "count", means.Get("count"), []float64{3.5})
		values(t, "none", means.Get("none"), nil, 0, 3)
		if a, h := means.Get("a").DType(), means.Get("half").DType(); a != dtype.Float32 || h != dtype.Float16 {
			t.Errorf("types are %v and %v", a, h)
		}
		count(t, g, "leaves of three types", 0, 5)
	})
	world(t, 2, func(g *group.Group) {
		r := float32(g.Rank())
		grads := tree.Tree{{Path: "layer.a", Array: array.From([]float32{1 + 2*r, 1 + 4*r})}, {Path: "layer.b", Array: array.From([]float32{2 + 2*r}, 1, 1)}}
		means := nn.AverageGradients(grads, g)
		if err := grads.Same(means); err != nil {
			t.Error(err)
		}
		values(t, "a", means[0].Array, []float64{2, 3}, 2)
		values(t, "b", means[1].Array, []float64{3}, 1, 1)
		count(t, g, "a nested tree", 0, 1)
	})
}

// The sum of four would be infinite, an eighth of one zero.
func TestAverageOfHalfPrecision(t *testing.T) {
	for _, c := range []struct {
		id    string
		ranks int
		value float64
	}{{"V11", 4, 40000}, {"V12", 8, 6e-8}} {
		t.Run(c.id, func(t *testing.T) {
			conform.Row(t, c.id)
			worlds(t, []int{c.ranks}, func(t *testing.T, g *group.Group) {
				x := array.Full(c.value, dtype.Float16, 3)
				for _, limit := range []int{0, 1 << 20} {
					means := nn.AverageGradientsIn(tree.Tree{{Path: "a", Array: x}, {Path: "b", Array: x}}, g, limit)
					for _, mean := range means {
						if sum := c.value * float64(c.ranks); grouptest.PartialSums() && sum > 65504 {
							near(t, mean.Path, mean.Array.IsInf().AsType(dtype.Float32), array.Ones(dtype.Float32, 3), 0, 0)
							continue
						}
						near(t, mean.Path, mean.Array, x, 0, 0)
					}
				}
			})
		})
	}
}

func TestGradientsTravelInAnotherType(t *testing.T) {
	conform.Row(t, "V13")
	worlds(t, []int{2, 3, 4, 8}, func(t *testing.T, g *group.Group) {
		grads := leaves(dtype.Float32, slices.Repeat([]int{40}, 10)...)
		ones(t, grads, nn.AverageGradientsAs(grads, g, 100, dtype.Float16))
		count(t, g, "five leaves of 20 bytes in a bucket", 0, 2)
		if n, want := g.Stats().BytesReduced, int64(200); n != want {
			t.Errorf("%d bytes were reduced, want %d", n, want)
		}
	})
	world(t, 2, func(g *group.Group) {
		// Each is rounded to float16 and so is the mean of 2048 and 2050+1/4; the mean
		// of what is not rounded would be 2049.125.
		grads := tree.Tree{
			{Path: "a", Array: array.Scalar([]float32{2048, 2050.25}[g.Rank()])},
			{Path: "b", Array: array.Scalar([]float64{0.5, 1.5}[g.Rank()])},
			{Path: "count", Array: array.Scalar(int32(3 + g.Rank()))},
		}
		means := nn.AverageGradientsAs(grads, g, 1<<20, dtype.Float16)
		if err := array.Eval(t.Context(), means.Arrays()...); err != nil {
			t.Error(err)
		}
		values(t, "a", means[0].Array, []float64{2048}) // 2049 lies between two halves and goes to the even one
		values(t, "b", means[1].Array, []float64{1})
		values(t, "count", means[2].Array, []float64{3.5})
		for i, want := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float32} {
			if have := means[i].Array.DType(); have != want {
				t.Errorf("%s is %v, want %v", means[i].Path, have, want)
			}
		}
		count(t, g, "leaves that are of one type on the wire", 0, 1)
		for want, bad := range map[string]tree.Tree{
			"int32 is no floating-point type to send gradients in": nn.AverageGradientsAs(grads[:1], g, 0, dtype.Int32),
			"would lose its imaginary part as float16":             nn.AverageGradientsAs(tree.Tree{{Path: "z", Array: array.Scalar(complex64(1i))}}, g, 0, dtype.Float16),
		} {
			says(t, bad[0].Array.Err(), "average_gradients at average_test.go:", want)
		}
	})
}

func TestAverageOfOneRankIsTheTreeItself(t *testing.T) {
	conform.Row(t, "V8", "V10")
	grads := leaves(dtype.Float32, 40, 80)
	for _, means := range []tree.Tree{
		nn.AverageGradients(grads, nil), nn.AverageGradientsIn(grads, nil, 0), nn.AverageGradientsAs(grads, nil, 10, dtype.Float16),
	} {
		if !slices.Equal(means, grads) {
			t.Error("the leaves are not the very same arrays")
		}
	}
	says(t, nn.AverageGradientsAs(grads, nil, 10, dtype.Bool)[0].Array.Err(), "bool is no floating-point type")
	count := nn.AverageGradients(tree.Tree{{Path: "n", Array: array.Scalar(int32(3))}}, nil)[0].Array
	if count.DType() != dtype.Float32 {
		t.Errorf("an integer becomes %v", count.DType())
	}
}

func TestBucketsDoNotChangeBits(t *testing.T) {
	conform.Row(t, "V17")
	worlds(t, []int{2, 3, 4, 8}, func(t *testing.T, g *group.Group) {
		var grads tree.Tree
		for i, n := range []int{1, 7, 1000, 3000} {
			grads = append(grads, tree.Leaf{Path: string(rune('a' + i)), Array: normal(uint64(10*g.Rank()+i), n)})
		}
		want := nn.AverageGradients(grads, g)
		for _, limit := range []int{0, 1, 30, 5000, 1 << 30} {
			means := nn.AverageGradientsIn(grads, g, limit)
			for i := range grads {
				if grouptest.PartialSums() {
					near(t, grads[i].Path, means[i].Array, want[i].Array, 1e-6, 1e-6)
					continue
				}
				a, err := array.Bytes(context.Background(), want[i].Array)
				b, err2 := array.Bytes(context.Background(), means[i].Array)
				if err != nil || err2 != nil || !slices.Equal(a, b) {
					t.Errorf("%s differs with buckets of %d bytes: %v, %v", grads[i].Path, limit, err, err2)
				}
			}
		}
	})
}

func TestAMistakeInOneGradientReachesEveryRank(t *testing.T) {
	world(t, 2, func(g *group.Group) {
		grads := leaves(dtype.Float32, 40, 40)
		if g.Rank() == 1 {
			grads[0].Array = grads[0].Array.Add(array.Ones(dtype.Float32, 3))
		}
		err := array.Eval(context.Background(), nn.AverageGradients(grads, g).Arrays()...)
		if err == nil || !strings.Contains(err.Error(), "add at average_test.go:") {
			t.Errorf("rank %d: error is %v", g.Rank(), err)
		}
	})
}

func TestARankThatDoesNotAverage(t *testing.T) {
	conform.Row(t, "V14")
	var done sync.WaitGroup
	done.Add(2)
	var wait sync.WaitGroup
	for rank, comm := range grouptest.NewWorld(3) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: 300 * time.Millisecond})
			defer g.Close()
			if rank == 1 {
				done.Wait() // it stays, and has one batch less
				return
			}
			defer done.Done()
			grads := leaves(dtype.Float32, 40, 40)
			err := array.Eval(context.Background(), nn.AverageGradients(grads, g).Arrays()...)
			says(t, err, "all_mean", "gradients of 2 leaves, a to b", "rank 1")
		})
	}
	wait.Wait()
}

func TestTreesThatWereMadeInAnotherOrder(t *testing.T) {
	conform.Row(t, "V15")
	world(t, 2, func(g *group.Group) {
		r := float32(g.Rank())
		grads := map[string]*array.Array{}
		for _, key := range [][]string{{"a", "b"}, {"b", "a"}}[g.Rank()] {
			grads[key] = array.Scalar(map[string]float32{"a": 1, "b": 10}[key] * (1 + r))
		}
		means := nn.AverageGradients(tree.FromMap(grads), g)
		values(t, "a", means.Get("a"), []float64{1.5})
		values(t, "b", means.Get("b"), []float64{15})
	})
	world(t, 2, func(g *group.Group) {
		grads := leaves(dtype.Float32, 40, 40)
		if g.Rank() == 1 {
			slices.Reverse(grads)
		}
		err := array.Eval(t.Context(), nn.AverageGradients(grads, g).Arrays()...)
		says(t, err, "gradients of 2 leaves, a to b", "gradients of 2 leaves, b to a")
	})
	world(t, 2, func(g *group.Group) { // in the middle, where no path is shown
		grads := leaves(dtype.Float32, 40, 40, 40, 40)
		if g.Rank() == 1 {
			grads[1], grads[2] = grads[2], grads[1]
		}
		err := array.Eval(t.Context(), nn.AverageGradients(grads, g).Arrays()...)
		says(t, err, "gradients of 4 leaves, a to d, hash ", "rank 0 called", "rank 1 called")
	})
}

func TestALeafThatOneRankLacks(t *testing.T) {
	conform.Row(t, "V16")
	world(t, 3, func(g *group.Group) {
		grads := leaves(dtype.Float32, 40, 40, 40)
		if g.Rank() == 1 {
			grads = grads[:2]
		}
		err := array.Eval(t.Context(), nn.AverageGradients(grads, g).Arrays()...)
		says(t, err, "gradients of 3 leaves, a to c", "gradients of 2 leaves, a to b")
	})
	world(t, 2, func(g *group.Group) { // leaf by leaf
		grads := leaves(dtype.Float32, 40, 40)
		if g.Rank() == 1 {
			grads = grads[:1]
		}
		means := nn.AverageGradientsIn(grads, g, 0)
		says(t, array.Eval(t.Context(), means.Arrays()...), "gradient of a", "gradient of b")
	})
}
