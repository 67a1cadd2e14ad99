package transform_test

import (
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
)

func TestValueAndGradOfAStruct(t *testing.T) {
	type layer struct{ Weight, Bias *array.Array }
	type net struct {
		Layers []layer
		Scales map[string]*array.Array
		Unused *array.Array
	}
	x := array.From([]float64{1, 2})
	loss := func(n net) *array.Array {
		y := x
		for _, l := range n.Layers {
			y = y.Mul(l.Weight).Add(l.Bias)
		}
		return y.Mul(n.Scales["out"]).Sum()
	}
	params := net{
		Layers: []layer{{array.Scalar(3.0), array.Scalar(1.0)}, {array.Scalar(2.0), array.Scalar(0.0)}},
		Scales: map[string]*array.Array{"out": array.Scalar(10.0)},
		Unused: array.From([]float64{1, 1}),
	}
	value, grads, err := transform.ValueAndGradOf(loss)(params)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "loss", value, []float64{10 * (8 + 14)}) // layers give [4 7], then [8 14]
	near(t, "by the first weight", grads.Layers[0].Weight, []float64{10 * 2 * (1 + 2)})
	near(t, "by the first bias", grads.Layers[0].Bias, []float64{10 * 2 * 2})
	near(t, "by the second weight", grads.Layers[1].Weight, []float64{10 * (4 + 7)})
	near(t, "by the second bias", grads.Layers[1].Bias, []float64{10 * 2})
	near(t, "by the scale", grads.Scales["out"], []float64{22})
	near(t, "by what is not used", grads.Unused, []float64{0, 0}, 2)
	near(t, "the parameters stay", params.Layers[0].Weight, []float64{3})
	_, _, err = transform.ValueAndGradOf(func(struct{ Rate float64 }) *array.Array { return x })(struct{ Rate float64 }{1})
	if err == nil || !strings.Contains(err.Error(), "rate: float64 is neither") {
		t.Errorf("error is %v", err)
	}
}
