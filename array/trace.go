package array

import (
	"context"
	"sync/atomic"
)

// Trace records what a function does to its arguments, for packages that write
// transforms. Input makes a stand-in for each argument; every array built from
// a stand-in belongs to the trace and cannot be evaluated. Finish ends the
// trace. Traces nest: one that is begun inside another belongs to it.
//
// Nodes of a lane that belong to a trace have no record number until it ends.
type Trace struct {
	number uint64
}

var traces atomic.Uint64

// NewTrace begins a trace.
func NewTrace() *Trace { return &Trace{number: traces.Add(1)} }

// Input returns a stand-in for x, equal to it in shape, type and, once the trace
// has ended, value. A mistake that x carries is carried by the stand-in.
func (t *Trace) Input(x *Array) *Array {
	in := Apply1(standIn{}, x)
	if in.node().err() == nil {
		in.node().trace = t.number
	}
	return in
}

// Finish turns the nodes that outs were built from into nodes of the enclosing
// trace, or into concrete ones. Nodes of lanes that become concrete are recorded
// now, inputs before users, in an order that depends only on the graph. Nodes
// that outs do not need stay in the trace and never run.
func (t *Trace) Finish(outs ...*Array) {
	for _, n := range Sorted(outs...) {
		n := n.node
		if n.trace != t.number {
			continue
		}
		n.trace = 0
		in := n.sources()
		for i := 0; in.at(i) != nil; i++ {
			n.trace = max(n.trace, in.at(i).node().trace)
		}
		if lane := n.lane(); lane != nil && n.trace == 0 && n.err() == nil {
			n.rare.record = lane.NextRecord()
		}
	}
}

// standIn passes its input on.
type standIn struct{}

func (standIn) Name() string                                     { return "argument" }
func (standIn) OutputSpecs(in []Spec) ([]Spec, error)            { return in, nil }
func (standIn) Eval(_ context.Context, _, _ []View) error        { return nil }
func (standIn) View(in View, _ Spec) (View, bool)                { return in, true }
func (standIn) VJP(_, _, dy []*Array, _ []int) ([]*Array, error) { return dy, nil }
func (standIn) JVP(_, _, dx []*Array, _ []int) ([]*Array, error) { return dx, nil }
func (standIn) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return in, axes, nil
}

// IsTraced reports whether x belongs to a trace that has not ended, and so has
// no value yet.
func (x *Array) IsTraced() bool { return x != nil && x.node().trace != 0 }

// Node is one application of a primitive in the graph, for packages that walk
// it. Nodes are comparable; the zero Node is none.
type Node struct{ node *node }

// Node returns the node that x is an output of.
func (x *Array) Node() Node { return Node{x.node()} }

// Index returns which output of its node x is.
func (x *Array) Index() int { return x.out() }

// Primitive is the node's operation; nil for constants, for nodes that carry
// only an error, and for nodes that have been computed.
func (n Node) Primitive() Primitive {
	p, _ := n.node.source()
	return p
}

// Lane is the lane that the node belongs to, nil for most nodes.
func (n Node) Lane() Lane { return n.node.lane() }

// Inputs are the arrays that the node reads; none once it has been computed.
func (n Node) Inputs() []*Array {
	_, in := n.node.source()
	return in.list()
}

// Source is the array that a stand-in made by Trace.Input stands for; nil for
// other nodes.
func (n Node) Source() *Array {
	p, in := n.node.source()
	if _, ok := p.(standIn); !ok {
		return nil
	}
	return in.at(0)
}

// Outputs are the arrays that the node makes.
func (n Node) Outputs() []*Array { return n.node.outputs() }

// Sorted lists the nodes that are not yet computed and that outs depend on,
// inputs before users, in an order that depends only on the graph.
func Sorted(outs ...*Array) []Node {
	w := newWalk()
	defer w.end()
	for _, x := range outs {
		w.visit(x.node())
	}
	nodes := make([]Node, len(w.tasks))
	for i, n := range w.tasks {
		nodes[i] = Node{n}
	}
	return nodes
}
