package nn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
)

func TestQuantizedShardedLinearAgainstTheWhole(t *testing.T) {
	conform.Row(t, "L6", "L10")
	for _, c := range []struct {
		q       array.Quantization
		in, out int
		sizes   []int
	}{
		{array.Quantization{}, 1024, 1024, []int{1, 2, 4, 8}},
		{array.Quantization{GroupSize: 32, Bits: 8}, 1024, 1024, []int{2}},
		{array.Quantization{GroupSize: 64, Bits: 4}, 768, 96, []int{3}},
		{array.Quantization{GroupSize: 128, Bits: 2}, 512, 64, []int{2, 4}},
		{array.Quantization{GroupSize: 32, Bits: 3}, 512, 64, []int{2, 4}},
		{array.Quantization{GroupSize: 64, Bits: 5}, 512, 64, []int{2, 4}},
		{array.Quantization{GroupSize: 64, Bits: 6}, 512, 64, []int{2, 4}},
	} {
		t.Run(fmt.Sprintf("%+v", c.q), func(t *testing.T) {
			full, err := nn.NewQuantizedLinear(random.NewKey(3), c.in, c.out, true, c.q)
			if err != nil {
				t.Fatal(err)
			}
			slope := func(f nn.Module, x *array.Array) *array.Array {
				return transform.Grad(func(x *array.Array) *array.Array { return f.Forward(x).Square().Sum() })(x)
			}
			x := normal(4, 4, c.in)
			y, dx := full.Forward(x), slope(full, x)
			ready(t, append(nn.Parameters(full).Arrays(), x, y, dx)...)
			worlds(t, c.sizes, func(t *testing.T, g *group.Group) {
				out := shard(t, full, nn.AllToSharded, g)
				near(t, "all to sharded", out.Forward(x), mine(y, -1, g), 1e-6, 1e-4)
				in := shard(t, full, nn.ShardedToAll, g)
				near(t, "sharded to all", in.Forward(mine(x, -1, g)), y, 1e-6, 1e-4)
				near(t, "gradient through all to sharded", slope(out, x), dx, 1e-5, 1e-4)
				near(t, "gradient through sharded to all", slope(in, mine(x, -1, g)), mine(dx, -1, g), 1e-5, 1e-4)
				for _, have := range []array.Quantization{out.(*nn.QuantizedAllToShardedLinear).Quantization, in.(*nn.QuantizedShardedToAllLinear).Quantization} {
					if have != full.Quantization {
						t.Errorf("settings are %+v, want %+v", have, full.Quantization)
					}
				}
			})
		})
	}
}

// What a quantized layer computes is what the unpacked weight would.
func TestQuantizedLinear(t *testing.T) {
	conform.Row(t, "L10")
	for _, bits := range []int{2, 3, 4, 5, 6, 8} {
		full := nn.NewLinear(random.NewKey(5), 192, 7, true)
		q, err := nn.QuantizedFromLinear(full, array.Quantization{Bits: bits})
		if err != nil {
			t.Fatal(err)
		}
		x := normal(6, 3, 192)
		w := array.Dequantize(q.Weight, q.Scales, q.Biases, q.Quantization)
		near(t, fmt.Sprint(bits, " bits"), q.Forward(x), x.MatMul(w.T()).Add(full.Bias), 1e-5, 1e-4)
		if want := fmt.Sprintf("QuantizedLinear(input_dims=192, output_dims=7, bias=true, group_size=64, bits=%d, mode=affine)", bits); q.String() != want {
			t.Errorf("text is %s, want %s", q, want)
		}
	}
}

func TestModesOfQuantizationThatAreRefused(t *testing.T) {
	conform.Row(t, "L6")
	for _, mode := range []string{"mxfp8", "mxfp4", "nvfp4"} {
		_, err := nn.NewQuantizedLinear(random.NewKey(0), 64, 4, true, array.Quantization{GroupSize: 32, Bits: 8, Mode: mode})
		says(t, err, "quantized_linear", mode)
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v does not wrap errors.ErrUnsupported", err)
		}
	}
}
