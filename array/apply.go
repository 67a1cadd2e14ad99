package array

import "fmt"

// Apply records one application of p and returns its outputs. It is the only
// way to make a node: operations, collectives included, are thin functions over
// it. A sticky error among the inputs, or one from OutputSpecs, sticks to the
// outputs.
func Apply(p Primitive, in ...*Array) []*Array {
	n := &node{prim: p, inputs: in}
	if laned, ok := p.(Laned); ok {
		n.lane = laned.Lane()
	}
	for i, x := range in {
		switch {
		case x == nil:
			in[i] = Fail(p.Name(), fmt.Errorf("argument %d: %w", i, errNil))
			n.adopt(in[i])
		default:
			n.adopt(x)
		}
	}
	if n.err == nil {
		n.infer()
	}
	if n.err != nil {
		n.specs = make([]Spec, max(1, outputsOf(p)))
		return n.outputs()
	}
	if n.lane != nil && n.trace == 0 {
		n.record = n.lane.NextRecord()
	}
	if _, ok := p.(Fallible); ok {
		n.site = newSite()
	}
	return n.outputs()
}

// Apply1 is Apply for a primitive with one output.
func Apply1(p Primitive, in ...*Array) *Array { return Apply(p, in...)[0] }

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
	return &Array{node: &node{err: err, inputs: from, specs: make([]Spec, 1)}}
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

// adopt takes over what a node has from its inputs: the first error and the
// innermost trace.
func (n *node) adopt(x *Array) {
	if n.err == nil {
		n.err = x.node.err
	}
	n.trace = max(n.trace, x.node.trace)
}

func (n *node) infer() {
	specs := make([]Spec, len(n.inputs))
	for i, x := range n.inputs {
		specs[i] = x.spec()
	}
	out, err := n.prim.OutputSpecs(specs)
	for i := 0; err == nil && i < len(out); i++ {
		err = checkShape(out[i].DType, out[i].Shape)
	}
	if err != nil {
		n.err = newOpError(n.prim.Name(), err)
		return
	}
	n.specs = out
}

func (n *node) outputs() []*Array {
	out := make([]*Array, len(n.specs))
	for i := range out {
		out[i] = &Array{node: n, out: i}
	}
	return out
}
