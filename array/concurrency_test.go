package array_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// stages are lazy arrays, each built from those before it, and what they hold.
// counted is called when the first of them is computed.
func stages(counted func()) (xs []*array.Array, want []float64) {
	x := array.Apply1(probe{name: "base", hook: func(context.Context, float64) error { counted(); return nil }}, array.Scalar(2.0))
	for i := range 20 {
		last := 3.0
		if i > 0 {
			last, x = want[i-1], xs[i-1]
		}
		y := x.AddScalar(float64(i)).Minimum(array.Scalar(50.0)).Sub(x.MulScalar(0.5))
		xs, want = append(xs, y), append(want, min(last+float64(i), 50)-last/2)
	}
	return xs, want
}

// Goroutines build on the same lazy arrays, look at them, derive and evaluate
// them, all at the same time.
func TestGoroutinesShareAGraph(t *testing.T) {
	var runs atomic.Int32
	xs, want := stages(func() { runs.Add(1) })
	scaled := transform.Compile(func(ys ...*array.Array) []*array.Array { return []*array.Array{ys[0].MulScalar(3)} })
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range xs {
				k := (i*7 + worker*3) % len(xs)
				x := xs[k]
				_ = x.String()
				views := x.BroadcastTo(2, 3).T().Sum(0)
				product := x.Mul(xs[len(xs)-1-k])
				_, grads := transform.VJP(func(ys ...*array.Array) []*array.Array { return []*array.Array{ys[0].Mul(x)} },
					[]*array.Array{xs[i]}, []*array.Array{array.Scalar(1.0)})
				all := []*array.Array{x, views.Mean(), product, grads[0], scaled(x)[0], x.AsType(dtype.Float32).AsType(dtype.Float64)}
				if err := array.Eval(t.Context(), all...); err != nil {
					t.Error(err)
					return
				}
				wanted := []float64{want[k], 3 * want[k], want[k] * want[len(xs)-1-k], want[k], 3 * want[k], float64(float32(want[k]))}
				for n, y := range all {
					if got, err := array.Item[float64](t.Context(), y); err != nil || !near(got, wanted[n], 1e-12) {
						t.Errorf("array %d of stage %d is %v (%v), want %v", n, k, got, err, wanted[n])
					}
				}
			}
		})
	}
	wait.Wait()
	if runs.Load() != 1 {
		t.Errorf("what all are built on was computed %d times", runs.Load())
	}
}

// An array that some goroutine is computing may be used and computed by others,
// whose contexts end on their own.
func TestAnEndedContextHarmsNobodyElse(t *testing.T) {
	xs, want := stages(func() {})
	ended, end := context.WithCancel(t.Context())
	end()
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			ctx := t.Context()
			if worker%2 == 0 {
				ctx = ended
			}
			values, err := array.Values[float64](ctx, array.Stack(xs, 0))
			switch {
			case ctx == ended && err != nil:
			case err != nil:
				t.Error(err)
			case !slices.EqualFunc(values, want, func(a, b float64) bool { return near(a, b, 1e-12) }):
				t.Errorf("got %v, want %v", values, want)
			}
		})
	}
	wait.Wait()
}
