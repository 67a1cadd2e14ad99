// Package transform interprets functions of arrays differently: it derives,
// batches or compiles them.
//
//	square := func(x *array.Array) *array.Array { return x.Mul(x) }
//	slope := transform.Grad(square)
//	slope(array.Scalar(3.0)) // lazy 6
//
// A transform calls the function once with stand-ins for its arguments, which
// records a graph, and then walks that graph with the rules of each primitive. It
// knows no operation by name, so collectives are transformed like everything
// else. Transforms nest in any order. Arrays that the function captures are
// constants to it.
//
// Mistakes stay in the arrays: a function that builds an array with an error
// gives results and derivatives that carry this error. A primitive without the
// rule that is needed gives one that wraps array.ErrNoRule and names it.
package transform

import (
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// Func is a function of several arrays with several results.
type Func func(xs ...*array.Array) []*array.Array

// traced is a function's graph between stand-ins for its arguments and its
// results.
type traced struct {
	trace    *array.Trace
	standIns []*array.Array
	outs     []*array.Array
}

// record calls f with stand-ins for xs.
func record(f Func, xs []*array.Array) *traced {
	t := &traced{trace: array.NewTrace(), standIns: make([]*array.Array, len(xs))}
	for i, x := range xs {
		t.standIns[i] = t.trace.Input(x)
	}
	t.outs = call(f, t.standIns)
	return t
}

// call returns what f makes of xs, with an error in place of nil.
func call(f Func, xs []*array.Array) []*array.Array {
	outs := slices.Clone(f(slices.Clone(xs)...))
	for i, out := range outs {
		if out == nil {
			outs[i] = array.Fail("transform", fmt.Errorf("the function returned nil as result %d", i))
		}
	}
	return outs
}

// mistake returns an array that carries the first error among the results, or
// nil.
func (t *traced) mistake() *array.Array {
	for _, out := range t.outs {
		if out.Err() != nil {
			return out
		}
	}
	return nil
}

// reader lists the inputs of a node that a transform follows.
type reader func(n array.Node) []*array.Array

// between lists the nodes from the stand-ins, these left out, to the results,
// inputs before users, along the inputs that reads lists. depends says which nodes
// are reached from a stand-in, these included.
func (t *traced) between(reads reader) (nodes []array.Node, depends map[array.Node]bool) {
	depends = map[array.Node]bool{}
	for _, x := range t.standIns {
		depends[x.Node()] = true
	}
	for _, n := range needed(t.outs, reads) {
		if !depends[n] && slices.ContainsFunc(reads(n), func(x *array.Array) bool { return depends[x.Node()] }) {
			depends[n] = true
			nodes = append(nodes, n)
		}
	}
	return nodes, depends
}

// needed lists the nodes that outs are made of, inputs before users, without
// those that are reached only along inputs that reads leaves out.
func needed(outs []*array.Array, reads reader) []array.Node {
	nodes := array.Sorted(outs...)
	need := make(map[array.Node]bool, len(nodes))
	for _, x := range outs {
		need[x.Node()] = true
	}
	for _, n := range slices.Backward(nodes) {
		if !need[n] {
			continue
		}
		for _, x := range reads(n) {
			need[x.Node()] = true
		}
	}
	return slices.DeleteFunc(nodes, func(n array.Node) bool { return !need[n] })
}

// derived reads the inputs that a derivative can be taken by.
func derived(n array.Node) []*array.Array {
	in := n.Inputs()
	first, end := derivativeInputs(n)
	return slices.DeleteFunc(slices.Clone(in[first:end]), func(x *array.Array) bool { return !inexact(x) })
}

func derivativeInputs(n array.Node) (first, end int) {
	in := n.Inputs()
	if p, ok := n.Primitive().(array.Partial); ok {
		return p.DerivativeInputs(len(in))
	}
	return 0, len(in)
}

// inexact says whether x can have a derivative.
func inexact(x *array.Array) bool { return x.DType().IsInexact() }

// arguments lists the inputs of n that a derivative is wanted by.
func arguments(n array.Node, depends map[array.Node]bool) []int {
	var argnums []int
	in := n.Inputs()
	first, end := derivativeInputs(n)
	for i := first; i < end; i++ {
		if depends[in[i].Node()] && inexact(in[i]) {
			argnums = append(argnums, i)
		}
	}
	return argnums
}

// noRule is the error of a transform at a primitive.
func noRule(rule string, n array.Node, err error) error {
	return fmt.Errorf("%s of %s: %w", rule, n.Primitive().Name(), err)
}

// all returns n times the same array.
func all(x *array.Array, n int) []*array.Array {
	xs := make([]*array.Array, n)
	for i := range xs {
		xs[i] = x
	}
	return xs
}

// tied makes cotangents or tangents depend on the arguments that belong to an
// enclosing transform. A collective of a constant one then belongs to it as well:
// a compiled function runs it in every call.
func tied(seeds, xs []*array.Array) []*array.Array {
	var enclosed []*array.Array
	for _, x := range xs {
		if x.IsTraced() {
			enclosed = append(enclosed, x)
		}
	}
	return after(seeds, enclosed)
}

// after are xs, which are there only once dys are.
func after(xs, dys []*array.Array) []*array.Array {
	later := make([]*array.Array, len(xs))
	for i, x := range xs {
		later[i] = array.Depends(x, dys...)
	}
	return later
}

// checkLike returns an error when the given arrays differ in number, shape or
// type from those that they belong to.
func checkLike(what string, given, like []*array.Array) error {
	if len(given) != len(like) {
		return fmt.Errorf("%d %ss for %d arrays", len(given), what, len(like))
	}
	for i, x := range given {
		if err := x.Err(); err != nil {
			return err
		}
		if like[i].Err() == nil && !x.Spec().Equal(like[i].Spec()) {
			return fmt.Errorf("%s %d is %v, want %v", what, i, x.Spec(), like[i].Spec())
		}
	}
	return nil
}
