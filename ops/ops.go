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

// lent is the error of a call on a group that was lent the storage of arrays.
func lent(err error) error {
	if group.Untouched(err) {
		return array.Untouched(err)
	}
	return err
}
