package nn

import (
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

var errOutside = errors.New("this rank is not in the group")

// features relates the elements along an axis of an array to the features of a
// layer: in quantized weights, several features share an element or have several
// bits of one.
type features struct {
	per  int // this many features ...
	take int // ... are this many elements, and cannot be taken apart
}

var single = features{per: 1, take: 1}

// packed are the features along the inputs of packed weights, or of their scales and
// biases.
func packedFeatures(q array.Quantization, scales bool) features {
	if scales {
		return features{per: q.GroupSize, take: 1}
	}
	return features{per: q.GroupSize, take: q.GroupSize * q.Bits / 32}
}

// shard lists the ranges of elements that this rank gets of an axis with n elements.
// Segments count features. what names the features in messages.
func (f features) shard(s Segments, n int, what string, g *group.Group) ([]part, error) {
	total := n / f.take * f.per
	parts, err := s.shard(total, what, g.Size(), g.Rank())
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if p.start%f.per != 0 || p.end%f.per != 0 {
			return nil, fmt.Errorf("%d %s do not split into %d shards of whole groups of %d", total, what, g.Size(), f.per)
		}
		parts[i] = part{p.start / f.per * f.take, p.end / f.per * f.take}
	}
	return parts, nil
}

// featuresOf relates the elements along an axis of the array that a module holds
// at p.
func featuresOf(p place, axis int) features {
	if !p.owner.IsValid() || !p.owner.CanAddr() || axis != 1 || p.below == "bias" {
		return single
	}
	if l, ok := p.owner.Addr().Interface().(*QuantizedLinear); ok {
		return packedFeatures(l.Quantization, p.below != "weight")
	}
	return single
}
