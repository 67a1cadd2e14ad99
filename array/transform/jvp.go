package transform

import (
	"github.com/lockstep-go/lockstep/array"
)

// JVP returns the results of f at primals and, for each result, the product of
// its derivative by the primals with the tangents (one for each primal, of its
// shape and type). A result that depends on no primal gets zeros.
func JVP(f Func, primals, tangents []*array.Array) (outs, outTangents []*array.Array) {
	t := record(f, primals)
	t.trace.Finish(t.outs...)
	if bad := t.mistake(); bad != nil {
		return t.outs, all(bad, len(t.outs))
	}
	if err := checkLike("tangent", tangents, primals); err != nil {
		return t.outs, all(t.outs0().WithError(array.Fail("jvp", err).Err()), len(t.outs))
	}
	return t.outs, t.forward(tied(tangents, primals))
}

// forward walks from the stand-ins to the results with each node's rule.
func (t *traced) forward(tangents []*array.Array) []*array.Array {
	nodes, depends := t.between(derived)
	dx := map[array.Node][]*array.Array{}
	for i, x := range t.standIns {
		dx[x.Node()] = tangents[i : i+1]
	}
	for _, n := range nodes {
		argnums := arguments(n, depends)
		in := make([]*array.Array, len(argnums))
		for i, arg := range argnums {
			x := n.Inputs()[arg]
			in[i] = dx[x.Node()][x.Index()]
		}
		out, err := n.Primitive().JVP(n.Inputs(), n.Outputs(), in, argnums)
		if err != nil {
			return all(t.outs0().WithError(array.Fail("jvp", noRule("jvp", n, err)).Err()), len(t.outs))
		}
		dx[n] = out
	}
	result := make([]*array.Array, len(t.outs))
	for i, out := range t.outs {
		if depends[out.Node()] && inexact(out) {
			result[i] = dx[out.Node()][out.Index()]
		} else {
			result[i] = array.ZerosLike(out)
		}
	}
	return result
}
