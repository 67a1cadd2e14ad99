package transform_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// descend is a step of two parameters, one large and one small, and a counter.
func descend(xs ...*array.Array) []*array.Array {
	w, b, n, x := xs[0], xs[1], xs[2], xs[3]
	loss, grads := transform.ValueAndGrad(func(ys ...*array.Array) *array.Array {
		return x.MatMul(ys[0]).Add(ys[1]).Tanh().Square().Mean()
	}, 0, 1)(w, b)
	return []*array.Array{w.Sub(grads[0].MulScalar(0.1)), b.Sub(grads[1].MulScalar(0.1)), n.AddScalar(1), loss}
}

func start(t *testing.T) []*array.Array {
	t.Helper()
	xs := []*array.Array{normal(1, dtype.Float32, 300, 70), normal(2, dtype.Float32, 70), array.Zeros(dtype.Float32).AddScalar(0)}
	if err := array.Eval(t.Context(), xs...); err != nil {
		t.Fatal(err)
	}
	return xs
}

func TestAStepThatTakesItsArgumentsGivesTheSameBits(t *testing.T) {
	x := normal(3, dtype.Float32, 20, 300)
	step, plain := transform.CompileDonating(descend, 3), transform.Compile(descend)
	a, b := start(t), start(t)
	for call := range 5 {
		before := a
		got, want := step(append(a[:3:3], x)...), plain(append(b[:3:3], x)...)
		if err := array.Eval(t.Context(), append(got, want...)...); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			g, err := array.Bytes(t.Context(), got[i])
			w, err2 := array.Bytes(t.Context(), want[i])
			if err != nil || err2 != nil || !bytes.Equal(g, w) {
				t.Errorf("call %d, result %d: bits differ, or %v, %v", call, i, err, err2)
			}
		}
		for i, old := range before[:3] {
			if _, err := array.Bytes(t.Context(), old); !errors.Is(err, array.ErrDonated) {
				t.Errorf("call %d: reading argument %d: %v", call, i, err)
			}
		}
		a, b = got, want
	}
}

func TestAStepThatTakesItsArgumentsNeedsNoSecondRoom(t *testing.T) {
	const mebi = 1 << 20
	step := transform.CompileDonating(one(func(x *array.Array) *array.Array { return x.MulScalar(2).AddScalar(1) }), 1)
	x := array.Zeros(dtype.Float32, mebi).AddScalar(1)
	if err := x.Eval(t.Context()); err != nil {
		t.Fatal(err)
	}
	array.ClearCache()
	before := array.Memory().Active
	array.ResetPeakMemory()
	for range 3 {
		x = step(x)[0]
		if err := x.Eval(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if more := array.Memory().Peak - before; more > mebi {
		t.Errorf("%d bytes beside the argument", more)
	}
	if v, err := array.Item[float32](t.Context(), x.At(0, 9)); err != nil || v != 15 {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestWhatCannotBeTakenAlone(t *testing.T) {
	three := func() *array.Array {
		x := array.From([]float64{1, 2, 3}).AddScalar(0)
		if err := x.Eval(t.Context()); err != nil {
			t.Fatal(err)
		}
		return x
	}
	donated := func(f func(xs ...*array.Array) []*array.Array, n int, xs ...*array.Array) []*array.Array {
		return transform.CompileDonating(f, n)(xs...)
	}
	double := one(func(x *array.Array) *array.Array { return x.Add(x) })
	both := func(xs ...*array.Array) []*array.Array { return []*array.Array{xs[0].Add(xs[1])} }

	x := three()
	view := x.Reshape(3, 1)
	if err := view.Eval(t.Context()); err != nil {
		t.Fatal(err)
	}
	near(t, "doubled", donated(double, 1, x)[0], []float64{2, 4, 6}, 3)
	near(t, "a view of it", view, []float64{1, 2, 3}, 3, 1)

	near(t, "an argument as result", donated(func(xs ...*array.Array) []*array.Array { return xs }, 1, three())[0], []float64{1, 2, 3}, 3)
	near(t, "lazy arguments", donated(both, 2, three().AddScalar(1), three().Neg())[0], []float64{1, 1, 1}, 3)
	near(t, "an argument that is not read", donated(func(xs ...*array.Array) []*array.Array { return xs[1:] }, 1, three(), three())[0], []float64{1, 2, 3}, 3)
	x = three()
	for name, n := range map[string]int{"twice": 2, "as a donation and as it is": 1} {
		if err := donated(both, n, x, x)[0].Eval(t.Context()); !errors.Is(err, array.ErrDonated) {
			t.Errorf("given %s: error is %v", name, err)
		}
		x = three()
	}
	for _, n := range []int{-1, 2} {
		if err := donated(double, n, x)[0].Err(); err == nil || !strings.Contains(err.Error(), "arguments are to be donated, there are 1") {
			t.Errorf("%d of one: error is %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	y := donated(double, 1, x)[0]
	if err := y.Eval(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	near(t, "afterwards", y, []float64{2, 4, 6}, 3)
}

// TestResultsThatAreArguments returns a donated argument as it is, beside what is
// computed from it in a program, in several and around the node of a lane.
func TestResultsThatAreArguments(t *testing.T) {
	q := &queue{}
	for name, f := range map[string]func(x *array.Array) *array.Array{
		"one operation": func(x *array.Array) *array.Array { return x.MulScalar(2) },
		"a product": func(x *array.Array) *array.Array {
			return x.Reshape(2, 2).MatMul(x.Reshape(2, 2)).Add(x.Reshape(2, 2)).Flatten()
		},
		"a lane": func(x *array.Array) *array.Array { return array.Apply1(spoken{q: q}, x.AddScalar(1)).Add(x) },
	} {
		t.Run(name, func(t *testing.T) {
			step := transform.CompileDonating(func(xs ...*array.Array) []*array.Array {
				return []*array.Array{xs[0], f(xs[0]), xs[1].AddScalar(1)}
			}, 2)
			given := func() *array.Array { return array.From([]float64{1, 2, 3, 4}).AddScalar(0) }
			frozen, other := given(), given()
			want, err := array.Values[float64](t.Context(), f(given()))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				outs := step(frozen, other)
				if err := array.Eval(t.Context(), outs...); err != nil {
					t.Fatal(err)
				}
				near(t, "as it came", outs[0], []float64{1, 2, 3, 4}, 4)
				near(t, "computed from it", outs[1], want, 4)
				frozen, other = outs[0], outs[2]
			}
			near(t, "written over", other, []float64{4, 5, 6, 7}, 4)
		})
	}
}

func TestTakingUnderTransformsAndBesideLanes(t *testing.T) {
	square := first(transform.CompileDonating(one(func(x *array.Array) *array.Array { return x.Mul(x) }), 1))
	near(t, "gradient", transform.Grad(func(x *array.Array) *array.Array { return square(x.MulScalar(1)) })(array.Scalar(3.0)), []float64{6})
	q := &queue{}
	step := transform.CompileDonating(func(xs ...*array.Array) []*array.Array {
		g := array.Apply1(spoken{q: q}, xs[0].Mul(xs[1]))
		return []*array.Array{xs[0].Sub(g), xs[1].Add(g)}
	}, 2)
	xs := []*array.Array{array.Scalar(3.0).AddScalar(0), array.Scalar(2.0).AddScalar(0)}
	for range 2 {
		xs = step(xs...)
	}
	near(t, "one", xs[0], []float64{21}) // 3-6 = -3 and 2+6 = 8, then -3+24 and 8-24
	near(t, "other", xs[1], []float64{-16})
}
