package transform_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
)

// scalarFunc maps one number to one; applied to an array it works on each element.
type scalarFunc = func(x *array.Array) *array.Array

// interpretations of a function whose derivative of order n at x is known:
// each gives a derivative that is order higher.
var interpretations = []struct {
	name  string
	of    func(f scalarFunc) scalarFunc
	order int
}{
	{"compile", func(f scalarFunc) scalarFunc { return first(transform.Compile(one(f))) }, 0},
	{"checkpoint", func(f scalarFunc) scalarFunc { return first(transform.Checkpoint(one(f))) }, 0},
	{"custom", func(f scalarFunc) scalarFunc { return first(transform.Custom(one(f), transform.Rules{})) }, 0},
	{"vmap", func(f scalarFunc) scalarFunc {
		return func(x *array.Array) *array.Array { return mapped(f, x.BroadcastTo(3)).At(0, 1) }
	}, 0},
	{"vjp", transform.Grad, 1},
	{"jvp", func(f scalarFunc) scalarFunc {
		return func(x *array.Array) *array.Array { return slope(f, x) }
	}, 1},
}

// TestEveryCompositionOfThreeTransforms applies three interpretations to
// sin(2x), whose derivatives are 2ⁿ·sin(2x + nπ/2).
func TestEveryCompositionOfThreeTransforms(t *testing.T) {
	f := func(x *array.Array) *array.Array { return x.MulScalar(2).Sin() }
	var names []string
	var got []*array.Array
	var want []float64
	for _, a := range interpretations {
		for _, b := range interpretations {
			for _, c := range interpretations {
				n := float64(a.order + b.order + c.order)
				names = append(names, fmt.Sprintf("%s of %s of %s", a.name, b.name, c.name))
				got = append(got, a.of(b.of(c.of(f)))(array.Scalar(0.3)))
				want = append(want, math.Pow(2, n)*math.Sin(0.6+n*math.Pi/2))
			}
		}
	}
	if err := array.Eval(t.Context(), got...); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		near(t, name, got[i], want[i:i+1])
	}
}

// network is a small function of matrices with everything that layers use.
func network(xs ...*array.Array) *array.Array {
	h := xs[0].MatMul(xs[1]).Add(xs[2])
	return h.Tanh().MatMul(xs[3]).Softmax(-1).Log().Mul(h).Sum()
}

func networkInputs() []*array.Array {
	at := func(seed float64, shape ...int) *array.Array {
		s := array.Spec{Shape: shape}
		values := make([]float64, s.Size())
		for i := range values {
			values[i] = math.Sin(seed + 1.3*float64(i))
		}
		return array.From(values, shape...)
	}
	return []*array.Array{at(1, 2, 3), at(2, 3, 4), at(3, 4), at(4, 4, 4)}
}

func TestHessianVectorProductsOfANetworkAgree(t *testing.T) {
	xs := networkInputs()
	dxs := slices.Clone(xs)
	for i, x := range xs {
		dxs[i] = x.Cos()
	}
	grads := func(f func(xs ...*array.Array) *array.Array) transform.Func {
		return func(xs ...*array.Array) []*array.Array {
			_, g := transform.ValueAndGrad(f, 0, 1, 2, 3)(xs...)
			return g
		}
	}
	wrapped := func(wrap func(transform.Func) transform.Func) func(xs ...*array.Array) *array.Array {
		f := wrap(func(xs ...*array.Array) []*array.Array { return []*array.Array{network(xs...)} })
		return func(xs ...*array.Array) *array.Array { return f(xs...)[0] }
	}
	along := func(f func(xs ...*array.Array) *array.Array) func(xs ...*array.Array) *array.Array {
		return func(xs ...*array.Array) *array.Array {
			_, dy := transform.JVP(func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs...)} }, xs, dxs)
			return dy[0]
		}
	}
	forwardOverReverse := func(g transform.Func) []*array.Array {
		_, hv := transform.JVP(g, xs, dxs)
		return hv
	}
	reverseOverReverse := func(xs ...*array.Array) []*array.Array {
		return grads(func(xs ...*array.Array) *array.Array {
			sum := array.Scalar(0.0)
			for i, g := range grads(network)(xs...) {
				sum = sum.Add(g.Mul(dxs[i]).Sum())
			}
			return sum
		})(xs...)
	}
	want := forwardOverReverse(grads(network))
	if err := array.Eval(t.Context(), want...); err != nil {
		t.Fatal(err)
	}
	for name, hv := range map[string][]*array.Array{
		"vjp of jvp":                      grads(along(network))(xs...),
		"vjp of vjp":                      reverseOverReverse(xs...),
		"jvp of compiled vjp":             forwardOverReverse(transform.Compile(grads(network))),
		"jvp of vjp of compiled":          forwardOverReverse(grads(wrapped(transform.Compile))),
		"jvp of vjp of checkpoint":        forwardOverReverse(grads(wrapped(transform.Checkpoint))),
		"compiled vjp of jvp":             transform.Compile(grads(along(network)))(xs...),
		"compiled vjp of vjp":             transform.Compile(reverseOverReverse)(xs...),
		"vjp of jvp of checkpoint":        grads(along(wrapped(transform.Checkpoint)))(xs...),
		"checkpoint of vjp of checkpoint": transform.Checkpoint(grads(along(wrapped(transform.Checkpoint))))(xs...),
	} {
		for i := range want {
			values, err := array.Values[float64](t.Context(), want[i])
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%s by argument %d", name, i), hv[i], values, want[i].Shape()...)
		}
	}
}

// Three examples of x and two of the matrix, batched inside each other.
func TestVMapOfVMapOfTheGradientOfANetwork(t *testing.T) {
	xs := networkInputs()
	examples := array.Stack([]*array.Array{xs[0], xs[0].Cos(), xs[0].Exp()}, 1)
	matrices := array.Stack([]*array.Array{xs[1], xs[1].Cos()}, 2)
	for name, wrap := range map[string]func(transform.Func) transform.Func{
		"plain":      func(f transform.Func) transform.Func { return f },
		"compile":    transform.Compile,
		"checkpoint": transform.Checkpoint,
	} {
		inner := wrap(func(xs ...*array.Array) []*array.Array {
			_, g := transform.ValueAndGrad(network, 0, 1)(xs...)
			return g
		})
		overExamples := wrap(transform.VMap(inner, []int{1, -1, -1, -1}, []int{0}))
		all := wrap(transform.VMap(overExamples, []int{-1, 2, -1, -1}, []int{1}))(examples, matrices, xs[2], xs[3])
		for e := range 3 {
			for m := range 2 {
				want := inner(examples.At(1, e), matrices.At(2, m), xs[2], xs[3])
				for k := range want {
					values, err := array.Values[float64](t.Context(), want[k])
					if err != nil {
						t.Fatal(err)
					}
					got := all[k].At(0, e).At(0, m)
					near(t, fmt.Sprintf("%s: result %d for example %d and matrix %d", name, k, e, m), got, values, want[k].Shape()...)
				}
			}
		}
	}
}
