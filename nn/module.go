// Package nn has layers, losses and what training needs around them.
//
//	model := nn.NewLinear(random.NewKey(0), 64, 10, true)
//	step := nn.ValueAndGrad(model, func(xs ...*array.Array) *array.Array {
//		return nn.CrossEntropy(model.Forward(xs[0]), xs[1]).Mean()
//	})
//	loss, grads := step(images, labels)
//	grads = nn.AverageGradients(grads, nil)
//
// A layer is any struct whose exported fields hold arrays, other layers, or
// slices of either; Parameters finds them by one walk in field order. Layers do
// not compute when they are built or called: everything stays lazy until
// evaluated.
package nn

import "github.com/lockstep-go/lockstep/array"

// Module maps one array to another.
type Module interface {
	Forward(x *array.Array) *array.Array
}

// Func is a function that serves as a Module; it has no parameters.
type Func func(x *array.Array) *array.Array

// Forward calls the function.
func (f Func) Forward(x *array.Array) *array.Array { return f(x) }

// Sequential applies its layers in turn.
type Sequential struct {
	Base
	Layers []Module
}

// NewSequential returns a module that applies layers in turn.
func NewSequential(layers ...Module) *Sequential { return &Sequential{Layers: layers} }

// Forward passes x through every layer.
func (s *Sequential) Forward(x *array.Array) *array.Array {
	for _, layer := range s.Layers {
		x = layer.Forward(x)
	}
	return x
}
