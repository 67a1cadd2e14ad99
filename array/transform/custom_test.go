package transform_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// odd computes x·y and claims derivatives that are not those of a product: by x
// seven times the product's, by y none. In vmap it adds a hundred.
var odd = transform.Custom(func(xs ...*array.Array) []*array.Array {
	return []*array.Array{xs[0].Mul(xs[1])}
}, transform.Rules{
	Name: "odd",
	VJP: func(xs, ys, dys []*array.Array) []*array.Array {
		return []*array.Array{ys[0].Div(xs[0]).Mul(dys[0]).MulScalar(7), nil}
	},
	JVP: func(xs, _, dxs []*array.Array) []*array.Array {
		return []*array.Array{xs[1].Mul(dxs[0]).MulScalar(7)}
	},
})

func oddAt(y *array.Array) func(x *array.Array) *array.Array {
	return func(x *array.Array) *array.Array { return odd(x, y)[0] }
}

func TestCustomRulesReplaceThoseOfTheFunction(t *testing.T) {
	x, y := array.Scalar(2.0), array.Scalar(5.0)
	product := func(xs ...*array.Array) *array.Array { return odd(xs...)[0] }
	value, grads := transform.ValueAndGrad(product, 0, 1)(x, y)
	near(t, "value", value, []float64{10})
	near(t, "gradient by x", grads[0], []float64{35})
	near(t, "gradient by y", grads[1], []float64{0})
	near(t, "tangent", slope(oddAt(y), x), []float64{35})
	near(t, "tangent by the other", slope(func(y *array.Array) *array.Array { return odd(x, y)[0] }, y), []float64{0})
	near(t, "compiled", first(transform.Compile(one(transform.Grad(oddAt(y)))))(x), []float64{35})
	near(t, "in a checkpoint", transform.Grad(first(transform.Checkpoint(one(oddAt(y)))))(x), []float64{35})
	near(t, "by an integer's side", odd(x, array.Scalar(int32(3)))[0], []float64{6})
}

// The rule gives 7·(xy)/x, whose derivative goes through the result y = f(x) by
// the rule again: 7·(7y)/x - 7·xy/x².
func TestCustomRulesAreDerivedInTheirTurn(t *testing.T) {
	near(t, "second derivative", transform.Grad(transform.Grad(oddAt(array.Scalar(4.0))))(array.Scalar(2.0)), []float64{7*7*4/2.0 - 7*4/2.0})
}

func TestCustomDerivativesHoldUnderVMap(t *testing.T) {
	xs, ys := array.From([]float64{1, 2, 3}), array.From([]float64{10, 20, 30})
	batch := func(axes ...int) func(xs ...*array.Array) *array.Array {
		return func(xs ...*array.Array) *array.Array { return transform.VMap(odd, axes, []int{0})(xs...)[0].Sum() }
	}
	_, grads := transform.ValueAndGrad(batch(0, 0), 0, 1)(xs, ys)
	near(t, "by the batched", grads[0], []float64{70, 140, 210}, 3)
	_, grads = transform.ValueAndGrad(batch(-1, 0), 0, 1)(array.Scalar(2.0), ys)
	near(t, "by what the examples share", grads[0], []float64{7 * 60})
	near(t, "by what has no gradient", grads[1], []float64{0, 0, 0}, 3)
	near(t, "vmap of grad", mapped(transform.Grad(oddAt(array.Scalar(5.0))), xs), []float64{35, 35, 35}, 3)
	near(t, "tangent of vmap", slope(func(y *array.Array) *array.Array {
		return transform.VMap(odd, []int{0, -1}, []int{0})(xs.Mul(y), array.Scalar(5.0))[0]
	}, array.Scalar(1.0)), []float64{35, 70, 105}, 3)
	near(t, "nested", transform.Grad(func(x *array.Array) *array.Array {
		return mappedTwice(oddAt(array.Scalar(5.0)), x.BroadcastTo(2, 3)).Sum()
	})(array.Scalar(1.0)), []float64{6 * 35})
	near(t, "unbatched under vmap", mapped(func(x *array.Array) *array.Array {
		return odd(array.Scalar(2.0), array.Scalar(3.0))[0].Add(x)
	}, xs), []float64{7, 8, 9}, 3)
	_, outs := transform.VJP(transform.VMap(func(xs ...*array.Array) []*array.Array {
		return odd(xs[1], xs[1]) // by the argument that is the same for all
	}, []int{0, -1}, []int{0}), []*array.Array{xs, array.Scalar(3.0)}, []*array.Array{array.Ones(dtype.Float64, 3)})
	near(t, "of the unbatched under vmap", outs[1], []float64{3 * 21})
}

func TestCustomVMap(t *testing.T) {
	var axesSeen []int
	f := transform.Custom(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{array.Apply1(work{ran: nil}, xs[0].Mul(xs[1])), xs[1]} // work has no rule for vmap
	}, transform.Rules{
		VJP: func(xs, _, dys []*array.Array) []*array.Array {
			return []*array.Array{dys[0].Mul(xs[1]), dys[0].Mul(xs[0]).Sum().Add(dys[1])}
		},
		VMap: func(xs []*array.Array, axes []int) ([]*array.Array, []int) {
			axesSeen = axes
			return []*array.Array{xs[0].MoveAxis(axes[0], -1).Mul(xs[1]), xs[1]}, []int{-1 + xs[0].NDim(), -1}
		},
	})
	x, y := array.From([]float64{1, 2, 3, 4, 5, 6}, 3, 2), array.Scalar(10.0)
	outs := transform.VMap(f, []int{0, -1}, []int{0})(x, y)
	near(t, "batched", outs[0], []float64{10, 20, 30, 40, 50, 60}, 3, 2)
	near(t, "repeated", outs[1], []float64{10, 10, 10}, 3)
	if len(axesSeen) != 2 || axesSeen[0] != 0 || axesSeen[1] != -1 {
		t.Errorf("the rule saw axes %v", axesSeen)
	}
	_, grads := transform.VJP(transform.VMap(f, []int{0, -1}, []int{0}), []*array.Array{x, y},
		[]*array.Array{array.Ones(dtype.Float64, 3, 2), array.Ones(dtype.Float64, 3)})
	near(t, "gradient", grads[0], []float64{10, 10, 10, 10, 10, 10}, 3, 2)
	near(t, "gradient of the shared", grads[1].Sum(), []float64{21 + 3})
}

func TestArraysThatACustomFunctionCapturesAreConstants(t *testing.T) {
	f := func(w *array.Array) *array.Array {
		g := transform.Custom(one(func(x *array.Array) *array.Array {
			return array.Apply1(work{}, x.Mul(w)) // would have no derivative
		}), transform.Rules{VJP: func(_, _, dys []*array.Array) []*array.Array { return dys }})
		return g(w)[0]
	}
	near(t, "gradient", transform.Grad(func(w *array.Array) *array.Array { return f(w).Mul(array.Scalar(3.0)) })(array.Scalar(2.0)), []float64{3})
}

func TestCustomWithoutRulesIsTheFunction(t *testing.T) {
	f := first(transform.Custom(one(cube), transform.Rules{}))
	x := array.Scalar(2.0)
	for name, c := range map[string]struct {
		y    *array.Array
		want float64
	}{
		"value":             {f(x), 8},
		"gradient":          {transform.Grad(f)(x), 12},
		"second derivative": {transform.Grad(transform.Grad(f))(x), 12},
		"tangent":           {slope(f, x), 12},
		"vmap":              {mapped(f, x.BroadcastTo(2)).Sum(), 16},
	} {
		near(t, name, c.y, []float64{c.want})
	}
}

func TestWrongCustomRules(t *testing.T) {
	x := array.From([]float64{1, 2})
	wrong := func(r transform.Rules) func(x *array.Array) *array.Array {
		r.Name = "wrong"
		return first(transform.Custom(one((*array.Array).Exp), r))
	}
	gradient := func(answer ...*array.Array) *array.Array {
		f := wrong(transform.Rules{VJP: func(_, _, _ []*array.Array) []*array.Array { return answer }})
		return transform.Grad(func(x *array.Array) *array.Array { return f(x).Sum() })(x)
	}
	tangent := func(answer ...*array.Array) *array.Array {
		return slope(wrong(transform.Rules{JVP: func(_, _, _ []*array.Array) []*array.Array { return answer }}), array.Scalar(1.0))
	}
	batch := func(axes []int, answer ...*array.Array) *array.Array {
		return mapped(wrong(transform.Rules{VMap: func([]*array.Array, []int) ([]*array.Array, []int) { return answer, axes }}), x)
	}
	for name, c := range map[string]struct {
		y    *array.Array
		want string
	}{
		"no gradient":                {gradient(), "vjp of wrong: 0 gradients for 1 arrays"},
		"gradient of other shape":    {gradient(array.Scalar(1.0)), "vjp of wrong: gradient 0 is float64[], want float64[2]"},
		"two tangents":               {tangent(array.Scalar(1.0), array.Scalar(1.0)), "jvp of wrong: 2 tangents for 1 arrays"},
		"nil tangent":                {tangent(nil), "jvp of wrong: array is nil"},
		"no results":                 {batch(nil), "the rule of wrong gave 0 results and 0 axes, want 1"},
		"batch axis that is not one": {batch([]int{1}, x), "has no axes 1 and 0"},
		"nil results":                {batch([]int{0}, nil), "nil"},
	} {
		if err := c.y.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	mistake := errors.New("mistake")
	if f := wrong(transform.Rules{}); !errors.Is(f(array.Fail("test", mistake)).Err(), mistake) {
		t.Error("the mistake of an argument is lost")
	}
}
