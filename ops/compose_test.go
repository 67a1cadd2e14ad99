package ops_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

// worlds are the sizes of groups in which compositions are tested.
var worlds = []int{1, 2, 4}

// many makes a Func of a function of one array.
func many(f func(x *array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs[0])} }
}

// only makes a function of one array of a Func.
func only(f transform.Func) func(x *array.Array) *array.Array {
	return func(x *array.Array) *array.Array { return f(x)[0] }
}

// collectives checks how many ran since the last time; none in a group of one.
func collectives(r rank, what string, before, want int64) int64 {
	r.Helper()
	now := int64(r.g.Stats().Collectives)
	if r.g.Size() == 1 {
		want = 0
	}
	if now-before != want {
		r.Errorf("%s: rank %d ran %d collectives, want %d", what, r.r, now-before, want)
	}
	return now
}

func TestCompiledCollectivesRunOncePerCall(t *testing.T) {
	conform.Row(t, "O7")
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		var calls atomic.Int32
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			calls.Add(1)
			return ops.AllSum(x, r.g).MulScalar(2)
		})))
		first, second := f(array.Scalar(1.0)), f(array.Scalar(5.0))
		ran := collectives(r, "building", 0, 0)
		same(r, "second, evaluated with the first", second.Add(first), []float64{12 * n})
		ran = collectives(r, "two calls", ran, 2)
		same(r, "third", f(array.Scalar(-1.0)), []float64{-2 * n})
		collectives(r, "third call", ran, 1)
		if calls.Load() != 1 {
			r.Errorf("called %d times", calls.Load())
		}
	})
}

func TestCompileMergesNoCollectives(t *testing.T) {
	conform.Row(t, "O8")
	sizes(t, worlds, func(r rank) {
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			return ops.AllSum(x, r.g).Add(ops.AllSum(x, r.g))
		})))
		same(r, "sum", f(array.Scalar(3.0)), []float64{6 * float64(r.g.Size())})
		collectives(r, "twice the same", 0, 2)
	})
}

func TestCompileMergesNoMessages(t *testing.T) {
	conform.Row(t, "O8")
	world(t, 2, func(r rank) {
		if r.r == 1 {
			a, b := ops.Recv(0, r.g, dtype.Float64), ops.Recv(0, r.g, dtype.Float64)
			same(r, "both", a.Add(b.MulScalar(10)), []float64{77})
			return
		}
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			return array.Depends(x, ops.Send(x, 1, r.g), ops.Send(x, 1, r.g))
		})))
		same(r, "sent", f(array.Scalar(7.0)), []float64{7})
	})
}

func TestCompileDropsUnusedCollectives(t *testing.T) {
	conform.Row(t, "O9")
	sizes(t, worlds, func(r rank) {
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			ops.AllMax(x, r.g)
			return ops.AllSum(x, r.g)
		})))
		for i := range 3 {
			same(r, "sum", f(array.Scalar(float64(i))), []float64{float64(i * r.g.Size())})
		}
		collectives(r, "three calls", 0, 3)
	})
}

func TestCollectivesThatOneRankAloneUsesAreAMismatch(t *testing.T) {
	conform.Row(t, "O9")
	world(t, 2, func(r rank) {
		f := transform.Compile(func(xs ...*array.Array) []*array.Array {
			other := ops.AllMax(xs[0], r.g)
			sum := ops.AllSum(xs[0], r.g)
			return []*array.Array{by(r, sum, other.Add(sum))}
		})
		err := f(array.Scalar(1.0))[0].Eval(r.ctx)
		if !errors.Is(err, group.ErrMismatch) {
			r.Errorf("rank %d: error is %v", r.r, err)
		}
	})
}

func TestTheGroupIsPartOfTheCompiledCombination(t *testing.T) {
	conform.Row(t, "O10")
	world(t, 4, func(r rank) {
		pair, err := r.g.Split(r.ctx, r.r/2, 0)
		if err != nil {
			r.Error(err)
			return
		}
		var calls atomic.Int32
		f := transform.CompileWith(func(g *group.Group, xs ...*array.Array) []*array.Array {
			calls.Add(1)
			return []*array.Array{ops.AllSum(xs[0], g)}
		})
		x := array.Scalar(float64(1 + r.r))
		for range 2 {
			same(r, "all", f(r.g, x)[0], []float64{10})
			same(r, "pair", f(pair, x)[0], by(r, []float64{3}, []float64{3}, []float64{7}, []float64{7}))
		}
		if calls.Load() != 2 {
			r.Errorf("called %d times for two groups", calls.Load())
		}
	})
}

func TestEvaluatingInsideACompiledFunctionCommunicatesNothing(t *testing.T) {
	conform.Row(t, "O11")
	world(t, 2, func(r rank) {
		if r.r == 1 {
			return // rank 0 must not wait for it
		}
		var inside error
		only(transform.Compile(many(func(x *array.Array) *array.Array {
			y := ops.AllSum(x, r.g)
			inside = y.Eval(r.ctx)
			return y
		})))(array.Scalar(1.0))
		if !errors.Is(inside, array.ErrTraced) || r.g.Stats().Collectives != 0 {
			r.Errorf("error is %v after %d collectives", inside, r.g.Stats().Collectives)
		}
	})
}

// A receive inside a compiled function has no argument of its own.
func TestCompiledCollectivesThatDependOnNoArgumentRunInEveryCall(t *testing.T) {
	world(t, 2, func(r rank) {
		left := 1 - r.r
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			got := ops.Recv(left, r.g, dtype.Float64)
			total := ops.AllSum(array.Scalar(1.0), r.g)
			x = array.Depends(x.MulScalar(10), ops.Send(x, left, r.g))
			return x.Add(got).Mul(ops.AllMax(total, r.g)).Add(ops.AllMin(x, r.g))
		})))
		outer := only(transform.Compile(many(func(x *array.Array) *array.Array { return f(x).AddScalar(1000) })))
		ran := int64(0)
		for i := range 3 {
			mine, other := float64(10*i+r.r), float64(10*i+1-r.r)
			want := (10*mine+other)*2 + 100*float64(i)
			same(r, "value", f(array.Scalar(mine)), []float64{want})
			ran = collectives(r, "call", ran, 3)
			same(r, "compiled twice", outer(array.Scalar(mine)), []float64{want + 1000})
			ran = collectives(r, "compiled twice", ran, 3)
			value, grad := valueAndGrad(func(x *array.Array) *array.Array {
				return only(transform.Compile(many(func(x *array.Array) *array.Array {
					return x.Square().Mul(ops.AllSum(array.Scalar(1.0), r.g))
				})))(x)
			}, array.Scalar(mine))
			same(r, "value with its gradient", value, []float64{2 * mine * mine})
			same(r, "gradient", grad, []float64{4 * mine})
			ran = collectives(r, "derived", ran, 1)
		}
	})
}

func TestAMistakeInsideACompiledFunctionReachesThePeers(t *testing.T) {
	world(t, 2, func(r rank) {
		f := only(transform.Compile(many(func(x *array.Array) *array.Array {
			return ops.AllSum(x, r.g).Add(array.Zeros(dtype.Float64, by(r, 2, 3)))
		})))
		err := f(array.Ones(dtype.Float64, 2)).Eval(r.ctx)
		r.meet() // a rank that leaves early is another reason
		if err == nil || !strings.Contains(err.Error(), "add at compose_test.go:") {
			r.Errorf("rank %d: error is %v", r.r, err)
		}
	})
}

// cubed is the number (Σ over ranks and elements of x)³ on every rank.
func cubed(r rank) func(x *array.Array) *array.Array {
	return func(x *array.Array) *array.Array {
		y := ops.AllSum(x.Sum(), r.g)
		return y.Mul(y).Mul(y)
	}
}

func TestTransformsOfCompiledCollectives(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		x := array.From([]float64{1, 2}) // the sum is 3n, its cube has the slope 27n²
		f := cubed(r)
		compiled := only(transform.Compile(many(f)))
		slopes := []float64{27 * n * n, 27 * n * n}
		for range 2 {
			same(r, "value", compiled(x), []float64{27 * n * n * n})
			same(r, "grad of compile", transform.Grad(compiled)(x), slopes, 2)
		}
		gradient := only(transform.Compile(many(transform.Grad(compiled))))
		for range 2 {
			same(r, "compile of grad of compile", gradient(x), slopes, 2)
		}
		// The slope of the sum of slopes: 2·6·(3n), whose backward pass is local.
		second := transform.Grad(func(x *array.Array) *array.Array { return gradient(x).Sum() })
		same(r, "second derivative", second(x), []float64{36 * n, 36 * n}, 2)
		tangent := func(f func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
			return func(x *array.Array) *array.Array {
				_, dy := transform.JVP(many(f), []*array.Array{x}, []*array.Array{array.From([]float64{1, 0})})
				return dy[0]
			}
		}
		same(r, "jvp of compile", tangent(compiled)(x), []float64{27 * n * n * n})
		same(r, "jvp of compile of grad", tangent(gradient)(x), []float64{18 * n * n, 18 * n * n}, 2)
		same(r, "compile of jvp", only(transform.Compile(many(tangent(compiled))))(x), []float64{27 * n * n * n})
		same(r, "vjp of jvp", transform.Grad(tangent(compiled))(x), []float64{18 * n * n, 18 * n * n}, 2)
	})
}

func TestVMapOfCompiledCollectives(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		x := array.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3) // columns sum up to 5, 7, 9
		want := []float64{125 * n * n * n, 343 * n * n * n, 729 * n * n * n}
		columns := func(f transform.Func) transform.Func { return transform.VMap(f, []int{1}, []int{0}) }
		same(r, "vmap of compile", columns(transform.Compile(many(cubed(r))))(x)[0], want, 3)
		compiled := transform.Compile(columns(many(cubed(r))))
		before := int64(r.g.Stats().Collectives)
		same(r, "compile of vmap", compiled(x)[0], want, 3)
		collectives(r, "a batch", before, 1)
		_, grads := transform.VJP(compiled, []*array.Array{x}, []*array.Array{array.Ones(dtype.Float64, 3)})
		k := 3 * n * n
		same(r, "grad of compile of vmap", grads[0], []float64{25 * k, 49 * k, 81 * k, 25 * k, 49 * k, 81 * k}, 2, 3)
		perColumn := transform.VMap(many(transform.Grad(cubed(r))), []int{1}, []int{1})
		same(r, "vmap of grad", perColumn(x)[0], []float64{25 * k, 49 * k, 81 * k, 25 * k, 49 * k, 81 * k}, 2, 3)
		pairs := transform.VMap(transform.VMap(many(cubed(r)), []int{0}, []int{0}), []int{0}, []int{0})
		same(r, "vmap of vmap of scalars", pairs(x)[0].Sum(), []float64{(1 + 8 + 27 + 64 + 125 + 216) * n * n * n})
	})
}

func TestCheckpointRunsItsCollectivesTwice(t *testing.T) {
	conform.Row(t, "O22")
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		x := array.From([]float64{1, 2})
		loss := only(transform.Checkpoint(many(cubed(r))))
		value, grad := valueAndGrad(loss, x)
		if err := array.Eval(r.ctx, value, grad); err != nil {
			r.Error(err)
			return
		}
		ran := collectives(r, "value and gradient", 0, 2)
		same(r, "value", value, []float64{27 * n * n * n})
		same(r, "gradient", grad, []float64{27 * n * n, 27 * n * n}, 2)
		compiled := transform.Compile(func(xs ...*array.Array) []*array.Array {
			value, grad := valueAndGrad(loss, xs[0])
			return []*array.Array{value, grad}
		})
		for range 2 {
			outs := compiled(x)
			if err := array.Eval(r.ctx, outs[1], outs[0]); err != nil {
				r.Error(err)
				return
			}
			ran = collectives(r, "compiled", ran, 2)
			same(r, "compiled value", outs[0], []float64{27 * n * n * n})
			same(r, "compiled gradient", outs[1], []float64{27 * n * n, 27 * n * n}, 2)
		}
		same(r, "forward only", loss(x), []float64{27 * n * n * n})
		collectives(r, "forward only", ran, 1)
	})
}

func TestCheckpointOfCollectivesInOtherTransforms(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		x := array.From([]float64{1, 2})
		inner := only(transform.Checkpoint(many(cubed(r))))
		outer := only(transform.Checkpoint(many(func(x *array.Array) *array.Array { return inner(x.MulScalar(2)).MulScalar(0.125) })))
		slopes := []float64{27 * n * n, 27 * n * n}
		same(r, "nested", transform.Grad(outer)(x), slopes, 2)
		same(r, "second derivative", transform.Grad(func(x *array.Array) *array.Array { return transform.Grad(outer)(x).Sum() })(x), []float64{36 * n, 36 * n}, 2)
		batch := transform.VMap(many(transform.Grad(outer)), []int{0}, []int{0})
		same(r, "vmap", batch(array.Stack([]*array.Array{x, x.MulScalar(10)}, 0))[0], append(slopes, 2700*n*n, 2700*n*n), 2, 2)
		w := array.Scalar(3.0)
		_, byCaptured := valueAndGrad(func(w *array.Array) *array.Array {
			return only(transform.Checkpoint(many(func(x *array.Array) *array.Array { return ops.AllSum(x.Mul(w).Sum(), r.g) })))(x)
		}, w)
		same(r, "by a captured array", byCaptured, []float64{3})
	})
}

// The cotangent of a sum and a tangent of one are constants, and so is what is
// summed over the ranks.
func TestCompiledCollectivesOfConstantSeedsRunInEveryCall(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		sum := func(x *array.Array) *array.Array { return ops.SumGradients(x, r.g).Sum() }
		row := array.Ones(dtype.Float64, 2)
		pushed := func(x *array.Array) *array.Array {
			_, dy := transform.JVP(many(func(x *array.Array) *array.Array { return ops.AllSum(x, r.g) }), []*array.Array{x}, []*array.Array{row})
			return dy[0]
		}
		perRow := func(x *array.Array) *array.Array {
			return transform.VMap(many(transform.Grad(sum)), []int{0}, []int{0})(x.ExpandDims(0))[0].Squeeze(0)
		}
		ran := int64(0)
		for _, f := range []func(x *array.Array) *array.Array{transform.Grad(sum), pushed, perRow} {
			g := only(transform.Compile(many(f)))
			for range 3 {
				same(r, "sum of ones", g(row), []float64{n, n}, 2)
				ran = collectives(r, "call", ran, 1)
			}
		}
	})
}

// What Depends ties is recorded and run in one order everywhere.
func TestDependsOrdersMessagesUnderTransforms(t *testing.T) {
	world(t, 2, func(r rank) {
		left := 1 - r.r
		f := func(x *array.Array) *array.Array {
			got := ops.Recv(left, r.g, dtype.Float64)
			return array.Depends(x.Square(), ops.Send(x.MulScalar(10), left, r.g)).Add(got)
		}
		x := array.Scalar(by(r, 1.0, 2.0))
		value, grad := valueAndGrad(f, x)
		same(r, "value", value, by(r, []float64{21}, []float64{14}))
		same(r, "gradient", grad, by(r, []float64{2}, []float64{4}))
	})
}
