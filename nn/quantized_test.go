package nn_test

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/nn"
)

// quantizable has a layer wherever one can be.
type quantizable struct {
	nn.Base
	First  nn.Module
	Layers []nn.Module
	Tied   nn.Module // First again
	Other  nn.Module
}

func newQuantizable() *quantizable {
	key := random.NewKey(0)
	m := &quantizable{First: nn.NewLinear(key, 64, 8, true), Other: nn.Func(nn.GELU)}
	m.Tied = m.First
	m.Layers = []nn.Module{nn.NewSequential(nn.NewLinear(key, 64, 8, false)), nn.NewLinear(key, 128, 8, true)}
	return m
}

func TestQuantizeWalksAModule(t *testing.T) {
	m := newQuantizable()
	x := normal(1, 2, 64)
	first := m.First.(*nn.Linear)
	if err := nn.Quantize(m, array.Quantization{Bits: 8}, nil); err != nil {
		t.Fatal(err)
	}
	q, ok := m.First.(*nn.QuantizedLinear)
	if !ok || m.Tied != m.First || q.Quantization != (array.Quantization{GroupSize: 64, Bits: 8, Mode: "affine"}) {
		t.Fatalf("first is %v, tied %v", m.First, m.Tied)
	}
	near(t, "quantized", q.Forward(x), first.Forward(x), 2e-2, 0)
	want := []string{
		"first.weight", "first.scales", "first.biases", "first.bias",
		"layers.0.layers.0.weight", "layers.0.layers.0.scales", "layers.0.layers.0.biases",
		"layers.1.weight", "layers.1.scales", "layers.1.biases", "layers.1.bias",
	}
	if got := paths(nn.Parameters(m)); !slices.Equal(got, want) {
		t.Errorf("parameters are %q, want %q", got, want)
	}
	if err := nn.Quantize(m, array.Quantization{Bits: 4}, nil); err != nil || m.First != nn.Module(q) {
		t.Errorf("a second time: %v, %v", m.First, err)
	}
}

func TestQuantizeAsksThePredicate(t *testing.T) {
	m := newQuantizable()
	var asked []string
	err := nn.Quantize(m, array.Quantization{}, func(path string, l *nn.Linear) bool {
		asked = append(asked, path)
		return l.Bias == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"first", "layers.0.layers.0", "layers.1", "tied"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	_, first := m.First.(*nn.Linear)
	_, inner := m.Layers[0].(*nn.Sequential).Layers[0].(*nn.QuantizedLinear)
	if !first || !inner {
		t.Errorf("first is %v, the inner layer %v", m.First, m.Layers[0].(*nn.Sequential).Layers[0])
	}
}

func TestQuantizeChangesNothingAfterAMistake(t *testing.T) {
	key := random.NewKey(0)
	m := nn.NewSequential(nn.NewLinear(key, 64, 8, true), nn.NewLinear(key, 100, 8, true))
	says(t, nn.Quantize(m, array.Quantization{}, nil), "quantize: layers.1: quantized_linear: 100 input features are no whole number of groups of 64")
	says(t, nn.Quantize(m, array.Quantization{Mode: "mxfp8"}, nil), "quantize: layers.0: quantized_linear: ", "mode mxfp8 (have affine)")
	says(t, nn.Quantize(m, array.Quantization{Bits: 7}, nil), "7 bits (have 2, 3, 4, 5, 6, 8)")
	says(t, nn.Quantize(m, array.Quantization{GroupSize: 50}, nil), "50")
	says(t, nn.Quantize(m.Layers[0], array.Quantization{}, nil), "quantize: the module itself is held as a *nn.Linear")
	says(t, nn.Quantize(&struct{ Up *nn.Linear }{nn.NewLinear(key, 64, 8, true)}, array.Quantization{}, nil), "quantize: up is held as a *nn.Linear; a Module could be replaced")
	if l, ok := m.Layers[0].(*nn.Linear); !ok {
		t.Errorf("the first layer is %v", l)
	}
	if err := nn.Quantize(nil, array.Quantization{}, nil); err != nil {
		t.Error(err)
	}
}
