package nn_test

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
)

// scaled is a layer of a user's own with everything a layer can hold.
type scaled struct {
	nn.Base
	Gains [2]*array.Array
	Inner nn.Module
	Table map[string]int
	Depth int
}

func newScaled() *scaled {
	key := random.NewKey(0)
	return &scaled{
		Gains: [2]*array.Array{array.Ones(dtype.Float32, 2), array.Ones(dtype.Float32, 2)},
		Inner: nn.NewSequential(nn.NewLinear(key, 2, 2, true), nn.NewLinear(key, 2, 2, true)),
	}
}

func (s *scaled) Forward(x *array.Array) *array.Array {
	return s.Inner.Forward(x.Mul(s.Gains[0]).Mul(s.Gains[1]))
}

func TestFreezeAndUnfreeze(t *testing.T) {
	all := paths(nn.Parameters(newScaled()))
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(path string) bool { return slices.Contains(names, path) })
	}
	type step func(m *scaled) error
	freeze := func(s nn.Selection) step { return func(m *scaled) error { return nn.Freeze(m, s) } }
	unfreeze := func(s nn.Selection) step { return func(m *scaled) error { return nn.Unfreeze(m, s) } }
	first := func(m *scaled) any { return m.Inner.(*nn.Sequential).Layers[0] }
	for name, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"nothing":                 {nil, all},
		"everything":              {[]step{freeze(nn.Selection{})}, nil},
		"what it holds itself":    {[]step{freeze(nn.Selection{Own: true})}, without("gains.0", "gains.1")},
		"every bias":              {[]step{freeze(nn.Selection{Keys: []string{"bias"}})}, without("inner.layers.0.bias", "inner.layers.1.bias")},
		"two keys":                {[]step{freeze(nn.Selection{Keys: []string{"bias", "gains"}})}, []string{"inner.layers.0.weight", "inner.layers.1.weight"}},
		"a key that it lacks":     {[]step{freeze(nn.Selection{Keys: []string{"bias"}, Own: true})}, all},
		"a module by its name":    {[]step{freeze(nn.Selection{Keys: []string{"inner"}, Own: true})}, []string{"gains.0", "gains.1"}},
		"all and back":            {[]step{freeze(nn.Selection{}), unfreeze(nn.Selection{})}, all},
		"all but every bias":      {[]step{freeze(nn.Selection{}), unfreeze(nn.Selection{Keys: []string{"bias"}})}, []string{"inner.layers.0.bias", "inner.layers.1.bias"}},
		"all but what it holds":   {[]step{freeze(nn.Selection{}), unfreeze(nn.Selection{Own: true})}, []string{"gains.0", "gains.1"}},
		"a module by name, twice": {[]step{freeze(nn.Selection{Keys: []string{"inner"}}), freeze(nn.Selection{Keys: []string{"inner"}}), unfreeze(nn.Selection{Keys: []string{"inner"}})}, all},
		"one layer": {[]step{func(m *scaled) error { return nn.Freeze(first(m), nn.Selection{}) }},
			without("inner.layers.0.weight", "inner.layers.0.bias")},
		"strictly, by a name that it has": {[]step{freeze(nn.Selection{Keys: []string{"gains"}, Own: true, Strict: true})}, without("gains.0", "gains.1")},
	} {
		t.Run(name, func(t *testing.T) {
			m := newScaled()
			for _, s := range c.steps {
				if err := s(m); err != nil {
					t.Fatal(err)
				}
			}
			if got := paths(nn.TrainableParameters(m)); !slices.Equal(got, c.want) {
				t.Errorf("trainable are %q, want %q", got, c.want)
			}
			if got := paths(nn.Parameters(m)); !slices.Equal(got, all) {
				t.Errorf("parameters are %q, want %q", got, all)
			}
		})
	}
}

func TestWhatIsFrozenHasNoGradientAndIsNotTrained(t *testing.T) {
	m := newScaled()
	if err := nn.Freeze(m, nn.Selection{Keys: []string{"bias", "gains"}}); err != nil {
		t.Fatal(err)
	}
	x := normal(1, 3, 2)
	loss, grads := nn.ValueAndGrad(m, func(xs ...*array.Array) *array.Array { return m.Forward(xs[0]).Sum() })(x)
	near(t, "loss", loss, m.Forward(x).Sum(), 0, 1e-6)
	if want := []string{"inner.layers.0.weight", "inner.layers.1.weight"}; !slices.Equal(paths(grads), want) {
		t.Fatalf("gradients of %q, want %q", paths(grads), want)
	}
	before := nn.Parameters(m)
	trained, err := tree.Zip(func(_ string, xs ...*array.Array) *array.Array { return xs[0].Sub(xs[1]) }, nn.TrainableParameters(m), grads)
	if err != nil {
		t.Fatal(err)
	}
	if err := nn.Update(m, trained); err != nil {
		t.Fatal(err)
	}
	for i, leaf := range nn.Parameters(m) {
		if changed, want := leaf.Array != before[i].Array, trained.Get(leaf.Path) != nil; changed != want {
			t.Errorf("%s is another array: %v, want %v", leaf.Path, changed, want)
		}
	}
	if err := nn.Update(m, before); err != nil || nn.Parameters(m)[0] != before[0] {
		t.Errorf("what is frozen cannot be replaced: %v", err)
	}
	says(t, nn.Update(m, trained[:1]), "update: trees differ")
}

// plain holds an array and does not know what is frozen.
type plain struct{ Gain *array.Array }

func (p *plain) Forward(x *array.Array) *array.Array { return x.Mul(p.Gain) }

func TestMistakesInFreezing(t *testing.T) {
	l := nn.NewLinear(random.NewKey(0), 2, 2, true)
	m := nn.NewSequential(l, &plain{array.Scalar(float32(1))})
	says(t, nn.Freeze(m, nn.Selection{}), "freeze: layers.1 nn_test.plain", "does not embed nn.Base")
	says(t, nn.Freeze(m, nn.Selection{Keys: []string{"gain"}}), "layers.1 nn_test.plain")
	if n := len(nn.TrainableParameters(m)); n != 3 {
		t.Errorf("%d parameters can be trained after mistakes, want 3", n)
	}
	for _, err := range []error{
		nn.Freeze(m, nn.Selection{Keys: []string{"bias"}}), nn.Unfreeze(m, nn.Selection{}),
		nn.Freeze(nil, nn.Selection{}), nn.Freeze(nn.Func(nn.GELU), nn.Selection{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	says(t, nn.Freeze(*l, nn.Selection{}), "by value")
	says(t, nn.Freeze(l, nn.Selection{Keys: []string{"weihgt"}, Strict: true}), `freeze: nn.Linear: no field "weihgt" (have weight, bias)`)
	says(t, nn.Unfreeze(m, nn.Selection{Keys: []string{"bias"}, Strict: true}), `unfreeze: nn.Sequential: no field "bias" (have layers)`)
}

func TestACopyOfALayerGoesItsOwnWays(t *testing.T) {
	l := nn.NewLinear(random.NewKey(0), 2, 2, true)
	if err := nn.Freeze(l, nn.Selection{Keys: []string{"bias"}}); err != nil {
		t.Fatal(err)
	}
	c := *l
	if err := nn.Freeze(&c, nn.Selection{}); err != nil {
		t.Fatal(err)
	}
	if n, m := len(nn.TrainableParameters(l)), len(nn.TrainableParameters(&c)); n != 1 || m != 0 {
		t.Errorf("%d parameters of the layer and %d of its copy can be trained, want 1 and 0", n, m)
	}
}

func TestQuantizedParametersStayFrozen(t *testing.T) {
	conform.Row(t, "L14")
	worlds(t, []int{1, 2}, func(t *testing.T, g *group.Group) {
		q, err := nn.NewQuantizedLinear(random.NewKey(0), 128, 4, true, array.Quantization{})
		if err != nil {
			t.Error(err)
			return
		}
		outer := nn.NewLinear(random.NewKey(0), 4, 4, true)
		m := nn.NewSequential(q, shard(t, q, nn.AllToSharded, g), shard(t, q, nn.ShardedToAll, g), outer)
		want := []string{"layers.3.weight", "layers.3.bias"}
		for _, do := range []func() error{
			func() error { return nil },
			func() error { return nn.Unfreeze(m, nn.Selection{}) },
			func() error { return nn.Unfreeze(m, nn.Selection{Keys: []string{"scales", "bias"}}) },
			func() error { return nn.Unfreeze(q, nn.Selection{Own: true}) },
		} {
			if err := do(); err != nil {
				t.Error(err)
			}
			if got := paths(nn.TrainableParameters(m)); !slices.Equal(got, want) {
				t.Errorf("trainable are %q, want %q", got, want)
			}
		}
		if got, want := paths(nn.Parameters(q)), []string{"weight", "scales", "biases", "bias"}; !slices.Equal(got, want) {
			t.Errorf("parameters are %q, want %q", got, want)
		}
	})
}

// What was frozen before sharding is so after it.
func TestShardingKeepsWhatIsFrozen(t *testing.T) {
	world(t, 2, func(g *group.Group) {
		l := nn.NewLinear(random.NewKey(0), 4, 4, true)
		if err := nn.Freeze(l, nn.Selection{Keys: []string{"weight"}}); err != nil {
			t.Error(err)
		}
		for _, s := range []nn.Sharding{nn.AllToSharded, nn.ShardedToAll} {
			if got := paths(nn.TrainableParameters(shard(t, l, s, g))); !slices.Equal(got, []string{"bias"}) {
				t.Errorf("%s: trainable are %q", s, got)
			}
		}
	})
}
