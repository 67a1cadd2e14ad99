package transform_test

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
)

func ExampleGrad() {
	square := func(x *array.Array) *array.Array { return x.Mul(x) }
	slope, err := array.Item[float64](context.Background(), transform.Grad(square)(array.Scalar(3.0)))
	fmt.Println(slope, err)
	// Output: 6 <nil>
}

func ExampleCompile() {
	step := transform.Compile(func(xs ...*array.Array) []*array.Array {
		w, x := xs[0], xs[1]
		slope := transform.Grad(func(w *array.Array) *array.Array { return w.Mul(x).AddScalar(-6).Square() })
		return []*array.Array{w.Sub(slope(w).MulScalar(0.1))}
	})
	w := array.Scalar(0.0)
	for range 100 {
		w = step(w, array.Scalar(2.0))[0]
	}
	v, err := array.Item[float64](context.Background(), w)
	fmt.Printf("%.3f %v\n", v, err)
	// Output: 3.000 <nil>
}

// The gradient of rounding is zero everywhere; this one passes it straight
// through.
func ExampleCustom() {
	round := transform.Custom(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Round()}
	}, transform.Rules{
		Name: "straight_through",
		VJP:  func(_, _, dys []*array.Array) []*array.Array { return dys },
	})
	slope := transform.Grad(func(x *array.Array) *array.Array { return round(x)[0].Square() })
	v, err := array.Item[float64](context.Background(), slope(array.Scalar(2.7)))
	fmt.Println(v, err)
	// Output: 6 <nil>
}
