package random_test

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
)

// The same key gives the same numbers on every machine.
func ExampleRandInt() {
	keys := random.NewKey(7).Split(2)
	dice := random.RandInt(keys[0], 1, 7, dtype.Int32, 2, 5)
	if err := dice.Eval(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dice)
	// Output: array([[6 6 4 2 3] [2 4 3 2 6]], int32[2 5])
}
