package nn_test

import (
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
)

// threes are two leaves with 17 elements, all 3.
func threes() tree.Tree {
	return tree.Tree{
		{Path: "a", Array: array.Full(3.0, dtype.Float32, 4, 3)},
		{Path: "b", Array: array.Full(3.0, dtype.Float32, 5)},
	}
}

func TestNormOfShards(t *testing.T) {
	norms := map[int]float64{1: 12.3693, 2: 17.4929, 3: 3 * math.Sqrt(51), 4: 24.7386, 8: 34.9857}
	for _, c := range []struct {
		id  string
		max float64
	}{{"K1", 1e9}, {"K2", 1}} {
		t.Run(c.id, func(t *testing.T) {
			conform.Row(t, c.id)
			worlds(t, []int{1, 2, 3, 4, 8}, func(t *testing.T, g *group.Group) {
				grads := threes()
				clipped, norm := nn.ClipGradNormSharded(grads, c.max, g)
				want := norms[g.Size()]
				near(t, "norm", norm, array.Scalar(want), 1e-6, 1e-4)
				scale := min(1, c.max/(want+1e-6))
				for i, leaf := range clipped {
					near(t, leaf.Path, leaf.Array, grads[i].Array.MulScalar(scale), 1e-6, 1e-4)
				}
			})
		})
	}
}

func TestNormOfNothing(t *testing.T) {
	conform.Row(t, "K3")
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		clipped, norm := nn.ClipGradNormSharded(nil, 1, g)
		values(t, "norm", norm, []float64{0})
		if len(clipped) != 0 {
			t.Errorf("%d gradients of none", len(clipped))
		}
		zeros := tree.Tree{{Path: "a", Array: array.Zeros(dtype.Float32, 2)}, {Path: "b", Array: array.Zeros(dtype.Float32, 0, 3)}}
		clipped, norm = nn.ClipGradNormSharded(zeros, 1, g)
		values(t, "norm of zeros", norm, []float64{0})
		values(t, "zeros", clipped[0].Array, []float64{0, 0}, 2)
	})
}

func TestNaNInOneShard(t *testing.T) {
	conform.Row(t, "K4")
	worlds(t, []int{2, 3, 4}, func(t *testing.T, g *group.Group) {
		for bad := range g.Size() {
			grads := threes()
			if g.Rank() == bad {
				grads[1].Array = array.From([]float32{1, float32(math.NaN())})
			}
			clipped, norm := nn.ClipGradNormSharded(grads, 1, g)
			if v := numbers(t, "norm", norm); v == nil || !math.IsNaN(v[0]) {
				t.Errorf("NaN on rank %d: the norm on rank %d is %v", bad, g.Rank(), v)
			}
			if v := numbers(t, "gradient", clipped[0].Array); v == nil || !math.IsNaN(v[0]) {
				t.Errorf("NaN on rank %d: a gradient on rank %d is %v", bad, g.Rank(), v)
			}
		}
	})
}

func TestClippingOneProcess(t *testing.T) {
	grads := tree.Tree{{Path: "a", Array: array.From([]float32{3, 4})}, {Path: "half", Array: array.Full(12.0, dtype.Float16, 1)}}
	clipped, norm := nn.ClipGradNorm(grads, 6.5)
	values(t, "norm", norm, []float64{13})
	values(t, "a", clipped[0].Array, []float64{1.5, 2}, 2)
	values(t, "half", clipped[1].Array, []float64{6}, 1)
	if typ := clipped[1].Array.DType(); typ != dtype.Float16 {
		t.Errorf("half became %v", typ)
	}
	for want, c := range map[string]struct {
		grads tree.Tree
		max   float64
	}{
		"n is int32[2], which has no norm":   {tree.Tree{{Path: "n", Array: array.Zeros(dtype.Int32, 2)}}, 1},
		"the greatest norm must be above 0":  {grads, 0},
		"the greatest norm must be above 0 ": {grads, math.NaN()},
		"add at clip_test.go:":               {tree.Tree{{Path: "n", Array: normal(1, 2).Add(normal(1, 3))}}, 1},
	} {
		_, norm := nn.ClipGradNorm(c.grads, c.max)
		if want[len(want)-1] == ' ' {
			want = want[:len(want)-1]
		}
		says(t, norm.Err(), want)
	}
}

// What is whole counts once, what is divided counts as a whole.
func TestNormOfAModuleWithShards(t *testing.T) {
	worlds(t, []int{1, 2, 3, 4}, func(t *testing.T, g *group.Group) {
		full := nn.NewSequential(nn.NewLinear(random.NewKey(0), 5, 12, true), nn.NewLinear(random.NewKey(1), 12, 5, true))
		part := nn.NewSequential(shard(t, full.Layers[0], nn.AllToSharded, g), shard(t, full.Layers[1], nn.ShardedToAll, g))
		x := normal(2, 3, 5)
		grads := func(m *nn.Sequential) tree.Tree {
			_, grads := nn.ValueAndGrad(m, func(...*array.Array) *array.Array { return m.Forward(x).Square().Sum() })()
			return grads
		}
		_, want := nn.ClipGradNorm(grads(full), 1)
		_, norm := nn.ClipGradNormOf(part, grads(part), 1)
		near(t, "norm", norm, want, 0, 1e-5)
		_, norm = nn.ClipGradNormOf(part, threes(), 1)
		says(t, norm.Err(), "clip_grad_norm", `"layers.0.weight" and "a"`)
	})
}
