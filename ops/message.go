package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// tag is the one that all lazy messages carry; group's own Send and Recv take
// others.
const tag = 0

// Send sends x to rank dst of g when the result, which equals x, is evaluated; a
// send whose result nobody evaluates never happens. Type and shape travel ahead
// of the elements. Messages to one rank leave in the order in which they were
// recorded, and wait for no collective; to evaluate one before another that was
// recorded earlier is an error, so that the peer never takes one for the other. dst must
// be another rank of the group.
// There is no derivative. Under vmap one message has all examples, along axis 0.
func Send(x *array.Array, dst int, g *group.Group) *array.Array {
	g, err := peer(g, "destination", dst)
	if err != nil {
		return array.Fail("send", err)
	}
	return array.Apply1(send{g: g, dst: dst}, x)
}

// Recv receives an array from rank src of g when it is evaluated. The message must
// have the given type and shape; another one is dropped with an error that names
// the sender and both, and the next can be received. Messages from one rank arrive
// in the order in which they were recorded, and to evaluate one before another that was
// recorded earlier is an error: it would be given that one's message. There is no derivative. To vmap a receive
// is a constant: it happens once, for all examples.
func Recv(src int, g *group.Group, t dtype.Type, shape ...int) *array.Array {
	g, err := peer(g, "source", src)
	if err != nil {
		return array.Fail("recv", err)
	}
	return array.Apply1(recv{g: g, src: src, spec: array.Spec{Shape: slices.Clone(shape), DType: t}})
}

// RecvLike is Recv with the type and shape of x. x itself is not evaluated and
// gets no gradient.
func RecvLike(x *array.Array, src int, g *group.Group) *array.Array {
	if x.Err() != nil {
		return x
	}
	return Recv(src, g, x.DType(), x.Shape()...)
}

// peer checks the other end of a message.
func peer(g *group.Group, role string, rank int) (*group.Group, error) {
	g, local, err := use(g)
	switch {
	case err != nil:
		return nil, err
	case local:
		return nil, fmt.Errorf("invalid %s %d: a group of one has no other rank", role, rank)
	case rank < 0 || rank >= g.Size():
		return nil, fmt.Errorf("invalid %s %d in a group of size %d", role, rank, g.Size())
	case rank == g.Rank():
		return nil, fmt.Errorf("invalid %s %d: it is this rank, not another one", role, rank)
	}
	return g, nil
}

type send struct {
	array.NoRules
	g   *group.Group
	dst int
}

func (send) Name() string { return "send" }

func (p send) Lane() array.Lane { return p.g.PeerLane(p.dst, tag, true) }

func (send) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }

func (p send) Eval(ctx context.Context, in, out []array.View) error {
	record := array.Record(ctx)
	if err := p.g.PeerLane(p.dst, tag, true).Ran(record); err != nil {
		return array.Untouched(fmt.Errorf("send #%d to rank %d: %w", record, p.dst, err))
	}
	copy(out[0].Bytes(), in[0].Bytes())
	return lent(p.g.SendMessage(ctx, p.dst, tag, in[0].DType, in[0].Shape, in[0].Bytes()))
}

// VMap sends one message with all examples, wherever their axis was.
func (p send) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in[0].MoveAxis(axes[0], 0)), []int{0}, nil
}

type recv struct {
	array.NoRules
	g    *group.Group
	src  int
	spec array.Spec
}

func (recv) Name() string { return "recv" }

func (p recv) Lane() array.Lane { return p.g.PeerLane(p.src, tag, false) }

func (p recv) OutputSpecs([]array.Spec) ([]array.Spec, error) {
	if !p.spec.DType.Valid() {
		return nil, errors.New("invalid element type")
	}
	for _, d := range p.spec.Shape {
		if d < 0 {
			return nil, fmt.Errorf("shape %v has a negative length", p.spec.Shape)
		}
	}
	return []array.Spec{p.spec}, nil
}

func (p recv) Eval(ctx context.Context, _, out []array.View) error {
	record := array.Record(ctx)
	if err := p.g.PeerLane(p.src, tag, false).Ran(record); err != nil {
		return array.Untouched(fmt.Errorf("recv #%d from rank %d: %w", record, p.src, err))
	}
	return lent(p.g.RecvMessage(ctx, p.src, tag, out[0].DType, out[0].Shape, out[0].Bytes()))
}
