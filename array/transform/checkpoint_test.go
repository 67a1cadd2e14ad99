package transform_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// double is x·2, linear, with all rules; it counts its evaluations.
type double struct{ ran *atomic.Int32 }

func (double) Name() string                                      { return "double" }
func (p double) Equal(o array.Primitive) bool                    { return o == p }
func (double) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }

func (p double) Eval(_ context.Context, in, out []array.View) error {
	for i, x := range array.Elements[float64](in[0]) {
		array.Elements[float64](out[0])[i] = 2 * x
	}
	p.ran.Add(1)
	return nil
}

func (p double) VJP(_, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{dy[0].MulScalar(2)}, nil
}

func (p double) JVP(_, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{dx[0].MulScalar(2)}, nil
}

func (p double) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in...), axes, nil
}

// cubeOfDouble is (2x)³ with the slope 24x².
func cubeOfDouble(ran *atomic.Int32) transform.Func {
	return one(func(x *array.Array) *array.Array { return cube(array.Apply1(double{ran}, x)) })
}

func TestCheckpointComputesTheInsideTwiceForAGradient(t *testing.T) {
	batch := func(f transform.Func) transform.Func { return transform.VMap(f, []int{0}, []int{0}) }
	for name, c := range map[string]struct {
		f        func(f transform.Func) func(x *array.Array) *array.Array
		want     float64
		plain    int32 // how often the inside runs without checkpoint
		recomput int32 // and with it
	}{
		"value": {first, 64, 1, 1},
		"gradient": {func(f transform.Func) func(x *array.Array) *array.Array {
			return transform.Grad(first(f))
		}, 96, 1, 1}, // the value is not asked for
		"value and gradient": {func(f transform.Func) func(x *array.Array) *array.Array {
			return func(x *array.Array) *array.Array {
				value, grads := transform.ValueAndGrad(func(xs ...*array.Array) *array.Array { return f(xs...)[0] })(x)
				return value.Add(grads[0])
			}
		}, 160, 1, 2},
		"compiled": {func(f transform.Func) func(x *array.Array) *array.Array {
			return first(transform.Compile(one(func(x *array.Array) *array.Array {
				outs, grads := transform.VJP(f, []*array.Array{x}, []*array.Array{array.Scalar(1.0)})
				return outs[0].Add(grads[0])
			})))
		}, 160, 1, 2},
		"under vmap": {func(f transform.Func) func(x *array.Array) *array.Array {
			return func(x *array.Array) *array.Array {
				one := array.Ones(dtype.Float64, 3)
				outs, grads := transform.VJP(batch(f), []*array.Array{x.BroadcastTo(3)}, []*array.Array{one})
				return outs[0].Add(grads[0]).At(0, 1)
			}
		}, 160, 1, 2},
		"tangent": {func(f transform.Func) func(x *array.Array) *array.Array {
			return func(x *array.Array) *array.Array {
				_, dy := transform.JVP(f, []*array.Array{x}, []*array.Array{array.Scalar(1.0)})
				return dy[0]
			}
		}, 96, 1, 1},
	} {
		var plain, again atomic.Int32
		near(t, name+" without", c.f(cubeOfDouble(&plain))(array.Scalar(2.0)), []float64{c.want})
		near(t, name, c.f(transform.Checkpoint(cubeOfDouble(&again)))(array.Scalar(2.0)), []float64{c.want})
		if plain.Load() != c.plain || again.Load() != c.recomput {
			t.Errorf("%s: the inside ran %d and %d times, want %d and %d", name, plain.Load(), again.Load(), c.plain, c.recomput)
		}
	}
}

func TestCheckpointInTheOtherTransforms(t *testing.T) {
	x := array.Scalar(2.0)
	inner := first(transform.Checkpoint(one(cube)))
	outer := first(transform.Checkpoint(one(func(x *array.Array) *array.Array { return inner(x.Mul(x)) }))) // x⁶
	compiled := first(transform.Compile(one(outer)))
	for name, c := range map[string]struct {
		f    func(x *array.Array) *array.Array
		want float64
	}{
		"nested":                     {outer, 64},
		"gradient of nested":         {transform.Grad(outer), 192},
		"second derivative":          {transform.Grad(transform.Grad(outer)), 480},
		"third derivative":           {transform.Grad(transform.Grad(transform.Grad(outer))), 960},
		"gradient of compiled":       {transform.Grad(compiled), 192},
		"checkpoint of compiled":     {transform.Grad(first(transform.Checkpoint(one(compiled)))), 192},
		"checkpoint of a gradient":   {transform.Grad(first(transform.Checkpoint(one(transform.Grad(outer))))), 480},
		"compiled gradient":          {first(transform.Compile(one(transform.Grad(outer)))), 192},
		"compiled second derivative": {first(transform.Compile(one(transform.Grad(transform.Grad(outer))))), 480},
		"derivative of the jvp":      {transform.Grad(func(x *array.Array) *array.Array { return slope(outer, x) }), 480},
		"jvp of the gradient":        {func(x *array.Array) *array.Array { return slope(transform.Grad(outer), x) }, 480},
		"compiled jvp of a gradient": {first(transform.Compile(one(func(x *array.Array) *array.Array { return slope(transform.Grad(outer), x) }))), 480},
		"vmap of the gradient":       {func(x *array.Array) *array.Array { return mapped(transform.Grad(outer), x.BroadcastTo(2)).At(0, 1) }, 192},
		"gradient of vmap":           {transform.Grad(func(x *array.Array) *array.Array { return mapped(outer, x.BroadcastTo(2)).Sum() }), 384},
		"vmap of the second": {func(x *array.Array) *array.Array {
			return mapped(transform.Grad(transform.Grad(outer)), x.BroadcastTo(2)).Sum()
		}, 960},
		"gradient of vmap of vmap": {transform.Grad(func(x *array.Array) *array.Array { return mappedTwice(outer, x.BroadcastTo(2, 3)).Sum() }), 6 * 192},
		"vmap of vmap of a gradient": {func(x *array.Array) *array.Array {
			return mappedTwice(transform.Grad(outer), x.BroadcastTo(2, 3)).Sum()
		}, 6 * 192},
		"compiled vmap of a gradient": {first(transform.Compile(one(func(x *array.Array) *array.Array { return mapped(transform.Grad(outer), x.BroadcastTo(2)).Sum() }))), 384},
	} {
		for range 2 {
			near(t, name, c.f(x), []float64{c.want})
		}
	}
}

// slope is the derivative of f at x, by a tangent.
func slope(f func(x *array.Array) *array.Array, x *array.Array) *array.Array {
	_, dy := transform.JVP(one(f), []*array.Array{x}, []*array.Array{array.Ones(dtype.Float64)})
	return dy[0]
}

func mapped(f func(x *array.Array) *array.Array, x *array.Array) *array.Array {
	return transform.VMap(one(f), []int{0}, []int{0})(x)[0]
}

func mappedTwice(f func(x *array.Array) *array.Array, x *array.Array) *array.Array {
	return mapped(func(x *array.Array) *array.Array { return mapped(f, x) }, x)
}

func TestCheckpointGivesGradientsToCapturedArrays(t *testing.T) {
	x := array.From([]float64{1, 2, 3})
	fixed := array.From([]float64{10, 20, 30})
	loss := func(wrap func(transform.Func) transform.Func) func(xs ...*array.Array) *array.Array {
		return func(ws ...*array.Array) *array.Array {
			layer := one(func(x *array.Array) *array.Array { return x.Mul(ws[0]).Add(ws[1].Exp()).Mul(fixed).Square() })
			return first(wrap(layer))(x).Sum()
		}
	}
	plain := func(f transform.Func) transform.Func { return f }
	w, b := array.From([]float64{0.5, -1, 2}), array.Scalar(0.25)
	for name, derive := range map[string]func(f func(xs ...*array.Array) *array.Array) []*array.Array{
		"gradients": func(f func(xs ...*array.Array) *array.Array) []*array.Array {
			_, grads := transform.ValueAndGrad(f, 0, 1)(w, b)
			return grads
		},
		"gradients of vmap": func(f func(xs ...*array.Array) *array.Array) []*array.Array {
			_, grads := transform.ValueAndGrad(func(xs ...*array.Array) *array.Array {
				return transform.VMap(func(ys ...*array.Array) []*array.Array {
					return []*array.Array{f(xs[0], ys[0])}
				}, []int{0}, []int{0})(xs[1].BroadcastTo(4))[0].Sum()
			}, 0, 1)(w, b)
			return grads
		},
	} {
		want, got := derive(loss(plain)), derive(loss(transform.Checkpoint))
		for i := range want {
			values, err := array.Values[float64](t.Context(), want[i])
			if err != nil {
				t.Fatal(err)
			}
			near(t, name, got[i], values, want[i].Shape()...)
		}
	}
}

func TestCheckpointCarriesMistakes(t *testing.T) {
	f := transform.Checkpoint(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Add(array.Ones(dtype.Float64, 3)), nil}
	})
	outs := f(array.Ones(dtype.Float64, 2))
	for i, want := range []string{"add at checkpoint_test.go:", "returned nil as result 1"} {
		if err := outs[i].Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error of result %d is %v", i, err)
		}
	}
	mistake := errors.New("mistake")
	_, grads := transform.VJP(transform.Checkpoint(one(cube)), []*array.Array{array.Fail("test", mistake)}, []*array.Array{array.Scalar(1.0)})
	if !errors.Is(grads[0].Err(), mistake) {
		t.Errorf("error is %v", grads[0].Err())
	}
}
