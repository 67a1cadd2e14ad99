package array_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// noted passes its input on and counts its evaluations.
type noted struct {
	array.NoRules
	ran *atomic.Int32
}

func (noted) Name() string                                      { return "noted" }
func (noted) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }
func (p noted) Eval(_ context.Context, in, out []array.View) error {
	copy(out[0].Bytes(), in[0].Bytes())
	p.ran.Add(1)
	return nil
}

func (p noted) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	return array.Apply(p, in...), axes, nil
}

func TestDependsEvaluatesWhatItIsTiedTo(t *testing.T) {
	var ran atomic.Int32
	x := array.From([]float32{1, 2})
	after := array.Apply1(noted{ran: &ran}, array.Ones(dtype.Int8, 3))
	y := array.Depends(x, after, array.Scalar(true))
	if ran.Load() != 0 {
		t.Error("ran while it was built")
	}
	got, err := array.Values[float32](t.Context(), y)
	if err != nil || !slices.Equal(got, []float32{1, 2}) || ran.Load() != 1 {
		t.Errorf("%v, %v, ran %d times", got, err, ran.Load())
	}
	if array.Depends(x) != x {
		t.Error("tied to nothing, x is another array")
	}
}

func TestDependsCarriesMistakes(t *testing.T) {
	mistake := errors.New("mistake")
	x, bad := array.Scalar(1.0), array.Fail("test", mistake)
	for name, y := range map[string]*array.Array{
		"of x": array.Depends(bad, x), "of what it is tied to": array.Depends(x, x, bad),
	} {
		if !errors.Is(y.Err(), mistake) {
			t.Errorf("%s: error is %v", name, y.Err())
		}
	}
	if err := array.Depends(x, nil).Err(); err == nil {
		t.Error("nil is no mistake")
	}
}

// What depends ties has no rules here, so that asking for them would show.
func TestDerivativesPassThroughTheFirstInputAlone(t *testing.T) {
	var ran atomic.Int32
	f := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{array.Depends(xs[0].Square(), array.Apply1(noted{ran: &ran}, xs[0].Mul(xs[1])))}
	}
	xs := []*array.Array{array.Scalar(3.0), array.Scalar(5.0)}
	one := array.Scalar(1.0)
	_, grads := transform.VJP(f, xs, []*array.Array{one})
	_, tangents := transform.JVP(f, xs, []*array.Array{one, one})
	for name, c := range map[string]struct {
		x    *array.Array
		want float64
	}{"gradient": {grads[0], 6}, "gradient of what it is tied to": {grads[1], 0}, "tangent": {tangents[0], 6}} {
		if got, err := array.Item[float64](t.Context(), c.x); err != nil || got != c.want {
			t.Errorf("%s is %v, want %v; %v", name, got, c.want, err)
		}
	}
}

func TestVMapOfDependsBatchesAll(t *testing.T) {
	var ran atomic.Int32
	f := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{array.Depends(xs[0], array.Apply1(noted{ran: &ran}, xs[1]))}
	}
	for name, axes := range map[string][]int{"both": {1, 0}, "only what it is tied to": {-1, 0}, "only the first": {1, -1}} {
		ran.Store(0)
		x := array.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
		want := []float64{1, 4, 2, 5, 3, 6}
		if axes[0] < 0 {
			x, want = x.SliceAxis(1, 0, 1).Flatten(), []float64{1, 4, 1, 4, 1, 4}
		}
		y := transform.VMap(f, axes, []int{0})(x, array.Ones(dtype.Float64, 3))[0]
		got, err := array.Values[float64](t.Context(), y)
		if err != nil || !slices.Equal(got, want) || ran.Load() != 1 {
			t.Errorf("%s: %v, want %v; %v; ran %d times", name, got, want, err, ran.Load())
		}
	}
}
