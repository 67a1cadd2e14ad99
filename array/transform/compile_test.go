package transform_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// one makes a Func of a function of one array.
func one(f func(x *array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs[0])} }
}

// first makes a function of one array of a Func.
func first(f transform.Func) func(x *array.Array) *array.Array {
	return func(x *array.Array) *array.Array { return f(x)[0] }
}

// counted counts how often f is called.
func counted(f transform.Func) (transform.Func, *atomic.Int32) {
	var calls atomic.Int32
	return func(xs ...*array.Array) []*array.Array {
		calls.Add(1)
		return f(xs...)
	}, &calls
}

// work passes its input on and counts its evaluations. It has no rules, so that a
// transform that asks for them shows. Equal ones have one counter.
type work struct {
	array.NoRules
	ran *atomic.Int32
}

func (work) Name() string                                      { return "work" }
func (work) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }
func (p work) Equal(o array.Primitive) bool                    { return o == p }
func (p work) Eval(_ context.Context, in, out []array.View) error {
	copy(out[0].Bytes(), in[0].Bytes())
	p.ran.Add(1)
	return nil
}

func TestCompileCallsTheFunctionOncePerShapesAndTypes(t *testing.T) {
	f, calls := counted(func(xs ...*array.Array) []*array.Array {
		y := xs[0].Mul(xs[1]).AddScalar(1)
		return []*array.Array{y, xs[0], array.Scalar(7.0), y.Sum()}
	})
	g := transform.Compile(f)
	for i := range 3 {
		x := array.From([]float64{1, 2, float64(i)})
		outs := g(x, array.Scalar(10.0))
		near(t, "product", outs[0], []float64{11, 21, 10*float64(i) + 1}, 3)
		near(t, "argument", outs[1], []float64{1, 2, float64(i)}, 3)
		near(t, "constant", outs[2], []float64{7})
		near(t, "sum", outs[3], []float64{33 + 10*float64(i)})
	}
	if calls.Load() != 1 {
		t.Errorf("called %d times for one shape", calls.Load())
	}
	for name, xs := range map[string][]*array.Array{
		"another shape":            {array.Ones(dtype.Float64, 2), array.Scalar(1.0)},
		"another type":             {array.Ones(dtype.Float32, 3), array.Scalar(float32(1))},
		"another number of inputs": {array.Ones(dtype.Float64, 3), array.Scalar(1.0), array.Scalar(1.0)},
	} {
		before := calls.Load()
		g(xs...)
		g(xs...)
		if n := calls.Load() - before; n != 1 {
			t.Errorf("%s: called %d times", name, n)
		}
	}
}

func TestCompileRemembersTheLastCombinationsCalled(t *testing.T) {
	f, calls := counted(one((*array.Array).Exp))
	g := transform.Compile(f)
	g(array.Zeros(dtype.Float32, 0))
	for n := 1; n <= 64; n++ {
		g(array.Zeros(dtype.Float32, n))
		g(array.Zeros(dtype.Float32, 1))
	}
	g(array.Zeros(dtype.Float32, 1))
	if calls.Load() != 65 {
		t.Errorf("called %d times, want 65", calls.Load())
	}
	if g(array.Zeros(dtype.Float32, 0)); calls.Load() != 66 {
		t.Error("the combination called longest ago is still there")
	}
}

func TestCompileComputesNothingTwiceAndNothingForNothing(t *testing.T) {
	var ran, other atomic.Int32
	g := transform.Compile(one(func(x *array.Array) *array.Array {
		pass := func(x *array.Array, n *atomic.Int32) *array.Array { return array.Apply1(work{ran: n}, x) }
		pass(x.AddScalar(3), &other) // not used
		return pass(x.AddScalar(2).T(), &ran).Add(pass(x.AddScalar(2).T(), &ran)).Add(pass(x.AddScalar(5).T(), &ran))
	}))
	if ran.Load() != 0 {
		t.Error("ran while it was recorded")
	}
	near(t, "sum", g(array.From([]float64{1, 2}, 2, 1))[0], []float64{12, 15}, 1, 2)
	if ran.Load() != 2 || other.Load() != 0 {
		t.Errorf("ran %d and %d times, want 2 and 0", ran.Load(), other.Load())
	}
}

// queue is a lane that notes which records ran.
type queue struct {
	records atomic.Uint64
	ran     []uint64
}

func (q *queue) NextRecord() uint64          { return q.records.Add(1) }
func (*queue) Abandon(uint64, string, error) {}
func (*queue) Independent() bool             { return false }

// spoken is work in a lane.
type spoken struct {
	work
	q *queue
}

func (p spoken) Lane() array.Lane             { return p.q }
func (p spoken) Equal(o array.Primitive) bool { return o == p }
func (p spoken) Eval(ctx context.Context, in, out []array.View) error {
	copy(out[0].Bytes(), in[0].Bytes())
	p.q.ran = append(p.q.ran, array.Record(ctx))
	return nil
}

func TestCompileRecordsNodesOfLanesAnewInEveryCall(t *testing.T) {
	q := &queue{}
	g := transform.Compile(func(xs ...*array.Array) []*array.Array {
		say := func(x *array.Array) *array.Array { return array.Apply1(spoken{q: q}, x) }
		say(xs[0].Exp()) // not used
		return []*array.Array{say(xs[0]).Add(say(xs[0])), say(xs[0].AddScalar(1))}
	})
	if err := array.Eval(t.Context(), g(array.Scalar(0.0))...); err != nil {
		t.Fatal(err)
	}
	second, third := g(array.Scalar(1.0)), g(array.Scalar(2.0))
	if err := array.Eval(t.Context(), append(third, second...)...); err != nil {
		t.Fatal(err)
	}
	near(t, "sum", third[0], []float64{4})
	if !slices.Equal(q.ran, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("records %v ran", q.ran)
	}
}

func TestCapturedArraysKeepTheValueOfTheFirstCall(t *testing.T) {
	var ran atomic.Int32
	w := array.Apply1(work{ran: &ran}, array.Scalar(10.0))
	g := first(transform.Compile(one(func(x *array.Array) *array.Array { return x.Mul(w) })))
	near(t, "first", g(array.Scalar(1.0)), []float64{10})
	w = array.Scalar(20.0)
	near(t, "second", g(array.Scalar(2.0)), []float64{20})
	if ran.Load() != 1 {
		t.Errorf("the captured array was computed %d times", ran.Load())
	}
}

func TestStaticValuesAreTracedApart(t *testing.T) {
	calls := 0
	g := transform.CompileWith(func(n int, xs ...*array.Array) []*array.Array {
		calls++
		return []*array.Array{xs[0].MulScalar(float64(n))}
	})
	for range 2 {
		near(t, "by 2", g(2, array.Scalar(3.0))[0], []float64{6})
		near(t, "by 5", g(5, array.Scalar(3.0))[0], []float64{15})
	}
	if calls != 2 {
		t.Errorf("called %d times, want 2", calls)
	}
	h := transform.CompileWith(func(_ any, xs ...*array.Array) []*array.Array { return xs })
	for name, c := range map[string]struct {
		static any
		want   string
	}{
		"a slice": {[]int{1}, "[]int cannot be compared"},
		"NaN":     {math.NaN(), "NaN is not equal to itself"},
	} {
		if err := h(c.static, array.Scalar(1.0))[0].Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestCompileOfGradAndGradOfCompile(t *testing.T) {
	x := array.Scalar(2.0)
	compiled := func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
		return first(transform.Compile(one(f)))
	}
	for name, c := range map[string]struct {
		f    func(x *array.Array) *array.Array
		want float64
	}{
		"compile of grad":                 {compiled(transform.Grad(cube)), 12},
		"grad of compile":                 {transform.Grad(compiled(cube)), 12},
		"compile of compile":              {compiled(compiled(cube)), 8},
		"compile of grad of compile":      {compiled(transform.Grad(compiled(cube))), 12},
		"grad of compile of grad":         {transform.Grad(compiled(transform.Grad(cube))), 12},
		"compile of grad of grad of grad": {compiled(transform.Grad(transform.Grad(transform.Grad(cube)))), 6},
	} {
		for range 2 {
			near(t, name, c.f(x), []float64{c.want})
		}
	}
}

func TestVMapOfCompileAndCompileOfVMap(t *testing.T) {
	x := array.From([]float64{1, 2, 3, 4}, 2, 2)
	f := one(func(x *array.Array) *array.Array { return cube(x).Sum() })
	for name, g := range map[string]transform.Func{
		"vmap of compile": transform.VMap(transform.Compile(f), []int{1}, []int{0}),
		"compile of vmap": transform.Compile(transform.VMap(f, []int{1}, []int{0})),
	} {
		for range 2 {
			near(t, name, g(x)[0], []float64{1 + 27, 8 + 64}, 2)
		}
	}
}

// A compiled step that is derived inside is what training does.
func TestCompileOfValueAndGrad(t *testing.T) {
	loss := func(xs ...*array.Array) *array.Array { return xs[0].MatMul(xs[1]).Square().Mean() }
	step := func(xs ...*array.Array) []*array.Array {
		value, grads := transform.ValueAndGrad(loss, 1)(xs...)
		return []*array.Array{value, xs[1].Sub(grads[0].MulScalar(0.1))}
	}
	compiled, calls := counted(step)
	compiled = transform.Compile(compiled)
	x := array.From([]float64{1, 2, 3, 4}, 2, 2)
	w, plain := array.From([]float64{1, -1}, 2, 1), array.From([]float64{1, -1}, 2, 1)
	for range 5 {
		a, b := compiled(x, w), step(x, plain)
		w, plain = a[1], b[1]
		want, err := array.Values[float64](t.Context(), plain)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "weights", w, want, 2, 1)
	}
	if calls.Load() != 1 {
		t.Errorf("called %d times", calls.Load())
	}
}

func TestEvaluatingInsideACompiledFunctionIsAnError(t *testing.T) {
	var inside error
	g := transform.Compile(one(func(x *array.Array) *array.Array {
		_, inside = array.Item[float64](t.Context(), x.Exp())
		return x
	}))
	g(array.Scalar(0.0))
	if !errors.Is(inside, array.ErrTraced) {
		t.Errorf("error is %v", inside)
	}
}

func TestMistakesInACompiledFunction(t *testing.T) {
	x := array.Ones(dtype.Float64, 2)
	mistake := errors.New("mistake")
	nothing := transform.Compile(func(...*array.Array) []*array.Array { return []*array.Array{nil, array.Scalar(1.0)} })
	adds := transform.Compile(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Add(array.Ones(dtype.Float64, 3)), xs[0]}
	})
	for name, c := range map[string]struct {
		outs []*array.Array
		want string
	}{
		"made inside":        {adds(x), "add at compile_test.go:"},
		"made inside, again": {adds(x), "add at compile_test.go:"},
		"nil result":         {nothing(x), "returned nil as result 0"},
		"in an argument":     {transform.Compile(one(cube))(array.Fail("test", mistake)), "mistake"},
		"nil argument":       {transform.Compile(one(cube))(nil), "array is nil"},
		"captured from an enclosing transform": {[]*array.Array{transform.Grad(func(w *array.Array) *array.Array {
			return first(transform.Compile(one(w.Mul)))(array.Scalar(1.0))
		})(array.Scalar(1.0))}, "captures float64[], which belongs to an enclosing transform"},
	} {
		for i, out := range c.outs {
			if err := out.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error of result %d is %v", name, i, err)
			}
		}
	}
}

func TestCompiledFunctionsServeSeveralGoroutines(t *testing.T) {
	f, calls := counted(one(func(x *array.Array) *array.Array { return cube(x).Sum() }))
	g := transform.Compile(f)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := 1; n <= 4; n++ {
				x := array.Full(float64(i), dtype.Float64, n)
				near(t, "sum", g(x)[0], []float64{float64(n * i * i * i)})
			}
		})
	}
	wait.Wait()
	if calls.Load() != 4 {
		t.Errorf("called %d times for four shapes", calls.Load())
	}
}
