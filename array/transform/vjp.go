package transform

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
)

// VJP returns the results of f at primals and, for each primal, the product of
// the cotangents (one for each result, of its shape and type) with the
// derivative of the results by that primal. A primal that no result depends on,
// or one of an integer type, gets zeros.
func VJP(f Func, primals, cotangents []*array.Array) (outs, grads []*array.Array) {
	t := record(f, primals)
	t.trace.Finish(t.outs...)
	if bad := t.mistake(); bad != nil {
		return t.outs, all(bad, len(primals))
	}
	if err := checkLike("cotangent", cotangents, t.outs); err != nil {
		return t.outs, all(t.outs0().WithError(array.Fail("vjp", err).Err()), len(primals))
	}
	return t.outs, t.backward(tied(cotangents, primals))
}

// outs0 is the first result; a constant where there is none.
func (t *traced) outs0() *array.Array {
	if len(t.outs) == 0 {
		return array.Scalar(false)
	}
	return t.outs[0]
}

// backward walks from the results to the stand-ins, adding up what each node's
// rule gives for its inputs.
func (t *traced) backward(cotangents []*array.Array) []*array.Array {
	nodes, depends := t.between(derived)
	sums := cotangentSums{}
	for i, out := range t.outs {
		if depends[out.Node()] && inexact(out) {
			sums.add(out, cotangents[i])
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if err := sums.through(nodes[i], depends); err != nil {
			return all(t.outs0().WithError(array.Fail("vjp", err).Err()), len(t.standIns))
		}
	}
	grads := make([]*array.Array, len(t.standIns))
	for i, x := range t.standIns {
		grads[i] = sums.take(x)
	}
	return grads
}

// cotangentSums holds what has reached each output of each node so far.
type cotangentSums map[array.Node][]*array.Array

func (s cotangentSums) add(x, dx *array.Array) {
	have := s[x.Node()]
	if have == nil {
		have = make([]*array.Array, len(x.Node().Outputs()))
		s[x.Node()] = have
	}
	if at := x.Index(); have[at] == nil {
		have[at] = dx
	} else {
		have[at] = have[at].Add(dx)
	}
}

// take returns the sum for x, zeros if nothing reached it.
func (s cotangentSums) take(x *array.Array) *array.Array {
	if have := s[x.Node()]; have != nil && have[x.Index()] != nil {
		return have[x.Index()]
	}
	return array.ZerosLike(x)
}

// through applies the rule of n to what has reached it.
func (s cotangentSums) through(n array.Node, depends map[array.Node]bool) error {
	if s[n] == nil {
		return nil
	}
	outs := n.Outputs()
	dy := make([]*array.Array, len(outs))
	for i, out := range outs {
		dy[i] = s.take(out)
	}
	argnums := arguments(n, depends)
	dx, err := n.Primitive().VJP(n.Inputs(), outs, dy, argnums)
	if err != nil {
		return noRule("vjp", n, err)
	}
	if len(dx) != len(argnums) {
		return noRule("vjp", n, fmt.Errorf("%d results for %d arguments", len(dx), len(argnums)))
	}
	delete(s, n)
	for i, arg := range argnums {
		s.add(n.Inputs()[arg], dx[i])
	}
	return nil
}
