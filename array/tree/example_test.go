package tree_test

import (
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
)

func ExampleFlatten() {
	type linear struct{ Weight, Bias *array.Array }
	model := struct{ Layers []linear }{[]linear{{array.Zeros(dtype.Float32, 2, 3), nil}, {array.Ones(dtype.Float32, 2), nil}}}
	params, err := tree.Flatten(model)
	for _, leaf := range params {
		fmt.Println(leaf.Path, leaf.Array.Spec())
	}
	fmt.Println(err)
	// Output:
	// layers.0.weight float32[2 3]
	// layers.1.weight float32[2]
	// <nil>
}
