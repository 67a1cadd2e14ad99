package nn_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/ops"
)

// experts has every kind of parameter that rules tell apart.
type experts struct {
	nn.Base
	Weight *array.Array // [experts, out, in]
	Bias   *array.Array // [experts, out]
	Scale  *array.Array // []
	Gains  *array.Array // [in]
	Biases *array.Array // [out, groups], of quantized weights
}

func newExperts() *experts {
	return &experts{
		Weight: array.Ones(dtype.Float32, 3, 4, 8), Bias: array.Ones(dtype.Float32, 3, 4),
		Gains: array.Ones(dtype.Float32, 8), Biases: array.Ones(dtype.Float32, 4, 8),
	}
}

func TestRulesOfShardings(t *testing.T) {
	for _, c := range []struct {
		id       string
		sharding nn.Sharding
		axes     []int // axis that is divided; whole is 9
	}{
		{"Q1", nn.AllToSharded, []int{1, -1, 0, 0}},
		{"Q2", nn.ShardedToAll, []int{-1, 9, -1, -1}},
	} {
		t.Run(string(c.sharding), func(t *testing.T) {
			conform.Row(t, c.id)
			world(t, 2, func(g *group.Group) {
				m := newExperts()
				before := nn.Parameters(m)
				if err := nn.ShardInplace(m, c.sharding, nn.Segments{}, g); err != nil {
					t.Error(err)
					return
				}
				for i, leaf := range nn.Parameters(m) {
					want := before[i].Array
					if c.axes[i] != 9 {
						want = mine(want, c.axes[i], g)
					}
					near(t, leaf.Path, leaf.Array, want, 0, 0)
				}
			})
		})
	}
}

func TestFiltersOfConvolutionsWantARule(t *testing.T) {
	conform.Row(t, "Q1")
	world(t, 2, func(g *group.Group) {
		m := nn.NewSequential(nn.NewLinear(random.NewKey(0), 4, 4, false), nn.NewConv2d(random.NewKey(0), 4, 4, 2, true, array.ConvOptions{}))
		before := nn.Parameters(m)
		says(t, nn.ShardInplace(m, nn.AllToSharded, nn.Segments{}, g), "shard_inplace: layers.1.weight", "float32[4 2 2 4]", "ShardInplaceBy")
		for i, leaf := range nn.Parameters(m) {
			if leaf != before[i] {
				t.Errorf("%s was changed", leaf.Path)
			}
		}
		if err := nn.ShardInplace(m, nn.ShardedToAll, nn.Segments{}, g); err != nil {
			t.Error(err)
		}
		if s := nn.Parameters(m).Get("layers.1.weight").Shape(); s[3] != 2 {
			t.Errorf("filters have shape %v, want [4 2 2 2]", s)
		}
	})
}

func TestWhatARuleMayReturn(t *testing.T) {
	conform.Row(t, "Q3")
	world(t, 2, func(g *group.Group) {
		cases := []struct {
			name  string
			cut   *nn.Cut
			want  []float64
			wrong string
		}{
			{"nothing", nil, []float64{0, 1, 2, 3, 4, 5, 6, 7}, ""},
			{"an axis", &nn.Cut{}, [][]float64{{0, 1, 2, 3}, {4, 5, 6, 7}}[g.Rank()], ""},
			{"an axis from the end", &nn.Cut{Axis: -2}, [][]float64{{0, 1, 2, 3}, {4, 5, 6, 7}}[g.Rank()], ""},
			{"an axis and segments", &nn.Cut{Axis: 0, Segments: nn.Segments{Count: 2}}, [][]float64{{0, 1, 4, 5}, {2, 3, 6, 7}}[g.Rank()], ""},
			{"an axis that is not there", &nn.Cut{Axis: 2}, nil, "shard_inplace: weight: axis 2 is none of float32[8 1]"},
			{"one before the first", &nn.Cut{Axis: -3}, nil, "axis -3 is none of"},
			{"one that does not divide", &nn.Cut{Axis: 1}, nil, "1 elements of axis 1 of float32[8 1] do not divide into 2 shards"},
		}
		for _, c := range cases {
			l := &nn.Linear{Weight: array.Arange(0, 8, 1, dtype.Float32).ExpandDims(1)}
			err := nn.ShardInplaceBy(l, func(path string, x *array.Array) *nn.Cut {
				if path != "weight" || x != l.Weight {
					t.Errorf("%s: asked about %q", c.name, path)
				}
				return c.cut
			}, g)
			if c.wrong != "" {
				says(t, err, c.wrong)
				c.want = []float64{0, 1, 2, 3, 4, 5, 6, 7}
			} else if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			values(t, c.name, l.Weight, c.want, len(c.want), 1)
		}
	})
}

func TestAGroupOfOneDividesNothing(t *testing.T) {
	l := nn.NewLinear(random.NewKey(0), 4, 4, true)
	before := nn.Parameters(l)
	if err := nn.ShardInplace(l, nn.AllToSharded, nn.Segments{}, group.Single()); err != nil {
		t.Fatal(err)
	}
	s := nn.Parameters(shard(t, l, nn.ShardedToAll, nil))
	for i, leaf := range nn.Parameters(l) {
		if leaf != before[i] || s[i] != before[i] {
			t.Errorf("%s is another array", leaf.Path)
		}
	}
}

// summed adds a convolution's parts over the ranks, and its bias once.
type summed struct {
	*nn.Conv2d
	g *group.Group
}

func (s summed) Forward(x *array.Array) *array.Array {
	filters := nn.Conv2d{Weight: s.Weight, Options: s.Options}
	return ops.AllSum(filters.Forward(x), s.g).Add(s.Bias)
}

func TestConvolutionsByRule(t *testing.T) {
	conform.Row(t, "Q4")
	channels := []int{3, 128, 128, 128, 3}
	full := nn.NewSequential()
	for i, key := range random.NewKey(1).Split(4) {
		l := nn.NewConv2d(key, channels[i], channels[i+1], 3, true, array.ConvOptions{Padding: []int{1}})
		l.Bias = normal(uint64(i), channels[i+1]).MulScalar(0.1)
		full.Layers = append(full.Layers, l)
	}
	x := normal(9, 4, 16, 16, 3)
	y := full.Forward(x)
	ready(t, append(nn.Parameters(full).Arrays(), x, y)...)
	worlds(t, []int{1, 2, 4}, func(t *testing.T, g *group.Group) {
		var part []*nn.Conv2d
		for i := range 4 {
			l := *full.Layers[i].(*nn.Conv2d)
			rule := func(path string, _ *array.Array) *nn.Cut {
				switch {
				case i%2 == 0:
					return &nn.Cut{Axis: 0}
				case path == "weight":
					return &nn.Cut{Axis: -1}
				}
				return nil
			}
			if err := nn.ShardInplaceBy(&l, rule, g); err != nil {
				t.Error(err)
				return
			}
			near(t, "gathered filters", nn.FullParameters(&l)[0].Array, nn.Parameters(full.Layers[i])[0].Array, 0, 0)
			part = append(part, &l)
		}
		z := part[0].Forward(ops.SumGradients(x, g))
		z = summed{part[1], g}.Forward(z)
		z = part[2].Forward(z)
		near(t, "output", summed{part[3], g}.Forward(z), y, 1e-6, 1e-4)
	})
}

func TestFullParametersOfAModuleThatIsWhole(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(random.NewKey(0), 2, 2, true))
	full := nn.FullParameters(m)
	if err := nn.Parameters(m).Same(full); err != nil || full[0] != nn.Parameters(m)[0] {
		t.Errorf("full parameters are %v (%v)", full, err)
	}
}
