// Package ops makes the collectives of a group ordinary operations on lazy
// arrays.
//
//	g, err := group.Init(ctx, group.Config{})
//	mean := ops.AllMean(loss, g) // lazy: nothing moves yet
//	v, err := array.Item[float32](ctx, mean)
//
// Every operation takes the group last; nil means group.Default. In a group of
// one the collectives return their very argument. Nothing moves until a result
// is evaluated, and then every rank of the group must evaluate it: collectives of
// one group run in the order in which they were recorded, which must be the same
// on all ranks. Ranks that disagree about it get an error that says what each
// called. A failure while evaluating breaks the group for every rank.
//
// # Gradients
//
// Each rank derives its own copy of one replicated loss. The derivative of AllSum
// passes the cotangent on, AllGather takes this rank's slice of it, SumScatter
// gathers it, and SumGradients is the identity whose gradient is summed over the
// group. AllMax and AllMin give the cotangent to the ranks that hold the extremum,
// divided among ties. Gradients of parameters that all ranks share are summed over
// the group when the loss is one replicated value, and averaged when every rank has
// a loss of its own. Send and Recv have no derivative.
package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
)

var errOutside = errors.New("this rank is not in the group")

// use resolves the group of an operation. local says that there is nobody to
// talk to.
func use(g *group.Group) (_ *group.Group, local bool, err error) {
	if g == nil {
		g = group.Default()
	}
	if g.Size() == 0 {
		return nil, false, errOutside
	}
	return g, g.Size() == 1, nil
}

// collective applies a collective to x, or returns x itself where the group has
// no other rank.
func collective(name string, x *array.Array, g *group.Group, p func(g *group.Group) array.Primitive) *array.Array {
	g, local, err := use(g)
	switch {
	case err != nil:
		return array.Fail(name, err)
	case local:
		return x
	}
	return array.Apply1(p(g), x)
}

// label names a collective in messages and makes its fingerprint, of its number and what
// it is given. It must read the same on all ranks.
func label(ctx context.Context, p array.Primitive, given any) context.Context {
	return group.WithLabel(ctx, fmt.Sprintf("%s #%d %v", p.Name(), array.Record(ctx), given))
}

// lane is the part that all collectives of a group share.
type lane struct{ g *group.Group }

// Lane makes the collectives of a group run in record order.
func (l lane) Lane() array.Lane { return l.g }
