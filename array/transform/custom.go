package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// Rules replace what the transforms would make of a function. xs are the
// function's arguments, ys its results. What a rule returns is lazy and can be
// transformed in its turn. A rule that is nil is made from the function itself.
type Rules struct {
	// Name stands in messages; empty means "custom".
	Name string
	// VJP returns a gradient for each argument, of its shape and type, or nil where
	// it is zero. dys are the cotangents of the results.
	VJP func(xs, ys, dys []*array.Array) []*array.Array
	// JVP returns a tangent for each result, of its shape and type. dxs are the
	// tangents of the arguments, zeros where they are constant.
	JVP func(xs, ys, dxs []*array.Array) []*array.Array
	// VMap returns the results for a batch and the batch axis of each, -1 where it
	// has none. axes are the batch axes of the arguments, likewise.
	VMap func(xs []*array.Array, axes []int) (ys []*array.Array, outAxes []int)
}

// Custom returns a function that computes f and that derivatives and vmap treat
// by the given rules. Everything that gradients shall reach must be an argument:
// to a derivative, arrays that f captures are constants. VJP and JVP also hold
// under vmap, where they are batched. Evaluating a result evaluates all
// arguments.
func Custom(f Func, rules Rules) Func {
	if rules.Name == "" {
		rules.Name = "custom"
	}
	return func(xs ...*array.Array) []*array.Array { return custom{f, rules, 0}.apply(xs) }
}

// custom passes on the results of f, which are its first inputs. The arguments
// of f follow.
type custom struct {
	f       Func
	rules   Rules
	results int
}

func (p custom) apply(xs []*array.Array) []*array.Array {
	ys := call(p.f, xs)
	p.results = len(ys)
	return array.Apply(p, append(ys, xs...)...)
}

func (p custom) Name() string { return p.rules.Name }

// Outputs is the number of results.
func (p custom) Outputs() int { return p.results }

// Forwards marks an array.Forwarder.
func (custom) Forwards() {}

// DerivativeInputs are the arguments.
func (p custom) DerivativeInputs(n int) (first, end int) { return p.results, n }

func (p custom) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in[:p.results], nil }

// Eval is never called: the outputs are inputs.
func (custom) Eval(context.Context, []array.View, []array.View) error { return nil }

// VJP answers with the rule, or by deriving f at the arguments anew.
func (p custom) VJP(in, out, dy []*array.Array, argnums []int) ([]*array.Array, error) {
	xs := in[p.results:]
	grads, err := p.pull(xs, out, dy)
	if err != nil {
		return nil, err
	}
	wanted := make([]*array.Array, len(argnums))
	for i, arg := range argnums {
		wanted[i] = grads[arg-p.results]
	}
	return wanted, nil
}

func (p custom) pull(xs, ys, dys []*array.Array) ([]*array.Array, error) {
	if p.rules.VJP == nil {
		// What is computed anew is not computed before the backward pass needs it.
		_, grads := VJP(p.f, after(xs, dys), dys)
		return grads, nil
	}
	grads := orZeros(p.rules.VJP(xs, ys, dys), xs)
	return grads, checkLike("gradient", grads, xs)
}

// JVP answers with the rule, or by deriving f at the arguments anew.
func (p custom) JVP(in, out, dx []*array.Array, argnums []int) ([]*array.Array, error) {
	xs := in[p.results:]
	dxs := make([]*array.Array, len(xs))
	for i, x := range xs {
		dxs[i] = array.ZerosLike(x)
	}
	for i, arg := range argnums {
		dxs[arg-p.results] = dx[i]
	}
	if p.rules.JVP == nil {
		_, dys := JVP(p.f, xs, dxs)
		return dys, nil
	}
	dys := p.rules.JVP(xs, out, dxs)
	return dys, checkLike("tangent", dys, out)
}

// VMap batches f and the rules for its derivatives. Without a batch axis it
// only calls f again.
func (p custom) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	xs, axes := in[p.results:], axes[p.results:]
	if !slices.ContainsFunc(axes, func(axis int) bool { return axis >= 0 }) {
		return p.apply(xs), slices.Repeat([]int{-1}, p.results), nil
	}
	f := p.examples(axes)
	return custom{f, p.rules.batched(axes), 0}.apply(xs), make([]int, p.results), nil
}

// examples is f for a batch, with the batch axis of every result in front.
func (p custom) examples(axes []int) Func {
	if p.rules.VMap == nil {
		return VMap(p.f, axes, []int{0})
	}
	return func(xs ...*array.Array) []*array.Array {
		ys, outAxes := p.rules.VMap(xs, axes)
		if len(ys) != p.results || len(outAxes) != p.results {
			err := fmt.Errorf("the rule of %s gave %d results and %d axes, want %d", p.Name(), len(ys), len(outAxes), p.results)
			return all(array.Fail("vmap", err), p.results)
		}
		b := &batching{}
		for i, axis := range axes {
			if axis >= 0 {
				b.size = xs[i].Dim(axis)
			}
		}
		front := make([]*array.Array, len(ys))
		for i, y := range ys {
			front[i] = b.place(y, outAxes[i], 0)
		}
		return front
	}
}

// batched are the rules of derivatives for a batch: arguments lie along axes,
// results along axis 0.
func (r Rules) batched(axes []int) Rules {
	b := Rules{Name: r.Name}
	if r.VJP != nil {
		b.VJP = func(xs, ys, dys []*array.Array) []*array.Array { return r.batchedVJP(axes, xs, ys, dys) }
	}
	if r.JVP != nil {
		b.JVP = func(xs, ys, dxs []*array.Array) []*array.Array {
			front := make([]int, len(ys))
			f := func(zs ...*array.Array) []*array.Array {
				return r.JVP(zs[:len(xs)], zs[len(xs):len(xs)+len(ys)], zs[len(xs)+len(ys):])
			}
			return VMap(f, slices.Concat(axes, front, axes), []int{0})(slices.Concat(xs, ys, dxs)...)
		}
	}
	return b
}

// batchedVJP adds up what the examples give to an argument that they share.
func (r Rules) batchedVJP(axes []int, xs, ys, dys []*array.Array) []*array.Array {
	front := make([]int, len(ys))
	f := func(zs ...*array.Array) []*array.Array {
		xs := zs[:len(xs)]
		grads := r.VJP(xs, zs[len(xs):len(xs)+len(ys)], zs[len(xs)+len(ys):])
		return orZeros(grads, xs)
	}
	outAxes := make([]int, len(axes))
	for i, axis := range axes {
		outAxes[i] = max(axis, 0)
	}
	grads := VMap(f, slices.Concat(axes, front, front), outAxes)(slices.Concat(xs, ys, dys)...)
	for i, axis := range axes {
		if axis < 0 && i < len(grads) {
			grads[i] = total(grads[i], xs[i])
		}
	}
	return grads
}

// total sums the gradient of x over the examples in front.
func total(dx, x *array.Array) *array.Array {
	if !inexact(x) && dx.Err() == nil {
		return nil
	}
	return dx.Sum(0)
}

// orZeros fills in what a rule left out.
func orZeros(grads, xs []*array.Array) []*array.Array {
	grads = slices.Clone(grads)
	for i, x := range xs {
		if i < len(grads) && grads[i] == nil {
			grads[i] = array.ZerosLike(x)
		}
	}
	return grads
}
