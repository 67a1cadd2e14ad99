package transform_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
)

// near compares values within 1e-9 and shapes exactly.
func near(t *testing.T, what string, x *array.Array, want []float64, shape ...int) {
	t.Helper()
	got, err := array.Values[float64](t.Context(), x)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }
	if !slices.EqualFunc(got, want, close) || !slices.Equal(x.Shape(), shape) {
		t.Errorf("%s is %v of shape %v, want %v of shape %v", what, got, x.Shape(), want, shape)
	}
}

func cube(x *array.Array) *array.Array { return x.Mul(x).Mul(x) }

func TestGradOfGradOfGrad(t *testing.T) {
	f := cube
	for i, want := range []float64{8, 12, 12, 6, 0} {
		near(t, "derivative "+string(rune('0'+i)), f(array.Scalar(2.0)), []float64{want})
		f = transform.Grad(f)
	}
}

func TestValueAndGradByChosenArguments(t *testing.T) {
	f := func(xs ...*array.Array) *array.Array { return xs[0].Mul(xs[1]).Add(xs[2].Square()).Sum() }
	x, y, z := array.From([]float64{1, 2}), array.From([]float64{3, 4}), array.Scalar(5.0)
	value, grads := transform.ValueAndGrad(f, 2, 0)(x, y, z)
	near(t, "value", value, []float64{3 + 25 + 8 + 25})
	near(t, "by z", grads[0], []float64{20})
	near(t, "by x", grads[1], []float64{3, 4}, 2)
}

func TestGradThroughSharedAndUnusedArrays(t *testing.T) {
	captured := array.From([]float64{10, 20})
	f := func(xs ...*array.Array) *array.Array {
		y := xs[0].Mul(captured)
		_ = xs[0].Exp() // built, not used
		return y.Add(y).Mul(y).Sum()
	}
	_, grads := transform.ValueAndGrad(f, 0, 1)(array.From([]float64{1, 1}), array.Ones(dtype.Float64, 3))
	near(t, "shared", grads[0], []float64{4 * 100, 4 * 400}, 2)
	near(t, "unused", grads[1], []float64{0, 0, 0}, 3)
}

func TestStopGradient(t *testing.T) {
	f := func(x *array.Array) *array.Array { return x.Mul(x.StopGradient()) }
	near(t, "gradient", transform.Grad(f)(array.Scalar(3.0)), []float64{3})
}

func TestIntegersAreConstants(t *testing.T) {
	f := func(xs ...*array.Array) *array.Array {
		return xs[0].Mul(xs[0].AsType(dtype.Int32).AsType(dtype.Float64))
	}
	_, grads := transform.ValueAndGrad(f)(array.Scalar(2.5))
	near(t, "through an integer", grads[0], []float64{2})
	_, grads = transform.ValueAndGrad(f)(array.Scalar(int32(2)))
	if err := grads[0].Err(); err == nil || !strings.Contains(err.Error(), "argument 0 is int32[]") {
		t.Errorf("gradient by an integer: %v", err)
	}
}

func TestVJPAndJVPAgree(t *testing.T) {
	f := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].MatMul(xs[1]), xs[0].Sum().Mul(xs[1].Exp())}
	}
	primals := []*array.Array{array.From([]float64{1, 2, 3, 4}, 2, 2), array.From([]float64{0.5, -1, 2, 0.25}, 2, 2)}
	tangents := []*array.Array{array.From([]float64{1, -1, 2, 0.5}, 2, 2), array.From([]float64{3, 1, -2, 1}, 2, 2)}
	cotangents := []*array.Array{array.From([]float64{1, 2, -1, 3}, 2, 2), array.From([]float64{-1, 1, 0.5, 2}, 2, 2)}
	_, dy := transform.JVP(f, primals, tangents)
	_, dx := transform.VJP(f, primals, cotangents)
	dot := func(a, b []*array.Array) *array.Array { return a[0].Mul(b[0]).Sum().Add(a[1].Mul(b[1]).Sum()) }
	want, err := array.Item[float64](t.Context(), dot(dy, cotangents))
	if err != nil || want == 0 {
		t.Fatal(want, err)
	}
	near(t, "product", dot(dx, tangents), []float64{want})
}

func TestHessianByForwardOverReverse(t *testing.T) {
	f := func(x *array.Array) *array.Array { return cube(x).Sum() }
	x, v := array.From([]float64{1, 2}), array.From([]float64{1, 10})
	_, hv := transform.JVP(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{transform.Grad(f)(xs[0])}
	}, []*array.Array{x}, []*array.Array{v})
	near(t, "hessian times v", hv[0], []float64{6, 120}, 2)
}

func TestVMap(t *testing.T) {
	x := array.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	y := array.From([]float64{10, 20, 30})
	f := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Mul(xs[1]).Sum(), xs[1]}
	}
	outs := transform.VMap(f, []int{0, -1}, []int{0, 1})(x, y)
	near(t, "batched", outs[0], []float64{140, 320}, 2)
	near(t, "repeated", outs[1], []float64{10, 10, 20, 20, 30, 30}, 3, 2)
	outs = transform.VMap(f, []int{-2, -1}, []int{0})(x, y)
	near(t, "axis from the end", outs[0], []float64{140, 320}, 2)
	pairs := transform.VMap(func(a ...*array.Array) []*array.Array {
		return transform.VMap(func(b ...*array.Array) []*array.Array {
			return []*array.Array{a[0].Mul(b[0])}
		}, []int{0}, []int{0})(y)
	}, []int{0}, []int{0})(array.From([]float64{1, 2}))
	near(t, "nested", pairs[0], []float64{10, 20, 30, 20, 40, 60}, 2, 3)
}

func TestVMapOfGradAndGradOfVMap(t *testing.T) {
	x := array.From([]float64{1, 2, 3})
	slopes := transform.VMap(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{transform.Grad(cube)(xs[0])}
	}, []int{0}, []int{0})(x)
	near(t, "vmap of grad", slopes[0], []float64{3, 12, 27}, 3)
	total := func(x *array.Array) *array.Array {
		return transform.VMap(func(xs ...*array.Array) []*array.Array {
			return []*array.Array{cube(xs[0])}
		}, []int{0}, []int{0})(x)[0].Sum()
	}
	near(t, "grad of vmap", transform.Grad(total)(x), []float64{3, 12, 27}, 3)
}

func TestValueAndGradTree(t *testing.T) {
	params := tree.Tree{{Path: "w", Array: array.From([]float64{1, 2})}, {Path: "b", Array: array.Scalar(3.0)}}
	loss, aux, grads := transform.ValueAndGradTree(func(t tree.Tree) (*array.Array, []*array.Array) {
		y := t.Get("w").Mul(t.Get("b"))
		return y.Sum(), []*array.Array{y}
	})(params)
	near(t, "loss", loss, []float64{9})
	near(t, "aux", aux[0], []float64{3, 6}, 2)
	if err := params.Same(grads); err != nil {
		t.Error(err)
	}
	near(t, "by w", grads.Get("w"), []float64{3, 3}, 2)
	near(t, "by b", grads.Get("b"), []float64{3})
}

func TestMistakesAreCarriedIntoTheValueAndEveryGradient(t *testing.T) {
	f := func(xs ...*array.Array) *array.Array { return xs[0].Add(array.Ones(dtype.Float64, 3)).Mul(xs[1]).Sum() }
	value, grads := transform.ValueAndGrad(f, 0, 1)(array.Ones(dtype.Float64, 2), array.Ones(dtype.Float64, 3))
	for _, x := range append(grads, value) {
		if err := x.Err(); err == nil || !strings.Contains(err.Error(), "add at transform_test.go:") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestWrongUse(t *testing.T) {
	one := array.Scalar(1.0)
	two := array.From([]float64{1, 2})
	same := func(xs ...*array.Array) *array.Array { return xs[0] }
	many := func(xs ...*array.Array) []*array.Array { return xs }
	grad := func(f func(...*array.Array) *array.Array, argnum int, x *array.Array) *array.Array {
		_, grads := transform.ValueAndGrad(f, argnum)(x)
		return grads[0]
	}
	vjp := func(dy ...*array.Array) *array.Array {
		_, grads := transform.VJP(many, []*array.Array{two}, dy)
		return grads[0]
	}
	jvp := func(dx ...*array.Array) *array.Array {
		_, dy := transform.JVP(many, []*array.Array{two}, dx)
		return dy[0]
	}
	vmap := func(in, out []int, xs ...*array.Array) *array.Array { return transform.VMap(many, in, out)(xs...)[0] }
	for name, c := range map[string]struct {
		x    *array.Array
		want string
	}{
		"loss of two numbers":      {grad(same, 0, two), "returned float64[2]; a gradient needs one"},
		"loss of an integer":       {grad(func(xs ...*array.Array) *array.Array { return xs[0].AsType(dtype.Int8) }, 0, one), "returned int8[]"},
		"no such argument":         {grad(same, 1, one), "argument number 1 of a call with 1"},
		"nil result":               {grad(func(...*array.Array) *array.Array { return nil }, 0, one), "returned nil as result 0"},
		"cotangent of other shape": {vjp(one), "cotangent 0 is float64[], want float64[2]"},
		"missing cotangent":        {vjp(), "0 cotangents for 1 arrays"},
		"tangent of other type":    {jvp(array.Zeros(dtype.Float32, 2)), "tangent 0 is float32[2], want float64[2]"},
		"no batch axis":            {vmap([]int{-1}, []int{0}, two), "no argument has a batch axis"},
		"axis out of range":        {vmap([]int{1}, []int{0}, two), "has no batch axis 1"},
		"unequal batches":          {vmap([]int{0}, []int{0}, two, array.Ones(dtype.Float64, 3)), "argument 1 has 3 examples, those before have 2"},
		"too many axes":            {vmap([]int{0, 0}, []int{0}, two), "2 batch axes for 1 arguments"},
		"too many output axes":     {vmap([]int{0}, []int{0, 0}, two), "2 output axes for 1 results"},
	} {
		if err := c.x.Err(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "transform_test.go:") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// ruleless is a primitive without rules.
type ruleless struct{ array.NoRules }

func (ruleless) Name() string                                      { return "ruleless" }
func (ruleless) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }
func (ruleless) Eval(_ context.Context, _, _ []array.View) error   { return nil }

func TestAMissingRuleIsNamed(t *testing.T) {
	f := func(xs ...*array.Array) []*array.Array { return array.Apply(ruleless{}, xs[0]) }
	x := []*array.Array{array.Scalar(1.0)}
	_, grads := transform.VJP(f, x, x)
	_, tangents := transform.JVP(f, x, x)
	batch := transform.VMap(f, []int{0}, []int{0})(array.Ones(dtype.Float64, 2))
	for rule, y := range map[string]*array.Array{"vjp": grads[0], "jvp": tangents[0], "vmap": batch[0]} {
		if err := y.Err(); !errors.Is(err, array.ErrNoRule) || !strings.Contains(err.Error(), rule+" of ruleless: not implemented") {
			t.Errorf("%s: error is %v", rule, err)
		}
	}
}
