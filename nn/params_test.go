package nn_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/nn"
)

func paths(t tree.Tree) []string {
	var all []string
	for _, leaf := range t {
		all = append(all, leaf.Path)
	}
	return all
}

func TestParametersFollowFieldOrderAndMLXNames(t *testing.T) {
	type inner struct{ W *array.Array }
	shared := nn.NewLinear(random.NewKey(1), 2, 2, false)
	module := &struct {
		Layers   []nn.Module
		MLPUp    *array.Array
		Renamed  *array.Array `nn:"gain"`
		Skipped  *array.Array `nn:"-"`
		hidden   *array.Array
		Absent   *array.Array
		Tied     nn.Module
		Pair     [2]inner
		Children struct{ OutProj *nn.Linear }
		inner
		Eps float64
	}{
		Layers: []nn.Module{nn.NewLinear(random.NewKey(0), 2, 3, true), nn.Func(nn.GELU), nn.NewSequential(shared)},
		MLPUp:  array.Scalar(float32(1)), Renamed: array.Scalar(float32(1)),
		Skipped: array.Scalar(float32(1)), hidden: array.Scalar(float32(1)), Tied: shared,
		Pair: [2]inner{{array.Scalar(float32(1))}, {array.Scalar(float32(2))}},
	}
	module.Children.OutProj = nn.NewLinear(random.NewKey(2), 1, 1, false)
	module.W = array.Scalar(float32(3))
	want := []string{
		"layers.0.weight", "layers.0.bias", "layers.2.layers.0.weight", "mlp_up", "gain",
		"pair.0.w", "pair.1.w", "children.out_proj.weight",
	}
	if got := paths(nn.Parameters(module)); !slices.Equal(got, want) {
		t.Errorf("paths are %q, want %q", got, want)
	}
}

// scale is a module of its own: what it holds can be replaced only through a pointer.
type scale struct{ Gain *array.Array }

func (s scale) Forward(x *array.Array) *array.Array { return x.Mul(s.Gain) }

func TestParametersThatCannotBeReplaced(t *testing.T) {
	gain := array.Scalar(float32(2))
	for name, c := range map[string]struct {
		module any
		path   string
	}{
		"a layer by value":    {*nn.NewLinear(random.NewKey(0), 2, 2, false), "weight"},
		"a layer held so":     {nn.NewSequential(scale{gain}), "layers.0.gain"},
		"an array by itself":  {gain, ""},
		"an array of modules": {[1]scale{{gain}}, "0.gain"},
	} {
		params := nn.Parameters(c.module)
		if len(params) != 1 || params[0].Path != c.path || params.Err() == nil {
			t.Errorf("%s: parameters are %v", name, params)
		}
		_, grads := nn.ValueAndGrad(c.module, func(...*array.Array) *array.Array { return gain.Square() })()
		for what, err := range map[string]error{"update": nn.Update(c.module, params), "gradient": grads.Err()} {
			if err == nil || !strings.Contains(err.Error(), "parameters at params_test.go:") || !strings.Contains(err.Error(), "use a pointer") {
				t.Errorf("%s: error of %s is %v", name, what, err)
			}
		}
	}
	if held := nn.Parameters(nn.NewSequential(&scale{gain})); len(held) != 1 || held[0].Array != gain {
		t.Errorf("through a pointer: %v", held)
	}
}

func TestWhatHasNoParameters(t *testing.T) {
	var none *nn.Linear
	for name, module := range map[string]any{"nil": nil, "a nil layer": none, "a function": nn.Func(nn.GELU), "a number": 3} {
		loss, grads := nn.ValueAndGrad(module, func(...*array.Array) *array.Array { return array.Scalar(float32(7)) })()
		values(t, name, loss, []float64{7})
		if len(nn.Parameters(module)) != 0 || len(grads) != 0 || nn.Update(module, nil) != nil {
			t.Errorf("%s has parameters", name)
		}
	}
}

func TestUpdateReplacesParametersOrChangesNothing(t *testing.T) {
	layer := nn.NewLinear(random.NewKey(0), 2, 3, true)
	old := nn.Parameters(layer)
	doubled := old.Map(func(l tree.Leaf) *array.Array { return l.Array.MulScalar(2) })
	if err := nn.Update(layer, doubled); err != nil {
		t.Fatal(err)
	}
	if got := nn.Parameters(layer); got[0] != doubled[0] || got[1] != doubled[1] {
		t.Error("the parameters are not the new ones")
	}
	for name, c := range map[string]struct {
		params tree.Tree
		want   string
	}{
		"missing leaf": {doubled[:1], "2 and 1 leaves"},
		"other order":  {tree.Tree{doubled[1], doubled[0]}, `"weight" and "bias"`},
		"other shape":  {tree.Tree{old[0], {Path: "bias", Array: array.Zeros(dtype.Float32, 4)}}, "bias is float32[4], want float32[3]"},
		"other type":   {tree.Tree{old[0], {Path: "bias", Array: array.Zeros(dtype.Float64, 3)}}, "bias is float64[3]"},
		"mistake":      {tree.Tree{old[0], {Path: "bias", Array: old[0].Array.Add(array.Zeros(dtype.Float32, 7))}}, "bias: add at"},
	} {
		if err := nn.Update(layer, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
		if nn.Parameters(layer)[0] != doubled[0] {
			t.Errorf("%s: the module was changed", name)
		}
	}
}

func TestValueAndGradOfAModule(t *testing.T) {
	layer := &nn.Linear{Weight: array.From([]float32{1, 2, 3, 4}, 2, 2), Bias: array.From([]float32{10, 20})}
	before := nn.Parameters(layer)
	step := nn.ValueAndGrad(layer, func(xs ...*array.Array) *array.Array { return layer.Forward(xs[0]).Sum() })
	loss, grads := step(array.From([]float32{5, 7}, 1, 2))
	values(t, "loss", loss, []float64{5 + 14 + 10 + 15 + 28 + 20})
	values(t, "by weight", grads.Get("weight"), []float64{5, 7, 5, 7}, 2, 2)
	values(t, "by bias", grads.Get("bias"), []float64{1, 1}, 2)
	if after := nn.Parameters(layer); !slices.Equal(after, before) {
		t.Error("the module does not have its parameters back")
	}
}

func TestValueAndGradGivesParametersBackAfterAPanic(t *testing.T) {
	layer := nn.NewLinear(random.NewKey(0), 2, 2, false)
	before := layer.Weight
	defer func() {
		if recover() == nil || layer.Weight != before {
			t.Error("the module does not have its parameters back")
		}
	}()
	nn.ValueAndGrad(layer, func(...*array.Array) *array.Array { panic("in the loss") })()
}

// values compares x with want within 1e-5.
func values(t *testing.T, what string, x *array.Array, want []float64, shape ...int) {
	t.Helper()
	got, err := array.Values[float64](context.Background(), x.AsType(dtype.Float64))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	near := func(a, b float64) bool { return a == b || a-b < 1e-5*(1+abs(b)) && b-a < 1e-5*(1+abs(b)) }
	if !slices.EqualFunc(got, want, near) || !slices.Equal(x.Shape(), shape) {
		t.Errorf("%s is %v of shape %v, want %v of shape %v", what, got, x.Shape(), want, shape)
	}
}

func abs(x float64) float64 { return max(x, -x) }
