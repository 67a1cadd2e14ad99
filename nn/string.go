package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
)

// String shows the features, as in MLX: "Linear(input_dims=4, output_dims=2,
// bias=true)". Where the weight is divided over ranks they are those of all ranks.
func (l *Linear) String() string { return describe("Linear", &l.Base, l.Weight, l.Bias, nil) }

// String shows the features and how they are quantized.
func (l *QuantizedLinear) String() string {
	return describe("QuantizedLinear", &l.Base, l.Weight, l.Bias, &l.Quantization)
}

// String shows the features of all ranks together.
func (l *AllToShardedLinear) String() string {
	return describe("AllToShardedLinear", &l.Base, l.Weight, l.Bias, nil)
}

// String shows the features of all ranks together.
func (l *ShardedToAllLinear) String() string {
	return describe("ShardedToAllLinear", &l.Base, l.Weight, l.Bias, nil)
}

// String shows the features of all ranks together and how they are quantized.
func (l *QuantizedAllToShardedLinear) String() string {
	return describe("QuantizedAllToShardedLinear", &l.Base, l.Weight, l.Bias, &l.Quantization)
}

// String shows the features of all ranks together and how they are quantized.
func (l *QuantizedShardedToAllLinear) String() string {
	return describe("QuantizedShardedToAllLinear", &l.Base, l.Weight, l.Bias, &l.Quantization)
}

func describe(name string, base *Base, weight, bias *array.Array, q *array.Quantization) string {
	out, in, err := dims(weight, nil)
	if err != nil {
		return fmt.Sprintf("%s(%v)", name, err)
	}
	if d, ok := base.division("weight"); ok && d.axis == 0 {
		out *= d.g.Size()
	} else if ok {
		in *= d.g.Size()
	}
	if q == nil {
		return fmt.Sprintf("%s(input_dims=%d, output_dims=%d, bias=%v)", name, in, out, bias != nil)
	}
	in = in * 32 / q.Bits
	return fmt.Sprintf("%s(input_dims=%d, output_dims=%d, bias=%v, group_size=%d, bits=%d, mode=%s)",
		name, in, out, bias != nil, q.GroupSize, q.Bits, q.Mode)
}
