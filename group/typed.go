package group

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// The functions below are the typed forms; a nil group is the default one. Each
// hands the backend a copy, so that xs can be used again after an error, when its
// content is as before.

// AllReduce combines xs over all ranks, elementwise, in place. All lengths are
// equal. Every rank ends with the same bits.
func AllReduce[T dtype.Element](ctx context.Context, g *Group, op Op, xs []T) error {
	work := slices.Clone(xs)
	if err := orDefault(g).AllReduceBytes(ctx, op, dtype.Of[T](), buffer.Bytes(work)); err != nil {
		return err
	}
	copy(xs, work)
	return nil
}

// AllGather returns every rank's xs, one after the other in rank order. All
// lengths are equal.
func AllGather[T dtype.Element](ctx context.Context, g *Group, xs []T) ([]T, error) {
	g = orDefault(g)
	out := make([]T, len(xs)*g.size)
	if err := g.AllGatherBytes(ctx, buffer.Bytes(slices.Clone(xs)), buffer.Bytes(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// Broadcast copies root's xs to every rank, in place. All lengths are equal.
func Broadcast[T dtype.Element](ctx context.Context, g *Group, root int, xs []T) error {
	work := slices.Clone(xs)
	if err := orDefault(g).Broadcast(ctx, root, buffer.Bytes(work)); err != nil {
		return err
	}
	copy(xs, work)
	return nil
}

// ReduceScatter combines xs over all ranks, elementwise, and returns slice number
// Rank of the result; Size divides the length of xs, which is equal on all ranks.
func ReduceScatter[T dtype.Element](ctx context.Context, g *Group, op Op, xs []T) ([]T, error) {
	g = orDefault(g)
	if err := checkSlices("reduce_scatter", g, len(xs)); err != nil {
		return nil, err
	}
	out := make([]T, len(xs)/max(g.size, 1))
	if err := g.ReduceScatterBytes(ctx, op, dtype.Of[T](), buffer.Bytes(slices.Clone(xs)), buffer.Bytes(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// AllToAll sends slice i of xs to rank i and returns what came, slice i from rank
// i. Size divides the length of xs, which is equal on all ranks.
func AllToAll[T dtype.Element](ctx context.Context, g *Group, xs []T) ([]T, error) {
	g = orDefault(g)
	if err := checkSlices("all_to_all", g, len(xs)); err != nil {
		return nil, err
	}
	out := make([]T, len(xs))
	if err := g.AllToAll(ctx, buffer.Bytes(slices.Clone(xs)), buffer.Bytes(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// Gather returns every rank's xs, one after the other in rank order, on root, and
// nil on the other ranks. All lengths are equal.
func Gather[T dtype.Element](ctx context.Context, g *Group, root int, xs []T) ([]T, error) {
	g = orDefault(g)
	var out []T
	if g.rank == root {
		out = make([]T, len(xs)*g.size)
	}
	if err := g.Gather(ctx, root, buffer.Bytes(slices.Clone(xs)), buffer.Bytes(out)); err != nil {
		return nil, err
	}
	return out, nil
}

// Scatter fills out with slice number Rank of root's xs, which is Size times as
// long; xs is not looked at on the other ranks. out is equally long on all ranks
// and as before after an error.
func Scatter[T dtype.Element](ctx context.Context, g *Group, root int, xs, out []T) error {
	work := make([]T, len(out))
	if err := orDefault(g).Scatter(ctx, root, buffer.Bytes(slices.Clone(xs)), buffer.Bytes(work)); err != nil {
		return err
	}
	copy(out, work)
	return nil
}

func checkSlices(name string, g *Group, n int) error {
	if g.size > 0 && n%g.size != 0 {
		return fmt.Errorf("%s: %d elements do not divide among %d ranks", name, n, g.size)
	}
	return nil
}

// Send sends xs to rank dst, as an array of one dimension.
func Send[T dtype.Element](ctx context.Context, g *Group, dst, tag int, xs []T) error {
	return orDefault(g).SendMessage(ctx, dst, tag, dtype.Of[T](), []int{len(xs)}, buffer.Bytes(slices.Clone(xs)))
}

// Recv returns the next elements from rank src under the tag; how many, the
// sender decides. Shapes are flattened. Elements of another type are a
// *MessageError, and the next message can be received.
func Recv[T dtype.Element](ctx context.Context, g *Group, src, tag int) (xs []T, err error) {
	t := dtype.Of[T]()
	what := receiving(src, tag)
	err = orDefault(g).receive(ctx, what, src, tag, func(got header, n int) ([]byte, error) {
		if got.t != t {
			return nil, &MessageError{Src: src, Tag: tag, Got: got.String(), Want: t.String()}
		}
		xs = make([]T, n/t.Size())
		return buffer.Bytes(xs), nil
	})
	if err != nil {
		return nil, err
	}
	return xs, nil
}
