package nn_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/nn"
)

func TestMixedPrecision(t *testing.T) {
	layer := nn.NewLinear(random.NewKey(1), 8, 3, true)
	x := normal(2, 4, 8)
	square := func(xs ...*array.Array) *array.Array { return layer.Forward(xs[0]).Square().Mean() }
	want, wantGrads := nn.ValueAndGrad(layer, square)(x)
	for _, compute := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16} {
		loss, grads := nn.ValueAndGradAs(layer, compute, square)(x.AsType(compute))
		if loss.DType() != compute {
			t.Errorf("the loss in %v is %v", compute, loss.DType())
		}
		near(t, "loss in "+compute.String(), loss, want, 1e-3, 1e-2)
		for i, leaf := range grads {
			if leaf.Array.DType() != dtype.Float32 {
				t.Errorf("the gradient of %s in %v is %v", leaf.Path, compute, leaf.Array.DType())
			}
			near(t, "gradient of "+leaf.Path+" in "+compute.String(), leaf.Array, wantGrads[i].Array, 5e-3, 1e-2)
		}
		if layer.Weight.DType() != dtype.Float32 {
			t.Errorf("afterwards the weight is %v", layer.Weight.DType())
		}
	}
	loss, grads := nn.ValueAndGradAs(layer, dtype.Int32, square)(x)
	says(t, loss.Err(), "value_and_grad", "int32 is no floating-point type")
	if grads.Err() == nil {
		t.Error("gradients in int32")
	}
}
