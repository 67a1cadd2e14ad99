package array

import (
	"context"
	"errors"
)

// Primitive is one operation: what it computes, and the rules by which the
// transforms interpret it differently. Nodes of the graph are made from it only
// by Apply. A primitive must not change after that.
//
// In the rules, in and out are the node's inputs and outputs, argnums are the
// input numbers of interest in increasing order, and what they build is lazy. A
// rule that a primitive does not have is answered by embedding NoRules.
type Primitive interface {
	// Name is the operation's name for people, such as "matmul".
	Name() string
	// OutputSpecs gives shape and type of each output. An error here is a user's
	// mistake; it sticks to the outputs.
	OutputSpecs(in []Spec) ([]Spec, error)
	// Eval computes the outputs. Inputs are row-contiguous unless the primitive is
	// a StridedReader; outputs always are, and hold garbage before. It may wait
	// only if it belongs to a lane, and then no longer than ctx.
	Eval(ctx context.Context, in, out []View) error
	// VJP returns, for each of argnums, the product of the cotangents (one for
	// each output) with the derivative of the outputs by that input.
	VJP(in, out, cotangents []*Array, argnums []int) ([]*Array, error)
	// JVP returns, for each output, the product of its derivative by the inputs
	// argnums with their tangents.
	JVP(in, out, tangents []*Array, argnums []int) ([]*Array, error)
	// VMap applies the primitive to batched inputs. axes[i] is the batch axis of
	// input i, or -1 where it has none. It returns the outputs and the batch axis
	// of each.
	VMap(in []*Array, axes []int) (out []*Array, outAxes []int, err error)
}

// ErrNoRule is wrapped by the error of a transform that met a primitive without
// the rule it needs.
var ErrNoRule = errors.New("not implemented")

// NoRules is embedded by primitives that lack rules: each answers ErrNoRule,
// and the transform adds the operation's name.
type NoRules struct{}

// VJP answers ErrNoRule.
func (NoRules) VJP(_, _, _ []*Array, _ []int) ([]*Array, error) { return nil, ErrNoRule }

// JVP answers ErrNoRule.
func (NoRules) JVP(_, _, _ []*Array, _ []int) ([]*Array, error) { return nil, ErrNoRule }

// VMap answers ErrNoRule.
func (NoRules) VMap([]*Array, []int) ([]*Array, []int, error) { return nil, nil, ErrNoRule }

// Optional abilities of a primitive.
type (
	// StridedReader marks a primitive whose Eval takes inputs of any strides.
	StridedReader interface{ ReadsStrided() }

	// Viewer is a primitive whose single output can share the storage of its first
	// input. ok is false when these strides do not allow it; the evaluator then
	// asks again with a contiguous copy, which must be possible. Eval is never called.
	Viewer interface {
		View(in View, out Spec) (view View, ok bool)
	}

	// Forwarder marks a primitive that only passes on: output i is input i, storage
	// and all. Inputs beyond its outputs are waited for. Eval is never called.
	Forwarder interface{ Forwards() }

	// Overwriter is a primitive whose Eval also works where output out has the storage of
	// one of the inputs that Overwrites lists. They are so given to it only if that input
	// was donated, lies in row order and has as many bytes.
	Overwriter interface{ Overwrites(out int) (in []int) }

	// Partial is a primitive whose outputs are constants to every derivative by
	// those of its n inputs that lie before number first, or at end and beyond. The
	// derivative rules are not asked for them.
	Partial interface {
		DerivativeInputs(n int) (first, end int)
	}

	// Comparable is a primitive that knows others which compute the same from the
	// same inputs. Nodes of equal primitives with equal inputs may be merged, except
	// those of lanes. A primitive that is not Comparable equals none.
	Comparable interface{ Equal(o Primitive) bool }

	// Fallible marks a primitive whose Eval can find a mistake in the values, such as
	// an index out of range. Its nodes remember who asked for them, so that the
	// error names the place.
	Fallible interface{ ChecksValues() }

	// Laned is a primitive whose nodes run in the order of a lane: collectives,
	// sends and receives. A nil lane means that this one has none.
	Laned interface{ Lane() Lane }
)

// Lane orders nodes that talk to other processes. Each concrete node takes the
// lane's next record number when it is made, and an evaluation runs the nodes of
// a lane in that order, one at a time, whatever the shape of the graph. Lanes
// are compared by identity.
type Lane interface {
	// NextRecord returns 1, 2, 3, … in turn.
	NextRecord() uint64
	// Abandon says that this process cannot run the node with this record number, for
	// the given reason, so that nobody waits for it; the number is 0 in a trace, where
	// nodes have none. what reads "all_sum #17". It does not wait for peers.
	Abandon(record uint64, what string, reason error)
	// Independent reports that ending the context of a node of this lane while it
	// runs harms only that node, as with a receive. For a collective it is false.
	Independent() bool
}

type recordKey struct{}

// Record returns the record number of the node that an Eval with this context
// runs, 0 for a node without a lane.
func Record(ctx context.Context) uint64 {
	n, _ := ctx.Value(recordKey{}).(uint64)
	return n
}
