package nn_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/ops"
)

// shard is ShardLinear of one segment, which must work.
func shard(t *testing.T, l nn.Module, s nn.Sharding, g *group.Group) nn.Module {
	t.Helper()
	y, err := nn.ShardLinear(l, s, nn.Segments{}, g)
	if err != nil {
		t.Error(err)
		return nn.Func(func(*array.Array) *array.Array { return array.Fail("shard", err) })
	}
	return y
}

func TestAllToShardedLinear(t *testing.T) {
	conform.Row(t, "L1", "L2")
	full := &nn.Linear{
		Weight: array.From([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2),
		Bias:   array.From([]float32{10, 20, 30, 40}),
	}
	x := array.From([]float32{1, 1}, 1, 2)
	rows := map[int][][]float64{
		1: {{1, 2, 3, 4, 5, 6, 7, 8}},
		2: {{1, 2, 3, 4}, {5, 6, 7, 8}},
		4: {{1, 2}, {3, 4}, {5, 6}, {7, 8}},
	}
	y := []float64{13, 27, 41, 55}
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		l := shard(t, full, nn.AllToSharded, g).(*nn.AllToShardedLinear)
		k := 4 / g.Size()
		from := g.Rank() * k
		values(t, "weight", l.Weight, rows[g.Size()][g.Rank()], k, 2)
		values(t, "bias", l.Bias, []float64{10, 20, 30, 40}[from:from+k], k)
		values(t, "output", l.Forward(x), y[from:from+k], 1, k)
		grad := transform.Grad(func(x *array.Array) *array.Array { return l.Forward(x).Sum() })(x)
		values(t, "gradient of the input", grad, []float64{16, 20}, 1, 2)
	})
}

func TestShardedToAllLinear(t *testing.T) {
	conform.Row(t, "L3", "L4")
	full := &nn.Linear{
		Weight: array.From([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4),
		Bias:   array.From([]float32{100, 200}),
	}
	columns := map[int][][]float64{
		1: {{1, 2, 3, 4, 5, 6, 7, 8}},
		2: {{1, 2, 5, 6}, {3, 4, 7, 8}},
		4: {{1, 5}, {2, 6}, {3, 7}, {4, 8}},
	}
	slopes := []float64{6, 8, 10, 12} // column sums
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		l := shard(t, full, nn.ShardedToAll, g).(*nn.ShardedToAllLinear)
		k := 4 / g.Size()
		x := mine(array.From([]float32{1, 10, 100, 1000}, 1, 4), 1, g)
		values(t, "weight", l.Weight, columns[g.Size()][g.Rank()], 2, k)
		values(t, "output of ones", l.Forward(array.OnesLike(x)), []float64{110, 226}, 1, 2)
		dx := transform.Grad(func(x *array.Array) *array.Array { return l.Forward(x).Sum() })(x)
		values(t, "gradient of the input", dx, slopes[g.Rank()*k:(g.Rank()+1)*k], 1, k)
		_, grads := nn.ValueAndGrad(l, func(...*array.Array) *array.Array { return l.Forward(x).Sum() })()
		each := numbers(t, "x", x)
		values(t, "gradient of the weight", grads.Get("weight"), slices.Concat(each, each), 2, k)
		values(t, "gradient of the bias", grads.Get("bias"), []float64{1, 1}, 2)
	})
}

// ready evaluates arrays that all ranks of a world read.
func ready(t *testing.T, xs ...*array.Array) {
	t.Helper()
	if err := array.Eval(t.Context(), xs...); err != nil {
		t.Fatal(err)
	}
}

func TestShardedLinearAgainstTheWhole(t *testing.T) {
	conform.Row(t, "L5", "L11")
	for _, c := range []struct {
		dims  int
		bias  bool
		sizes []int
	}{{1024, true, []int{1, 2, 4, 8}}, {1024, false, []int{2}}, {1023, true, []int{3}}} {
		full := nn.NewLinear(random.NewKey(1), c.dims, c.dims, c.bias)
		x := normal(2, 4, c.dims)
		y := full.Forward(x)
		ready(t, append(nn.Parameters(full).Arrays(), x, y)...)
		worlds(t, c.sizes, func(t *testing.T, g *group.Group) {
			out := shard(t, full, nn.AllToSharded, g)
			near(t, "all to sharded", out.Forward(x), mine(y, -1, g), 1e-6, 1e-4)
			in := shard(t, full, nn.ShardedToAll, g)
			near(t, "sharded to all", in.Forward(mine(x, -1, g)), y, 1e-6, 1e-4)
			for _, l := range []nn.Module{out, in} {
				if has := nn.Parameters(l).Get("bias") != nil; has != c.bias {
					t.Errorf("%v: a bias is there: %v", l, has)
				}
			}
		})
	}
}

// All ranks draw one layer.
func TestDrawnShardsAreThoseOfTheDrawnLayer(t *testing.T) {
	worlds(t, []int{1, 2, 3, 4}, func(t *testing.T, g *group.Group) {
		key, in, out, q := random.NewKey(1), 384, 24, array.Quantization{GroupSize: 32, Bits: 8}
		full := nn.NewLinear(key, in, out, true)
		packed, err := nn.QuantizedFromLinear(full, q)
		if err != nil {
			t.Error(err)
			return
		}
		for _, c := range []struct {
			name string
			from nn.Module
			how  nn.Sharding
			make func() (nn.Module, error)
		}{
			{"all to sharded", full, nn.AllToSharded, func() (nn.Module, error) { return nn.NewAllToShardedLinear(key, in, out, true, g) }},
			{"sharded to all", full, nn.ShardedToAll, func() (nn.Module, error) { return nn.NewShardedToAllLinear(key, in, out, true, g) }},
			{"quantized all to sharded", packed, nn.AllToSharded, func() (nn.Module, error) { return nn.NewQuantizedAllToShardedLinear(key, in, out, true, q, g) }},
			{"quantized sharded to all", packed, nn.ShardedToAll, func() (nn.Module, error) { return nn.NewQuantizedShardedToAllLinear(key, in, out, true, q, g) }},
		} {
			drawn, err := c.make()
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			want := shard(t, c.from, c.how, g)
			if err := nn.Parameters(want).Same(nn.Parameters(drawn)); err != nil || fmt.Sprint(drawn) != fmt.Sprint(want) {
				t.Errorf("%s: drawn is %v, want %v: %v", c.name, drawn, want, err)
				continue
			}
			for i, leaf := range nn.Parameters(drawn) {
				near(t, c.name+" "+leaf.Path, leaf.Array, nn.Parameters(want)[i].Array, 0, 0)
			}
		}
	})
}

func TestFourLayersOfAlternatingSharding(t *testing.T) {
	conform.Row(t, "L7")
	worlds(t, []int{1, 2, 3, 4, 8}, func(t *testing.T, g *group.Group) {
		dims := 128
		if dims%g.Size() != 0 {
			dims = 129
		}
		full, parts := nn.NewSequential(), nn.NewSequential()
		for i, key := range random.NewKey(7).Split(4) {
			l := nn.NewLinear(key, dims, dims, true)
			full.Layers = append(full.Layers, l)
			parts.Layers = append(parts.Layers, shard(t, l, []nn.Sharding{nn.AllToSharded, nn.ShardedToAll}[i%2], g))
		}
		x, y := normal(8, 4, dims), normal(9, 4, dims).AddScalar(1)
		step := func(m *nn.Sequential) (*array.Array, tree.Tree) {
			return nn.ValueAndGrad(m, func(...*array.Array) *array.Array { return m.Forward(x).Mul(y).Sum() })()
		}
		want, wantGrads := step(full)
		got, grads := step(parts)
		near(t, "loss", got, want, 0, 1e-5)
		for i := range 4 {
			axis := i % 2
			path := fmt.Sprintf("layers.%d.", i)
			near(t, path+"weight", grads.Get(path+"weight"), mine(wantGrads.Get(path+"weight"), axis, g), 1e-5, 1e-4)
			bias := wantGrads.Get(path + "bias")
			if axis == 0 {
				bias = mine(bias, 0, g)
			}
			near(t, path+"bias", grads.Get(path+"bias"), bias, 1e-5, 1e-4)
		}
		// A sum for each of the two layers with divided inputs, and one for the gradient
		// by the input of layer 2; x of layer 0 wants none.
		if n, want := g.Stats().Collectives, int64(3); g.Size() > 1 && n != want {
			t.Errorf("%d collectives, want %d", n, want)
		}
	})
}

func TestFeaturesThatDoNotDivide(t *testing.T) {
	conform.Row(t, "L8", "L9")
	world(t, 4, func(g *group.Group) {
		key := random.NewKey(0)
		_, err := nn.NewAllToShardedLinear(key, 8, 10, true, g)
		says(t, err, "all_to_sharded_linear: 10 output features do not divide into 4 shards")
		_, err = nn.NewShardedToAllLinear(key, 10, 8, true, g)
		says(t, err, "sharded_to_all_linear: 10 input features do not divide into 4 shards")
		_, err = nn.ShardLinear(nn.NewLinear(key, 8, 10, true), nn.AllToSharded, nn.Segments{}, g)
		says(t, err, "all_to_sharded_linear: 10 output features do not divide into 4 shards")
		_, err = nn.NewQuantizedAllToShardedLinear(key, 64, 10, true, array.Quantization{}, g)
		says(t, err, "quantized_all_to_sharded_linear: 10 output features do not divide into 4 shards")
	})
	world(t, 2, func(g *group.Group) {
		_, err := nn.NewQuantizedShardedToAllLinear(random.NewKey(0), 192, 8, true, array.Quantization{}, g)
		says(t, err, "quantized_sharded_to_all_linear: 192 input features do not split into 2 shards of whole groups of 64")
		full, err := nn.NewQuantizedLinear(random.NewKey(0), 192, 8, true, array.Quantization{})
		if err != nil {
			t.Error(err)
		}
		says(t, nn.ShardInplace(full, nn.ShardedToAll, nn.Segments{}, g), "shard_inplace: weight: 192", "whole groups of 64")
	})
	_, err := nn.NewQuantizedLinear(random.NewKey(0), 100, 8, true, array.Quantization{})
	says(t, err, "quantized_linear: 100 input features are no whole number of groups of 64")
}

func TestLayersThatCannotBeSharded(t *testing.T) {
	conform.Row(t, "L13")
	world(t, 2, func(g *group.Group) {
		key := random.NewKey(0)
		l := nn.NewLinear(key, 4, 4, true)
		_, err := nn.ShardLinear(l, "foo", nn.Segments{}, g)
		says(t, err, `"foo"`, "all-to-sharded", "sharded-to-all")
		says(t, nn.ShardInplace(l, "foo", nn.Segments{}, g), `"foo"`, "all-to-sharded", "sharded-to-all")
		_, err = nn.ShardLinear(nn.NewEmbedding(key, 4, 4), nn.AllToSharded, nn.Segments{}, g)
		says(t, err, "Embedding", "neither a Linear nor a QuantizedLinear")
		_, err = nn.ShardLinear(nn.NewLinear(key, 0, 4, true), nn.AllToSharded, nn.Segments{}, g)
		says(t, err, "all_to_sharded_linear: linear", "0 inputs and 4 outputs")
		_, err = nn.ShardLinear(&nn.Linear{Weight: array.From([]float32{1, 2})}, nn.ShardedToAll, nn.Segments{}, g)
		says(t, err, "float32[2], want [out, in]")
		_, err = nn.ShardLinear(&nn.Linear{Weight: l.Weight, Bias: array.From([]float32{1, 2})}, nn.AllToSharded, nn.Segments{}, g)
		says(t, err, "the bias is float32[2]")
		outside, err := g.Split(t.Context(), group.NoColor, group.KeepRank)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = nn.ShardLinear(l, nn.AllToSharded, nn.Segments{}, outside)
		says(t, err, "not in the group")
		says(t, nn.ShardInplace(l, nn.AllToSharded, nn.Segments{}, outside), "not in the group")
	})
}

func TestShardLinearLeavesItsArgumentAlone(t *testing.T) {
	conform.Row(t, "L12")
	world(t, 2, func(g *group.Group) {
		l := nn.NewLinear(random.NewKey(0), 4, 4, true)
		before := nn.Parameters(l)
		for _, s := range []nn.Sharding{nn.AllToSharded, nn.ShardedToAll} {
			shard(t, l, s, g)
			if !slices.Equal(nn.Parameters(l), before) || l.String() != "Linear(input_dims=4, output_dims=4, bias=true)" {
				t.Errorf("%s changed %v", s, l)
			}
		}
		if err := nn.ShardInplace(l, nn.AllToSharded, nn.Segments{}, g); err != nil {
			t.Error(err)
		}
		near(t, "weight", l.Weight, mine(before[0].Array, 0, g), 0, 0)
		near(t, "bias", l.Bias, mine(before[1].Array, 0, g), 0, 0)
		says(t, nn.ShardInplace(l, nn.AllToSharded, nn.Segments{}, g), "weight: it is divided already")
		full := nn.FullParameters(l)
		near(t, "weight gathered", full[0].Array, before[0].Array, 0, 0)
		near(t, "bias gathered", full[1].Array, before[1].Array, 0, 0)
	})
}

func TestTextShowsTheWholeLayer(t *testing.T) {
	conform.Row(t, "L15")
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		l := nn.NewLinear(random.NewKey(0), 256, 8, false)
		q, err := nn.QuantizedFromLinear(l, array.Quantization{GroupSize: 32, Bits: 3})
		if err != nil {
			t.Error(err)
			return
		}
		for want, got := range map[string]nn.Module{
			"AllToShardedLinear(input_dims=256, output_dims=8, bias=false)":                                              shard(t, l, nn.AllToSharded, g),
			"ShardedToAllLinear(input_dims=256, output_dims=8, bias=false)":                                              shard(t, l, nn.ShardedToAll, g),
			"QuantizedAllToShardedLinear(input_dims=256, output_dims=8, bias=false, group_size=32, bits=3, mode=affine)": shard(t, q, nn.AllToSharded, g),
			"QuantizedShardedToAllLinear(input_dims=256, output_dims=8, bias=false, group_size=32, bits=3, mode=affine)": shard(t, q, nn.ShardedToAll, g),
		} {
			if fmt.Sprint(got) != want {
				t.Errorf("text is %v, want %s", got, want)
			}
		}
	})
}

// A sum over ranks that a bias were part of would count it once for each.
func TestBiasIsAddedAfterTheSum(t *testing.T) {
	conform.Row(t, "L3")
	worlds(t, []int{2, 3, 4}, func(t *testing.T, g *group.Group) {
		l := &nn.Linear{Weight: array.Zeros(dtype.Float32, 2, 12), Bias: array.From([]float32{5, -7})}
		y := shard(t, l, nn.ShardedToAll, g).Forward(array.Ones(dtype.Float32, 1, 12/g.Size()))
		values(t, "bias alone", y, []float64{5, -7}, 1, 2)
		values(t, "a sum of biases would be", ops.AllSum(l.Bias, g), []float64{5 * float64(g.Size()), -7 * float64(g.Size())}, 2)
	})
}
