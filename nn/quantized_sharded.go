package nn

import (
	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// QuantizedAllToShardedLinear is an AllToShardedLinear with a quantized weight. Its
// parameters are frozen for good.
type QuantizedAllToShardedLinear struct {
	Base
	Weight         *array.Array       // packed, uint32 [out/n, in·bits/32]
	Scales, Biases *array.Array       // of the groups, [out/n, in/group]
	Bias           *array.Array       // [out/n], nil for none
	Quantization   array.Quantization `nn:"-"`
	Group          *group.Group       `nn:"-"`

	shared bool
}

// NewQuantizedAllToShardedLinear is NewAllToShardedLinear, quantized.
func NewQuantizedAllToShardedLinear(key random.Key, in, out int, bias bool, q array.Quantization, g *group.Group) (*QuantizedAllToShardedLinear, error) {
	l, err := NewQuantizedLinear(key, in, out, bias, q)
	if err != nil {
		return nil, err
	}
	return QuantizedAllToShardedFromLinear(l, Segments{}, g)
}

// QuantizedAllToShardedFromLinear is ShardLinear for this case.
func QuantizedAllToShardedFromLinear(l *QuantizedLinear, segments Segments, g *group.Group) (*QuantizedAllToShardedLinear, error) {
	s := sharder{layer: "quantized_all_to_sharded_linear", segments: segments, g: g}
	out, _ := s.dims(l.Scales, l.Bias)
	parts := s.outputs(out)
	y := &QuantizedAllToShardedLinear{Base: Base{fixed: true}, Quantization: l.Quantization, Group: s.g}
	y.Weight = s.cut(&y.Base, "weight", l.Weight, 0, parts)
	y.Scales = s.cut(&y.Base, "scales", l.Scales, 0, parts)
	y.Biases = s.cut(&y.Base, "biases", l.Biases, 0, parts)
	y.Bias = s.cut(&y.Base, "bias", l.Bias, 0, parts)
	if s.err != nil {
		return nil, s.err
	}
	return y, nil
}

// Forward maps [..., in] to this rank's [..., out/n].
func (l *QuantizedAllToShardedLinear) Forward(x *array.Array) *array.Array {
	if !l.shared {
		x = ops.SumGradients(x, l.Group)
	}
	return biased(array.QuantizedMatMul(x, l.Weight, l.Scales, l.Biases, true, l.Quantization), l.Bias)
}

// QuantizedShardedToAllLinear is a ShardedToAllLinear with a quantized weight, of
// which every rank has whole groups. Its parameters are frozen for good.
type QuantizedShardedToAllLinear struct {
	Base
	Weight         *array.Array       // packed, uint32 [out, in/n·bits/32]
	Scales, Biases *array.Array       // of the groups, [out, in/n/group]
	Bias           *array.Array       // [out], nil for none
	Quantization   array.Quantization `nn:"-"`
	Group          *group.Group       `nn:"-"`
}

// NewQuantizedShardedToAllLinear is NewShardedToAllLinear, quantized. It is an error if
// in does not divide into whole groups for each rank.
func NewQuantizedShardedToAllLinear(key random.Key, in, out int, bias bool, q array.Quantization, g *group.Group) (*QuantizedShardedToAllLinear, error) {
	l, err := NewQuantizedLinear(key, in, out, bias, q)
	if err != nil {
		return nil, err
	}
	return QuantizedShardedToAllFromLinear(l, Segments{}, g)
}

// QuantizedShardedToAllFromLinear is ShardLinear for this case.
func QuantizedShardedToAllFromLinear(l *QuantizedLinear, segments Segments, g *group.Group) (*QuantizedShardedToAllLinear, error) {
	s := sharder{layer: "quantized_sharded_to_all_linear", segments: segments, g: g}
	_, groups := s.dims(l.Scales, l.Bias)
	scales := s.inputs(packedFeatures(l.Quantization, true), groups)
	y := &QuantizedShardedToAllLinear{Base: Base{fixed: true}, Bias: l.Bias, Quantization: l.Quantization, Group: s.g}
	if s.err == nil {
		packed := s.inputs(packedFeatures(l.Quantization, false), l.Weight.Dim(-1))
		y.Weight = s.cut(&y.Base, "weight", l.Weight, 1, packed)
	}
	y.Scales = s.cut(&y.Base, "scales", l.Scales, 1, scales)
	y.Biases = s.cut(&y.Base, "biases", l.Biases, 1, scales)
	if s.err != nil {
		return nil, s.err
	}
	return y, nil
}

// Forward maps this rank's [..., in/n] to [..., out], the same on all ranks.
func (l *QuantizedShardedToAllLinear) Forward(x *array.Array) *array.Array {
	part := array.QuantizedMatMul(x, l.Weight, l.Scales, l.Biases, true, l.Quantization)
	return biased(ops.AllSum(part, l.Group), l.Bias)
}
