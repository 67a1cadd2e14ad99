package optim

import (
	"math"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

// AdamW is Adam with decoupled weight decay and bias correction (Loshchilov and
// Hutter 2019):
//
//	m ← β1·m + (1-β1)·grad
//	v ← β2·v + (1-β2)·grad²
//	w ← w - rate·(m/(1-β1ᵗ) / (√(v/(1-β2ᵗ)) + eps) + decay·w)
type AdamW struct {
	Rate  Rate
	Beta1 float64 // 0 means 0.9
	Beta2 float64 // 0 means 0.999
	Eps   float64 // 0 means 1e-8
	Decay float64 // weight decay; 0 for none
}

// Init returns zeros under "m" and "v" for each parameter.
func (o AdamW) Init(params tree.Tree) tree.Tree { return initial(params, "m", "v") }

// Update takes one step.
func (o AdamW) Update(params, grads, state tree.Tree) (newParams, newState tree.Tree, err error) {
	if err := check("adamw", o.Rate, params, grads, state, 2); err != nil {
		return params, state, err
	}
	o = o.complete()
	next, step, count := begin(state)
	rate, fix1, fix2 := o.Rate(step), correction(o.Beta1, count), correction(o.Beta2, count)
	n := len(params)
	weights := make([]*array.Array, n)
	for i, leaf := range params {
		w, grad := leaf.Array, grads[i].Array
		m := next[1+i].MulScalar(o.Beta1).Add(grad.MulScalar(1 - o.Beta1))
		v := next[1+n+i].MulScalar(o.Beta2).Add(grad.Square().MulScalar(1 - o.Beta2))
		change := m.Div(in(fix1, w)).Div(v.Div(in(fix2, w)).Sqrt().AddScalar(o.Eps))
		if o.Decay != 0 {
			change = change.Add(w.MulScalar(o.Decay))
		}
		weights[i] = w.Sub(change.Mul(in(rate, w)))
		next[1+i], next[1+n+i] = m, v
	}
	return params.With(weights), state.With(next), nil
}

func (o AdamW) complete() AdamW {
	set := func(x *float64, value float64) {
		if *x == 0 {
			*x = value
		}
	}
	set(&o.Beta1, 0.9)
	set(&o.Beta2, 0.999)
	set(&o.Eps, 1e-8)
	return o
}

// correction is 1-βᵗ.
func correction(beta float64, t *array.Array) *array.Array {
	return array.Scalar(float32(1)).Sub(t.MulScalar(math.Log(beta)).Exp())
}
