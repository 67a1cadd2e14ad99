package array

import "fmt"

// Apply records one application of p and returns its outputs. It is the only
// way to make a node: operations, collectives included, are thin functions over
// it. A sticky error among the inputs, or one from OutputSpecs, sticks to the
// outputs.
func Apply(p Primitive, in ...*Array) []*Array { return apply(p, in).outputs() }

// Apply1 is Apply for a primitive with one output.
func Apply1(p Primitive, in ...*Array) *Array { return (*Array)(apply(p, in)) }

// apply does not keep in itself.
func apply(p Primitive, in []*Array) *node {
	n := newNode(p)
	if laned, ok := p.(Laned); ok {
		if lane := laned.Lane(); lane != nil {
			n.special().lane = lane
		}
	}
	for i, x := range in {
		if x == nil {
			x = Fail(p.Name(), fmt.Errorf("argument %d: %w", i, errNil))
		}
		n.adopt(i, x, len(in))
	}
	if n.err() == nil {
		n.infer(len(in))
	}
	if n.err() != nil {
		n.setSpecs(make([]Spec, max(1, outputsOf(p))))
		return n
	}
	if lane := n.lane(); lane != nil && n.trace == 0 {
		n.rare.record = lane.NextRecord()
	}
	if _, ok := p.(Fallible); ok {
		n.special().site = newSite()
	}
	return n
}

func newNode(p Primitive) *node {
	return &node{kind: &kind{prim: p}}
}

// MultiOutput is implemented by primitives with several outputs, so that a
// failed application has as many as a good one.
type MultiOutput interface{ Outputs() int }

func outputsOf(p Primitive) int {
	if m, ok := p.(MultiOutput); ok {
		return m.Outputs()
	}
	return 1
}

// Fail returns an array that carries err as the mistake of the operation op.
func Fail(op string, err error) *Array {
	return failed(newOpError(op, err))
}

// failed returns an array that carries err as it is. Arrays given as from stay
// reachable, so that an evaluation can tell the peers who wait for collectives
// among them.
func failed(err error, from ...*Array) *Array {
	n := newNode(nil)
	n.special().err = err
	for i, x := range from {
		n.setInput(i, x, len(from))
	}
	n.setSpecs(make([]Spec, 1))
	return (*Array)(n)
}

// WithError returns an array that carries err instead of a value, unless x
// already carries an earlier error. Collectives that x depends on are told when
// it is evaluated.
func (x *Array) WithError(err error) *Array {
	if x.Err() != nil {
		return x
	}
	return failed(err, x)
}

// adopt makes x the i-th of count inputs and takes over what a node has from them:
// the first error and the innermost trace.
func (n *node) adopt(i int, x *Array, count int) {
	n.setInput(i, x, count)
	if err := x.node().err(); err != nil && n.err() == nil {
		n.special().err = err
	}
	n.trace = max(n.trace, x.node().trace)
}

func (n *node) setInput(i int, x *Array, count int) {
	if x.node().isTemporary() {
		x.node().unread.Add(1)
	}
	if count <= len(n.pair) {
		n.pair[i] = x
		return
	}
	if n.special().inputs == nil {
		n.rare.inputs = make([]*Array, count)
	}
	n.rare.inputs[i] = x
}

func (n *node) infer(count int) {
	in := n.sources()
	specs := make([]Spec, count)
	for i := range specs {
		specs[i] = in.at(i).spec()
	}
	out, err := n.kind.prim.OutputSpecs(specs)
	for i := 0; err == nil && i < len(out); i++ {
		err = checkShape(out[i].DType, out[i].Shape)
	}
	if err != nil {
		n.special().err = newOpError(n.kind.prim.Name(), err)
		return
	}
	n.setSpecs(out)
}

func (n *node) setSpecs(specs []Spec) {
	if len(specs) > 0 {
		n.kind.spec = specs[0]
	} else {
		specs = []Spec{} // not nil, which would stand for one
	}
	if len(specs) != 1 {
		n.special().specs = specs[:len(specs):len(specs)]
	}
}

// specOf is the spec of an output.
func (n *node) specOf(out int) Spec {
	if out == 0 {
		return n.kind.spec
	}
	return n.rare.specs[out]
}

// outputsCount is how many outputs n has.
func (n *node) outputsCount() int {
	if n.rare != nil && n.rare.specs != nil {
		return len(n.rare.specs)
	}
	return 1
}

func (n *node) outputs() []*Array {
	out := make([]*Array, n.outputsCount())
	n.fillOutputs(func(i int, x *Array) { out[i] = x })
	return out
}

// fillOutputs calls put with every output. Those beyond the first are made in one piece.
func (n *node) fillOutputs(put func(i int, x *Array)) {
	count := n.outputsCount()
	if count == 0 {
		return
	}
	put(0, (*Array)(n))
	more := make([]Array, count-1)
	for i := range more {
		more[i].pair[0], more[i].stamp = (*Array)(n), uint64(i+1)
		put(i+1, &more[i])
	}
}
