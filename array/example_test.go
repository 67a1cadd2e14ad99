package array_test

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
)

func Example() {
	x := array.From([]float32{1, 2, 3, 4}, 2, 2)
	y := x.MatMul(x.T()).AddScalar(1).Sum(0)
	fmt.Println(y)
	values, err := array.Values[float32](context.Background(), y)
	fmt.Println(values, err)
	// Output:
	// array(float32[2], lazy)
	// [18 38] <nil>
}

func ExampleArray_Err() {
	x := array.From([]float32{1, 2}).Add(array.From([]float32{1, 2, 3}))
	y := x.Exp().Sum()
	fmt.Println(y.Err() == x.Err(), x.Err())
	// Output: true add at example_test.go:22: shapes [2] and [3] do not broadcast
}

func ExampleEval_mistakeInTheValues() {
	table := array.From([]float32{1, 2, 3})
	row := table.Take(array.From([]int32{5}), 0)
	fmt.Println(row.Eval(context.Background()))
	// Output: take at example_test.go:30: index 5 of an axis of length 3
}
