package optim_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/nn/optim"
)

// descend takes steps on the gradient w² - 3 of one parameter and compares each
// with next, the same formula on float64s.
func descend(t *testing.T, opt optim.Optimizer, next func(step int, w, g float64) float64) {
	t.Helper()
	params := tree.Tree{{Path: "w", Array: array.From([]float64{5, -2})}}
	state := opt.Init(params)
	want := []float64{5, -2}
	for step := range 8 {
		grads := params.Map(func(l tree.Leaf) *array.Array { return l.Array.Square().SubScalar(3) })
		var err error
		if params, state, err = opt.Update(params, grads, state); err != nil {
			t.Fatal(err)
		}
		got, err := array.Values[float64](t.Context(), params[0].Array)
		if err != nil {
			t.Fatal(err)
		}
		want[0] = next(step, want[0], want[0]*want[0]-3)
		if math.Abs(got[0]-want[0]) > 1e-6*(1+math.Abs(want[0])) {
			t.Fatalf("after step %d the parameter is %v, want %v", step+1, got[0], want[0])
		}
	}
	if n, err := array.Item[int64](t.Context(), state.Get("step")); n != 8 || err != nil {
		t.Errorf("the state counts %d steps (%v)", n, err)
	}
}

func TestSGD(t *testing.T) {
	descend(t, optim.SGD{Rate: optim.Constant(0.0625)}, func(_ int, w, g float64) float64 { return w - 0.0625*g })
}

func TestSGDWithMomentumAndDecay(t *testing.T) {
	v := 0.0
	descend(t, optim.SGD{Rate: optim.Constant(0.03125), Momentum: 0.9, Decay: 0.1}, func(_ int, w, g float64) float64 {
		v = 0.9*v + g + 0.1*w
		return w - 0.03125*v
	})
}

func TestRateSeesTheStep(t *testing.T) {
	halving := func(step *array.Array) *array.Array {
		return array.Scalar(float32(0.0625)).Div(step.AddScalar(1))
	}
	descend(t, optim.SGD{Rate: halving}, func(step int, w, g float64) float64 {
		return w - float64(float32(0.0625)/float32(step+1))*g
	})
}

func TestAdamW(t *testing.T) {
	m, v := 0.0, 0.0
	descend(t, optim.AdamW{Rate: optim.Constant(0.125), Decay: 0.01}, func(step int, w, g float64) float64 {
		m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
		t := float64(step + 1)
		return w - 0.125*(m/(1-math.Pow(0.9, t))/(math.Sqrt(v/(1-math.Pow(0.999, t)))+1e-8)+0.01*w)
	})
}

func TestAMistakeLeavesParametersUsable(t *testing.T) {
	params := tree.Tree{{Path: "w", Array: array.Ones(dtype.Float32, 2)}}
	bad := tree.Tree{{Path: "w", Array: params[0].Array.Add(array.Ones(dtype.Float32, 3))}}
	for name, opt := range map[string]optim.Optimizer{
		"sgd": optim.SGD{Rate: optim.Constant(1)}, "adamw": optim.AdamW{Rate: optim.Constant(1)},
	} {
		state := opt.Init(params)
		after, stateAfter, err := opt.Update(params, bad, state)
		if err == nil || !strings.Contains(err.Error(), name+": gradient of w: add at optim_test.go:") {
			t.Errorf("%s: error is %v", name, err)
		}
		if after[0] != params[0] || len(stateAfter) != len(state) || stateAfter[0] != state[0] {
			t.Errorf("%s: parameters or state changed", name)
		}
	}
}

func TestWhatCannotBeTrained(t *testing.T) {
	whole := tree.Tree{{Path: "w", Array: array.Ones(dtype.Int32, 2)}}
	real := tree.Tree{{Path: "w", Array: array.Ones(dtype.Float32, 2)}}
	for name, c := range map[string]struct {
		opt    optim.Optimizer
		params tree.Tree
		want   string
	}{
		"integers by adamw":    {optim.AdamW{Rate: optim.Constant(1)}, whole, "adamw: w is int32[2], which cannot be trained"},
		"integers by sgd":      {optim.SGD{Rate: optim.Constant(1)}, whole, "sgd: w is int32[2]"},
		"without rate, adamw":  {optim.AdamW{}, real, "adamw: Rate is nil"},
		"without rate, by sgd": {optim.SGD{Momentum: 1}, real, "sgd: Rate is nil"},
	} {
		state := c.opt.Init(c.params)
		after, _, err := c.opt.Update(c.params, c.params, state)
		if err == nil || !strings.Contains(err.Error(), c.want) || after[0] != c.params[0] {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestTreesThatDoNotFit(t *testing.T) {
	params := tree.Tree{{Path: "w", Array: array.Ones(dtype.Float32, 2)}}
	opt := optim.AdamW{Rate: optim.Constant(1)}
	state := opt.Init(params)
	for name, c := range map[string]struct {
		grads, state tree.Tree
		want         string
	}{
		"other path":  {tree.Tree{{Path: "v", Array: params[0].Array}}, state, `"w" and "v"`},
		"other shape": {tree.Tree{{Path: "w", Array: array.Ones(dtype.Float32, 3)}}, state, "gradient of w is float32[3], want float32[2]"},
		"other state": {params, state[:1], "the state has 1 leaves, want 3"},
	} {
		if _, _, err := opt.Update(params, c.grads, c.state); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestTypesStay(t *testing.T) {
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		params := tree.Tree{{Path: "w", Array: array.Ones(typ, 2)}}
		opt := optim.AdamW{Rate: optim.Constant(0.5)}
		after, state, err := opt.Update(params, params, opt.Init(params))
		if err != nil || after[0].Array.DType() != typ || state.Get("m.w").DType() != typ {
			t.Errorf("%v becomes %v (%v)", typ, after[0].Array.Spec(), err)
		}
	}
}
