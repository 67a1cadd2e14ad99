package nn

import (
	"fmt"
	"strings"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

// Sharding is how the weights of a layer are divided over the ranks of a group.
type Sharding string

const (
	// AllToSharded gives each rank a part of the outputs: all ranks have the whole
	// input and end with their part of the output.
	AllToSharded Sharding = "all-to-sharded"
	// ShardedToAll gives each rank a part of the inputs: every rank has its part of
	// the input, and all end with the whole output.
	ShardedToAll Sharding = "sharded-to-all"
)

func (s Sharding) check() error {
	if s != AllToSharded && s != ShardedToAll {
		return fmt.Errorf("sharding is %q; want %s or %s", string(s), AllToSharded, ShardedToAll)
	}
	return nil
}

// ShardLinear returns this rank's part of a Linear or a QuantizedLinear, as the layer
// that computes with it: an AllToShardedLinear, a ShardedToAllLinear, or the quantized
// form of one. The given layer is unchanged. Segments lie along the outputs or the
// inputs that are divided, and count features in quantized layers too. A nil group is
// the default one. All ranks give the same layer, since nothing is sent: each takes its
// part of what it has. Parts are copies, so the layer's memory is free once they are
// evaluated and nothing else holds it. What is frozen stays so.
func ShardLinear(l Module, s Sharding, segments Segments, g *group.Group) (Module, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("shard_linear: %w", err)
	}
	switch l := l.(type) {
	case *Linear:
		if s == AllToSharded {
			return asModule(AllToShardedFromLinear(l, segments, g))
		}
		return asModule(ShardedToAllFromLinear(l, segments, g))
	case *QuantizedLinear:
		if s == AllToSharded {
			return asModule(QuantizedAllToShardedFromLinear(l, segments, g))
		}
		return asModule(QuantizedShardedToAllFromLinear(l, segments, g))
	}
	return nil, fmt.Errorf("shard_linear: a %T is neither a Linear nor a QuantizedLinear", l)
}

// asModule keeps a nil layer from becoming a Module that is not nil.
func asModule[M Module](l M, err error) (Module, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Cut says along which axis an array is divided, counted from the end if it is
// negative, and in which segments.
type Cut struct {
	Axis     int
	Segments Segments
}

// CutRule says how each array of a module is divided; nil leaves it whole. All ranks'
// rules agree.
type CutRule func(path string, x *array.Array) *Cut

// Rule is how ShardInplace divides arrays by this sharding. AllToSharded divides what
// has a name that ends in bias along its last axis, and everything else along the last
// but one, so that [..., out, in] is divided along out. ShardedToAll leaves what has
// such a name whole and divides everything else along its last axis. The names are
// those of paths; the biases of quantized weights are no bias. The filters of a
// convolution, [out, kh, kw, in], fit AllToSharded badly: they want a rule of their own.
func (s Sharding) Rule(segments Segments) CutRule {
	return func(path string, x *array.Array) *Cut {
		bias := strings.HasSuffix(path, "bias")
		switch {
		case bias && s == ShardedToAll:
			return nil
		case bias || s == ShardedToAll:
			return &Cut{Axis: -1, Segments: segments}
		}
		return &Cut{Axis: max(x.NDim()-2, 0), Segments: segments}
	}
}

// ShardInplace keeps of every array of a module this rank's part by the rule of s. It
// adds no communication: the module goes on as if its part were all there is, and
// whoever calls it adds what is missing, such as ops.AllSum behind a module whose
// inputs are divided. A nil group is the default one; in a group of one nothing changes. It is an
// error, and nothing changes, if an array does not divide, if it is divided already, or if
// AllToSharded meets an array of four axes or more, as the filters of a convolution
// are: ShardInplaceBy divides these.
func ShardInplace(module any, s Sharding, segments Segments, g *group.Group) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("shard_inplace: %w", err)
	}
	return shardInplace(module, s.Rule(segments), s == AllToSharded, g)
}

// ShardInplaceBy is ShardInplace by another rule.
func ShardInplaceBy(module any, rule CutRule, g *group.Group) error {
	return shardInplace(module, rule, false, g)
}

func shardInplace(module any, rule CutRule, outputs bool, g *group.Group) error {
	if g == nil {
		g = group.Default()
	}
	at := places(module, false)
	xs, divisions := held(at).Arrays(), make([]*division, len(at))
	for i, p := range at {
		cut := rule(p.path, xs[i])
		if cut == nil {
			continue
		}
		if outputs && xs[i].NDim() > 3 {
			return fmt.Errorf("shard_inplace: %s, %v, has %d axes, as filters of convolutions have: ShardInplaceBy divides them", p.path, xs[i].Spec(), xs[i].NDim())
		}
		x, d, err := cut.shard(p, xs[i], g)
		if err != nil {
			return fmt.Errorf("shard_inplace: %s: %w", p.path, err)
		}
		xs[i], divisions[i] = x, d
	}
	if g.Size() == 1 {
		return nil
	}
	put(at, xs)
	for i, p := range at {
		if base := p.base(); base != nil && divisions[i] != nil {
			base.divide(p.below, *divisions[i])
		}
	}
	return nil
}

// shard is this rank's part of x, which a module holds at p.
func (c Cut) shard(p place, x *array.Array, g *group.Group) (*array.Array, *division, error) {
	if err := x.Err(); err != nil {
		return nil, nil, err
	}
	if g.Size() == 0 {
		return nil, nil, errOutside
	}
	if _, twice := p.base().division(p.below); twice {
		return nil, nil, fmt.Errorf("it is divided already")
	}
	axis, err := c.axis(x)
	if err != nil {
		return nil, nil, err
	}
	feature := featuresOf(p, axis)
	parts, err := feature.shard(c.Segments, x.Dim(axis), fmt.Sprintf("elements of axis %d of %v", axis, x.Spec()), g)
	if err != nil {
		return nil, nil, err
	}
	d := newDivision(g, axis, parts)
	return pick(x, parts, axis), &d, nil
}

func (c Cut) axis(x *array.Array) (int, error) {
	axis := c.Axis
	if axis < 0 {
		axis += x.NDim()
	}
	if axis < 0 || axis >= x.NDim() {
		return 0, fmt.Errorf("axis %d is none of %v", c.Axis, x.Spec())
	}
	return axis, nil
}
