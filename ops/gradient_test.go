package ops_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

func vector(values ...float64) *array.Array { return array.From(values) }

// valueAndGrad derives f at x.
func valueAndGrad(f func(x *array.Array) *array.Array, x *array.Array) (value, grad *array.Array) {
	value, grads := transform.ValueAndGrad(func(xs ...*array.Array) *array.Array { return f(xs[0]) })(x)
	return value, grads[0]
}

func TestGradientOfAllSumPassesTheCotangent(t *testing.T) {
	conform.Row(t, "O12")
	world(t, 2, func(r rank) {
		value, grad := valueAndGrad(func(x *array.Array) *array.Array {
			return ops.AllSum(x, r.g).Square()
		}, array.Scalar(by(r, 1.0, 2.0)))
		same(r, "value", value, []float64{9})
		same(r, "gradient", grad, []float64{6})
		if n := r.g.Stats().Collectives; n != 1 {
			r.Errorf("%d collectives ran, want 1", n)
		}
	})
}

func TestGradientOfAllMeanDividesTheCotangent(t *testing.T) {
	world(t, 4, func(r rank) {
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.AllMean(x, r.g).MulScalar(8) }, array.Scalar(1.0))
		same(r, "gradient", grad, []float64{2})
	})
}

func TestGradientOfExtremaGoesToWhoHoldsThem(t *testing.T) {
	conform.Row(t, "O13")
	world(t, 2, func(r rank) {
		x := by(r, vector(1, 5, 3), vector(4, 2, 3))
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.AllMax(x, r.g).Sum() }, x)
		same(r, "max", grad, by(r, []float64{0, 1, 0.5}, []float64{1, 0, 0.5}), 3)
		_, grad = valueAndGrad(func(x *array.Array) *array.Array { return ops.AllMin(x, r.g).Sum() }, x)
		same(r, "min", grad, by(r, []float64{1, 0, 0.5}, []float64{0, 1, 0.5}), 3)
	})
}

func TestGradientOfGatherIsTheOwnSlice(t *testing.T) {
	conform.Row(t, "A9", "A10")
	world(t, 2, func(r rank) {
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.AllGather(x, r.g).SliceAxis(0, 0, 1).Sum() }, array.Scalar(1.0))
		same(r, "scalar", grad, by(r, []float64{1}, []float64{0}))
		w := vector(1, 2, 3, 4)
		_, grad = valueAndGrad(func(x *array.Array) *array.Array { return w.Mul(ops.AllGather(x, r.g)).Sum() }, vector(1, 1))
		same(r, "vector", grad, by(r, []float64{1, 2}, []float64{3, 4}), 2)
	})
}

func TestGradientOfSumScatterIsGathered(t *testing.T) {
	conform.Row(t, "C7")
	world(t, 2, func(r rank) {
		w := by(r, vector(1, 2), vector(3, 4))
		x := by(r, vector(1, 2, 3, 4), vector(10, 20, 30, 40))
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return w.Mul(ops.SumScatter(x, r.g)).Sum() }, x)
		same(r, "gradient", grad, []float64{1, 2, 3, 4}, 4)
	})
}

func TestSumGradients(t *testing.T) {
	conform.Row(t, "O19", "O20")
	world(t, 2, func(r rank) {
		x := vector(7, 8)
		y := ops.SumGradients(x, r.g)
		same(r, "value", y, []float64{7, 8}, 2)
		if n := r.g.Stats().Collectives; n != 0 {
			r.Errorf("%d collectives forward", n)
		}
		w := array.Scalar(by(r, 1.0, 10.0))
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return w.Mul(ops.SumGradients(x, r.g)).Sum() }, x)
		same(r, "gradient", grad, []float64{11, 11}, 2)
	})
}

func TestSecondDerivative(t *testing.T) {
	conform.Row(t, "O18")
	world(t, 2, func(r rank) {
		cube := func(x *array.Array) *array.Array {
			y := ops.AllSum(x, r.g)
			return y.Mul(y).Mul(y).Sum()
		}
		slope := transform.Grad(cube)
		x := array.Scalar(by(r, 1.0, 2.0))
		same(r, "first", slope(x), []float64{27})
		same(r, "second", transform.Grad(func(x *array.Array) *array.Array { return slope(x).Sum() })(x), []float64{18})
	})
}

func TestTangents(t *testing.T) {
	conform.Row(t, "O14", "O15", "A11", "C8")
	world(t, 2, func(r rank) {
		jvp := func(f func(*array.Array, *group.Group) *array.Array, x, dx *array.Array) *array.Array {
			_, dy := transform.JVP(func(xs ...*array.Array) []*array.Array {
				return []*array.Array{f(xs[0], r.g)}
			}, []*array.Array{x}, []*array.Array{dx})
			return dy[0]
		}
		x := array.Scalar(by(r, 1.0, 4.0))
		same(r, "sum", jvp(ops.AllSum, x, array.Scalar(by(r, 1.0, 2.0))), []float64{3})
		same(r, "mean", jvp(ops.AllMean, x, array.Scalar(by(r, 1.0, 2.0))), []float64{1.5})
		same(r, "max", jvp(ops.AllMax, x, array.Scalar(by(r, 30.0, 20.0))), []float64{20})
		same(r, "min", jvp(ops.AllMin, x, array.Scalar(by(r, 30.0, 20.0))), []float64{30})
		same(r, "gather", jvp(ops.AllGather, x, array.Scalar(by(r, 30.0, 20.0))), []float64{30, 20}, 2)
		same(r, "scatter", jvp(ops.SumScatter, vector(1, 2), vector(3, 4)), by(r, []float64{6}, []float64{8}), 1)
	})
}

func TestMessagesHaveNoDerivative(t *testing.T) {
	world(t, 2, func(r rank) {
		_, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.Send(x, 1-r.r, r.g) }, array.Scalar(1.0))
		if err := grad.Err(); !errors.Is(err, array.ErrNoRule) || !strings.Contains(err.Error(), "vjp of send") {
			r.Errorf("error is %v", err)
		}
	})
}

// batched maps f over axis in of x and puts the batch at axis out.
func batched(f func(*array.Array, *group.Group) *array.Array, r rank, x *array.Array, in, out int) *array.Array {
	return transform.VMap(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{f(xs[0], r.g)}
	}, []int{in}, []int{out})(x)[0]
}

func TestVMapOfGatherNeverTouchesTheBatchAxis(t *testing.T) {
	conform.Row(t, "A12", "A13", "A14")
	world(t, 2, func(r rank) {
		scale := by(r, 1.0, 10.0)
		x := array.From([]float64{1, 2, 3, 4, 5, 6}, 3, 2).MulScalar(scale)
		same(r, "rows", batched(ops.AllGather, r, x, 0, 0), []float64{1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60}, 3, 4)
		same(r, "columns", batched(ops.AllGather, r, x, 1, 1), []float64{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}, 6, 2)
		same(r, "scalars", batched(ops.AllGather, r, vector(1, 2, 3).MulScalar(scale), 0, 0), []float64{1, 10, 2, 20, 3, 30}, 3, 2)
	})
}

func TestVMapOfScatterNeverTouchesTheBatchAxis(t *testing.T) {
	conform.Row(t, "C9")
	world(t, 2, func(r rank) {
		x := array.From([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 4)
		same(r, "rows", batched(ops.SumScatter, r, x, 0, 0), by(r, []float64{2, 4, 10, 12, 18, 20}, []float64{6, 8, 14, 16, 22, 24}), 3, 2)
		if err := batched(ops.SumScatter, r, vector(1, 2), 0, 0).Err(); err == nil || !strings.Contains(err.Error(), "a scalar cannot be divided") {
			r.Errorf("error is %v", err)
		}
	})
}

func TestVMapOfReductionsAndTheirGradients(t *testing.T) {
	world(t, 2, func(r rank) {
		x := array.From([]float64{1, 2, 3, 4, 5, 6}, 3, 2).MulScalar(by(r, 1.0, 10.0))
		for axis := range 2 {
			same(r, "sum", batched(ops.AllSum, r, x, axis, axis), []float64{11, 22, 33, 44, 55, 66}, 3, 2)
		}
		loss := func(x *array.Array) *array.Array { return ops.AllSum(x.Square(), r.g).Sum() }
		perRow := transform.VMap(func(xs ...*array.Array) []*array.Array {
			return []*array.Array{transform.Grad(loss)(xs[0])}
		}, []int{0}, []int{0})(x)[0]
		same(r, "vmap of grad", perRow.Sub(x.MulScalar(2)), make([]float64, 6), 3, 2)
		_, ofRows := valueAndGrad(func(x *array.Array) *array.Array {
			return batched(func(x *array.Array, _ *group.Group) *array.Array { return loss(x) }, r, x, 0, 0).Sum()
		}, x)
		same(r, "grad of vmap", ofRows.Sub(x.MulScalar(2)), make([]float64, 6), 3, 2)
	})
}

func TestTracingCommunicatesNothing(t *testing.T) {
	world(t, 2, func(r rank) {
		if r.r == 1 {
			return // rank 0 builds alone and must not wait
		}
		value, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.AllMax(x, r.g).Sum() }, vector(1, 2))
		if value.Err() != nil || grad.Err() != nil || r.g.Stats().Collectives != 0 {
			r.Errorf("%v, %v, %d collectives", value.Err(), grad.Err(), r.g.Stats().Collectives)
		}
	})
}

func TestEvaluatingInsideATracedFunctionIsAnError(t *testing.T) {
	conform.Row(t, "O11")
	world(t, 2, func(r rank) {
		var inside error
		valueAndGrad(func(x *array.Array) *array.Array {
			y := ops.AllSum(x, r.g)
			inside = y.Eval(r.ctx)
			return y
		}, array.Scalar(1.0))
		if !errors.Is(inside, array.ErrTraced) || r.g.Stats().Collectives != 0 {
			r.Errorf("error is %v", inside)
		}
		same(r, "afterwards", array.Zeros(dtype.Int8), []int8{0})
	})
}
