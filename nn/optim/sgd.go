package optim

import (
	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

// SGD is stochastic gradient descent with optional momentum:
//
//	v ← momentum·v + grad + decay·w
//	w ← w - rate·v
type SGD struct {
	Rate     Rate
	Momentum float64 // 0 for none
	Decay    float64 // weight decay, added to the gradient
}

// Init returns zeros under "v" for each parameter if there is momentum.
func (o SGD) Init(params tree.Tree) tree.Tree {
	if o.Momentum == 0 {
		return initial(params)
	}
	return initial(params, "v")
}

// Update takes one step.
func (o SGD) Update(params, grads, state tree.Tree) (newParams, newState tree.Tree, err error) {
	slots := 0
	if o.Momentum != 0 {
		slots = 1
	}
	if err := check("sgd", o.Rate, params, grads, state, slots); err != nil {
		return params, state, err
	}
	next, step, _ := begin(state)
	rate := o.Rate(step)
	weights := make([]*array.Array, len(params))
	for i, leaf := range params {
		w, v := leaf.Array, grads[i].Array
		if o.Decay != 0 {
			v = v.Add(w.MulScalar(o.Decay))
		}
		if o.Momentum != 0 {
			v = next[1+i].MulScalar(o.Momentum).Add(v)
			next[1+i] = v
		}
		weights[i] = w.Sub(v.Mul(in(rate, w)))
	}
	return params.With(weights), state.With(next), nil
}
