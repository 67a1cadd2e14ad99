package nn

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// AllToShardedLinear is a Linear whose outputs are divided over the ranks of a group:
// each computes its part of the output from the whole input, which all have alike.
// Forward sends nothing; its gradient by x is summed over the group, once.
type AllToShardedLinear struct {
	Base
	Weight *array.Array // [out/n, in]
	Bias   *array.Array // [out/n], nil for none
	Group  *group.Group `nn:"-"`

	// shared says that whoever calls sums the gradient by x over the group.
	shared bool
}

// NewAllToShardedLinear draws the layer that NewLinear would draw, of which each rank
// keeps its part. All ranks pass the same key. It is an error if the n ranks of g,
// nil meaning the default group, do not divide out.
func NewAllToShardedLinear(key random.Key, in, out int, bias bool, g *group.Group) (*AllToShardedLinear, error) {
	return AllToShardedFromLinear(NewLinear(key, in, out, bias), Segments{}, g)
}

// AllToShardedFromLinear is ShardLinear for this case.
func AllToShardedFromLinear(l *Linear, segments Segments, g *group.Group) (*AllToShardedLinear, error) {
	s := sharder{layer: "all_to_sharded_linear", segments: segments, g: g}
	out, _ := s.dims(l.Weight, l.Bias)
	parts := s.outputs(out)
	y := &AllToShardedLinear{Base: Base{frozen: l.frozen}, Group: s.g}
	y.Weight = s.cut(&y.Base, "weight", l.Weight, 0, parts)
	y.Bias = s.cut(&y.Base, "bias", l.Bias, 0, parts)
	if s.err != nil {
		return nil, s.err
	}
	return y, nil
}

// Forward maps [..., in] to this rank's [..., out/n].
func (l *AllToShardedLinear) Forward(x *array.Array) *array.Array {
	if !l.shared {
		x = ops.SumGradients(x, l.Group)
	}
	return biased(x.MatMul(l.Weight.T()), l.Bias)
}

// ShardedToAllLinear is a Linear whose inputs are divided over the ranks of a group:
// each multiplies its part, the products are added over the group, and the bias, which
// all ranks have whole, is added once to the sum. So one rank's part of the gradient by
// x and by the weight needs no communication.
type ShardedToAllLinear struct {
	Base
	Weight *array.Array // [out, in/n]
	Bias   *array.Array // [out], nil for none
	Group  *group.Group `nn:"-"`
}

// NewShardedToAllLinear draws the layer that NewLinear would draw, of which each rank
// keeps its part. All ranks pass the same key. It is an error if the n ranks of g,
// nil meaning the default group, do not divide in.
func NewShardedToAllLinear(key random.Key, in, out int, bias bool, g *group.Group) (*ShardedToAllLinear, error) {
	return ShardedToAllFromLinear(NewLinear(key, in, out, bias), Segments{}, g)
}

// ShardedToAllFromLinear is ShardLinear for this case.
func ShardedToAllFromLinear(l *Linear, segments Segments, g *group.Group) (*ShardedToAllLinear, error) {
	s := sharder{layer: "sharded_to_all_linear", segments: segments, g: g}
	_, in := s.dims(l.Weight, l.Bias)
	y := &ShardedToAllLinear{Base: Base{frozen: l.frozen}, Group: s.g, Bias: l.Bias}
	y.Weight = s.cut(&y.Base, "weight", l.Weight, 1, s.inputs(single, in))
	if s.err != nil {
		return nil, s.err
	}
	return y, nil
}

// Forward maps this rank's [..., in/n] to [..., out], the same on all ranks.
func (l *ShardedToAllLinear) Forward(x *array.Array) *array.Array {
	return biased(ops.AllSum(x.MatMul(l.Weight.T()), l.Group), l.Bias)
}

// sharder makes one layer's part and keeps the first mistake.
type sharder struct {
	layer    string // its name in messages
	segments Segments
	g        *group.Group
	err      error
}

func (s *sharder) fail(err error) {
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %w", s.layer, err)
	}
}

// dims are the features of the layer that is divided.
func (s *sharder) dims(weight, bias *array.Array) (out, in int) {
	if s.g == nil {
		s.g = group.Default()
	}
	if s.g.Size() == 0 {
		s.fail(errOutside)
	}
	out, in, err := dims(weight, bias)
	s.fail(err)
	return out, in
}

// outputs lists this rank's ranges of the outputs.
func (s *sharder) outputs(out int) []part { return s.parts(single, out, "output features") }

// inputs lists this rank's ranges of n elements that are f's input features.
func (s *sharder) inputs(f features, n int) []part { return s.parts(f, n, "input features") }

func (s *sharder) parts(f features, n int, what string) []part {
	if s.err != nil {
		return nil
	}
	parts, err := f.shard(s.segments, n, what, s.g)
	s.fail(err)
	return parts
}

// cut is this rank's part of a parameter, which may be nil, and notes in the new
// layer's base how it is divided.
func (s *sharder) cut(into *Base, name string, x *array.Array, axis int, parts []part) *array.Array {
	if s.err != nil || x == nil {
		return nil
	}
	if s.g.Size() > 1 {
		into.divide(name, newDivision(s.g, axis, parts))
	}
	return pick(x, parts, axis)
}
