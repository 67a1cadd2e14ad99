package transform_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"pgregory.net/rapid"
)

// operation is one that a random program can be made of. It takes two arrays, of
// which it may use one alone, and three numbers to choose by. What it makes of
// arrays that it does not suit may carry an error.
type operation struct {
	name string
	f    func(x, y *array.Array, a, b, c int) *array.Array
}

// tame keeps numbers small: rounding that differs must not grow from step to step.
func tame(x *array.Array) *array.Array {
	switch t := x.DType(); {
	case t.IsFloat():
		return x.Tanh()
	case t.IsComplex():
		return x.Div(x.Abs().AddScalar(1))
	}
	return x
}

// axis is one of x's, 0 if there is none, which is then an error of the operation.
func axis(x *array.Array, a int) int { return a % max(1, x.NDim()) }

// places are indices along an axis of x, some of them from the end; none if it is
// empty.
func places(x *array.Array, at, b, c int) *array.Array {
	n := x.Dim(at)
	if n == 0 {
		return array.From([]int32{})
	}
	return array.From([]int32{int32(b % n), int32(c%n - n), int32((b + c) % n)})
}

var vocabulary = []operation{
	{"sin", func(x, _ *array.Array, _, _, _ int) *array.Array { return tame(x.Sin()) }},
	{"neg", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Neg() }},
	{"abs", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Abs() }},
	{"square", func(x, _ *array.Array, _, _, _ int) *array.Array { return tame(x.Square()) }},
	{"exp", func(x, _ *array.Array, _, _, _ int) *array.Array { return tame(tame(x).Exp()) }},
	{"sigmoid", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Sigmoid() }},
	{"erf", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Erf() }},
	{"floor", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.MulScalar(1.5).Floor() }},
	{"scalar", func(x, _ *array.Array, a, b, _ int) *array.Array {
		return x.MulScalar(float64(a%3) - 1).AddScalar(float64(b) / 4)
	}},
	{"stop gradient", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.StopGradient().Add(x) }},
	{"add", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.Add(y)) }},
	{"sub", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.Sub(y)) }},
	{"mul", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.Mul(y)) }},
	{"div", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.Div(y.Abs().AddScalar(1))) }},
	{"maximum", func(x, y *array.Array, _, _, _ int) *array.Array { return x.Maximum(y) }},
	{"atan2", func(x, y *array.Array, _, _, _ int) *array.Array { return x.Atan2(y.Abs().AddScalar(1)) }},
	{"where", func(x, y *array.Array, _, _, _ int) *array.Array { return array.Where(x.Greater(y), x, y) }},
	{"less", func(x, y *array.Array, _, _, _ int) *array.Array { return x.Less(y) }},
	{"astype", func(x, _ *array.Array, a, _, _ int) *array.Array {
		return x.AsType([]dtype.Type{dtype.Float64, dtype.Float32, dtype.Int32, dtype.Complex64}[a%4])
	}},
	{"matmul", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.MatMul(y)) }},
	{"matmul of the transpose", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(x.MatMul(y.SwapAxes(-1, -2))) }},
	{"einsum", func(x, y *array.Array, _, _, _ int) *array.Array { return tame(array.Einsum("...i,...i->...", x, y)) }},
	{"sum", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.Sum(axis(x, a))) }},
	{"mean of all", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Mean() }},
	{"max", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.MaxKeep(axis(x, a)) }},
	{"prod", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.Prod(axis(x, a))) }},
	{"variance", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.Var(axis(x, a))) }},
	{"logsumexp", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.LogSumExp(axis(x, a))) }},
	{"softmax", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.Softmax(axis(x, a)) }},
	{"cumsum", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.CumSum(axis(x, a), array.Reverse)) }},
	{"cumprod", func(x, _ *array.Array, a, _, _ int) *array.Array { return tame(x.CumProd(axis(x, a))) }},
	{"cummax", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.CumMax(axis(x, a)) }},
	{"sort", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.Sort(axis(x, a)) }},
	{"argsort", func(x, _ *array.Array, a, _, _ int) *array.Array {
		return x.TakeAlongAxis(x.ArgSort(axis(x, a)).Flip(axis(x, a)), axis(x, a))
	}},
	{"layer norm", func(x, _ *array.Array, _, _, _ int) *array.Array { return array.LayerNorm(x, nil, nil, 0.5) }},
	{"reshape", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Reshape(-1) }},
	{"transpose", func(x, _ *array.Array, a, b, _ int) *array.Array { return x.SwapAxes(axis(x, a), axis(x, b)) }},
	{"expand", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.ExpandDims(axis(x, a)) }},
	{"broadcast", func(x, y *array.Array, _, _, _ int) *array.Array { return x.BroadcastTo(y.Shape()...) }},
	{"slice", func(x, _ *array.Array, a, b, c int) *array.Array {
		return x.SliceAxisStep(axis(x, a), -1-b%2, -9, -1-c%2)
	}},
	{"flip", func(x, _ *array.Array, _, _, _ int) *array.Array { return x.Flip() }},
	{"pad", func(x, _ *array.Array, a, b, c int) *array.Array {
		return x.Pad(float64(a), [2]int{b % 2, c % 2})
	}},
	{"roll", func(x, _ *array.Array, a, b, _ int) *array.Array { return x.Roll(b, axis(x, a)) }},
	{"concatenate", func(x, y *array.Array, a, _, _ int) *array.Array {
		return array.Concatenate([]*array.Array{x, y, x}, axis(x, a))
	}},
	{"stack", func(x, y *array.Array, a, _, _ int) *array.Array {
		return array.Stack([]*array.Array{y, x}, axis(x, a))
	}},
	{"split", func(x, _ *array.Array, a, b, _ int) *array.Array {
		parts := array.SplitAt(x, []int{b % 3}, axis(x, a))
		return array.Concatenate([]*array.Array{parts[1], parts[0]}, axis(x, a))
	}},
	{"take", func(x, _ *array.Array, a, b, c int) *array.Array {
		return x.Take(places(x, axis(x, a), b, c), axis(x, a))
	}},
	{"take by what is computed", func(x, y *array.Array, a, _, _ int) *array.Array {
		at := y.ArgMax(axis(y, a)).Mod(array.Scalar(uint32(max(1, x.Dim(axis(x, a))))))
		if x.Size() == 0 {
			at = at.SliceAxis(0, 0, 0)
		}
		return x.Take(at, axis(x, a))
	}},
	{"scatter add", func(x, y *array.Array, a, b, c int) *array.Array {
		return tame(x.ScatterAdd(places(x, axis(x, a), b, c), y, axis(x, a)))
	}},
	{"scatter", func(x, y *array.Array, a, b, c int) *array.Array {
		return x.Scatter(places(x, axis(x, a), b, c), y, axis(x, a))
	}},
	{"slice update", func(x, y *array.Array, _, _, _ int) *array.Array { return x.SliceUpdate(y, nil, nil, nil).Add(x) }},
	{"lower triangle", func(x, _ *array.Array, a, _, _ int) *array.Array { return x.Tril(a%3 - 1) }},
}

// step applies an operation to arrays that the program has by then.
type step struct {
	op      operation
	x, y    int
	a, b, c int
}

// program is a random function: every step adds an array to its arguments, and
// the last two arrays are its results.
type program struct {
	steps     []step
	tolerance float64 // relative to the greatest element of a result
}

func (p program) String() string {
	words := make([]string, len(p.steps))
	for i, s := range p.steps {
		words[i] = fmt.Sprintf("%s(%d, %d; %d %d %d)", s.op.name, s.x, s.y, s.a, s.b, s.c)
	}
	return strings.Join(words, "; ")
}

func (p program) run(xs ...*array.Array) []*array.Array {
	for _, s := range p.steps {
		xs = append(xs, s.op.f(xs[s.x], xs[s.y], s.a, s.b, s.c))
	}
	return xs[len(xs)-2:]
}

// largest is how many elements an array of a random program can have.
const largest = 64

// drawProgram draws steps until some suit the arguments.
func drawProgram(t *rapid.T, xs []*array.Array) program {
	p := program{tolerance: 1e-9}
	number := rapid.IntRange(0, 5)
	for range rapid.IntRange(2, 10).Draw(t, "steps") {
		which := rapid.IntRange(0, len(xs)-1)
		s := step{
			rapid.SampledFrom(vocabulary).Draw(t, "operation"),
			which.Draw(t, "x"), which.Draw(t, "y"),
			number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c"),
		}
		y := s.op.f(xs[s.x], xs[s.y], s.a, s.b, s.c)
		if y.Err() == nil && y.Size() <= largest && y.NDim() <= 5 {
			xs, p.steps = append(xs, y), append(p.steps, s)
		}
	}
	if slices.ContainsFunc(xs, func(x *array.Array) bool { return x.DType().IsInexact() && x.DType() != dtype.Float64 }) {
		p.tolerance = 1e-4
	}
	if len(xs) < 2 {
		t.Skip("no step suits the only argument")
	}
	return p
}

// drawInput draws an array whose elements have three bits, exact in every type.
func drawInput(t *rapid.T) *array.Array {
	shape := rapid.SampledFrom([][]int{{}, {1}, {3}, {2, 3}, {2, 3}, {3, 2}, {1, 3}, {2, 1}, {2, 2, 3}, {0, 3}}).Draw(t, "shape")
	kind := rapid.SampledFrom([]dtype.Type{dtype.Float64, dtype.Float64, dtype.Float64, dtype.Float32, dtype.Int32, dtype.Bool, dtype.Complex64}).Draw(t, "type")
	return drawElements(t, array.Spec{Shape: shape, DType: kind})
}

func drawElements(t *rapid.T, s array.Spec) *array.Array {
	data := rapid.SliceOfN(rapid.IntRange(-7, 7), s.Size(), s.Size()).Draw(t, "elements")
	values := make([]float64, len(data))
	for i, v := range data {
		values[i] = float64(v) / 4
	}
	x := array.From(values).Reshape(s.Shape...)
	if s.DType.IsComplex() {
		return x.AsType(s.DType).Mul(array.Scalar(complex64(1 + 0.5i)))
	}
	return x.AsType(s.DType)
}

func drawLike(t *rapid.T, xs []*array.Array) []*array.Array {
	like := make([]*array.Array, len(xs))
	for i, x := range xs {
		like[i] = drawElements(t, x.Spec())
	}
	return like
}

// same compares results in every element, up to rounding.
func same(t *rapid.T, what string, got, want []*array.Array, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		if g, w := got[i].Spec(), want[i].Spec(); want[i].Err() == nil && got[i].Err() == nil && !g.Equal(w) {
			t.Fatalf("%s: result %d is %v, want %v", what, i, g, w)
		}
		g, w := numbers(t, what, got[i]), numbers(t, what, want[i])
		scale := 1.0
		for _, v := range w {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				scale = max(scale, math.Abs(v))
			}
		}
		for k := range w {
			if !(math.Abs(g[k]-w[k]) <= tolerance*scale) && g[k] != w[k] && !(math.IsNaN(g[k]) && math.IsNaN(w[k])) {
				t.Fatalf("%s: result %d is %v, want %v", what, i, g, w)
			}
		}
	}
}

func numbers(t *rapid.T, what string, x *array.Array) []float64 {
	t.Helper()
	values, err := arraytest.Elements(context.Background(), x)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return values
}

// pullback is the vjp of f with the given cotangents as a function of the
// arguments and these.
func pullback(f transform.Func, arguments int) transform.Func {
	return func(xs ...*array.Array) []*array.Array {
		_, grads := transform.VJP(f, xs[:arguments], xs[arguments:])
		return grads
	}
}

func TestRandomProgramsUnderTransforms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := make([]*array.Array, rapid.IntRange(1, 3).Draw(t, "arguments"))
		for i := range xs {
			xs[i] = drawInput(t)
		}
		p := drawProgram(t, xs)
		t.Logf("%v of %v", p, xs)
		outs := p.run(xs...)
		compare(t, "values", p.run, xs, p.tolerance)

		dys := drawLike(t, outs)
		gradient, all := pullback(p.run, len(xs)), append(slices.Clone(xs), dys...)
		compare(t, "gradients", gradient, all, p.tolerance)
		want := gradient(all...)
		same(t, "gradients of the compiled", pullback(transform.Compile(p.run), len(xs))(all...), want, p.tolerance)
		same(t, "gradients of the recomputed", pullback(transform.Checkpoint(p.run), len(xs))(all...), want, p.tolerance)

		dxs := drawLike(t, xs)
		_, pushed := transform.JVP(p.run, xs, dxs)
		forward, backward := inner(t, pushed, dys, outs), inner(t, dxs, want, xs)
		if math.Abs(forward-backward) > 1e-3*(1+math.Abs(forward)+math.Abs(backward)) {
			t.Fatalf("jvp and vjp disagree: %v and %v", forward, backward)
		}
	})
}

// compare holds what the transforms make of f against f itself.
func compare(t *rapid.T, what string, f transform.Func, xs []*array.Array, tolerance float64) {
	t.Helper()
	want := f(xs...)
	same(t, what+" of the compiled", transform.Compile(f)(xs...), want, tolerance)
	same(t, what+" of the recomputed", transform.Checkpoint(f)(xs...), want, tolerance)

	axes, batched := make([]int, len(xs)), make([]*array.Array, len(xs))
	examples := [][]*array.Array{slices.Clone(xs), slices.Clone(xs)}
	for i, x := range xs {
		axes[i], batched[i] = rapid.IntRange(-1, x.NDim()).Draw(t, "batch axis"), x
		if i == 0 {
			axes[i] = max(axes[i], 0)
		}
		if axes[i] >= 0 {
			examples[1][i] = drawElements(t, x.Spec())
			batched[i] = array.Stack([]*array.Array{x, examples[1][i]}, axes[i])
		}
	}
	loop := f(examples[1]...)
	for i := range want {
		want[i] = array.Stack([]*array.Array{want[i], loop[i]}, 0)
	}
	mapped := transform.VMap(f, axes, []int{0})
	same(t, what+" of the batched", mapped(batched...), want, tolerance)
	same(t, what+" of the compiled and batched", transform.Compile(mapped)(batched...), want, tolerance)
}

// inner adds up products of the elements of xs and ys where those of like have a
// derivative.
func inner(t *rapid.T, xs, ys, like []*array.Array) (sum float64) {
	for i := range xs {
		if !like[i].DType().IsInexact() {
			continue
		}
		x, y := numbers(t, "inner product", xs[i]), numbers(t, "inner product", ys[i])
		for k := range x {
			sum += x[k] * y[k]
		}
	}
	return sum
}
