package group_test

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// A program that nobody launched is a group of one.
func Example() {
	ctx := context.Background()
	g, err := group.Init(ctx, group.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	loss := []float32{0.25}
	if err := group.AllReduce(ctx, g, group.Mean, loss); err != nil {
		fmt.Println(err)
		return
	}
	if g.IsLeader() {
		fmt.Println("mean loss of", g.Size(), "ranks:", loss[0])
	}
	// Output: mean loss of 1 ranks: 0.25
}

// The ranks of a world can be goroutines of one process.
func ExampleNew() {
	results := make([][]int32, 3)
	var ranks sync.WaitGroup
	for r, comm := range grouptest.NewWorld(3) {
		ranks.Go(func() {
			g := group.New(comm)
			xs := []int32{int32(g.Rank()), 10}
			if err := group.AllReduce(context.Background(), g, group.Sum, xs); err != nil {
				fmt.Println(err)
			}
			results[r] = xs
		})
	}
	ranks.Wait()
	fmt.Println(results)
	// Output: [[3 30] [3 30] [3 30]]
}

// Four ranks form two pairs.
func ExampleGroup_Split() {
	ctx := context.Background()
	sums := make([]int32, 4)
	var ranks sync.WaitGroup
	for r, comm := range grouptest.NewWorld(4) {
		ranks.Go(func() {
			pair, err := group.New(comm).Split(ctx, r/2, group.KeepRank)
			if err != nil {
				fmt.Println(err)
				return
			}
			defer pair.Close()
			xs := []int32{int32(r)}
			if err := group.AllReduce(ctx, pair, group.Sum, xs); err != nil {
				fmt.Println(err)
			}
			sums[r] = xs[0]
		})
	}
	ranks.Wait()
	fmt.Println(sums)
	// Output: [1 1 5 5]
}

// reduced is what an operation makes of one element of each rank.
func reduced[T dtype.Element](op group.Op, byRank ...T) any {
	results := make([]T, len(byRank))
	var ranks sync.WaitGroup
	for r, comm := range grouptest.NewWorld(len(byRank)) {
		ranks.Go(func() {
			xs := []T{byRank[r]}
			if err := group.AllReduce(context.Background(), group.New(comm), op, xs); err != nil {
				fmt.Println(err)
			}
			results[r] = xs[0]
		})
	}
	ranks.Wait()
	return results[0]
}

// What the reductions mean, by element type.
func ExampleOp() {
	half := dtype.F16From
	negative, nan := float32(math.Copysign(0, -1)), float32(math.NaN())
	fmt.Println("bool:   ", reduced(group.Sum, true, false), reduced(group.Max, true, false), reduced(group.Min, true, false))
	fmt.Println("int8:   ", reduced[int8](group.Sum, 100, 100), reduced[int8](group.Max, -1, 1))
	fmt.Println("uint64: ", reduced[uint64](group.Max, 1<<63, 1), reduced[uint64](group.Min, 1<<63, 1))
	fmt.Println("float16:", reduced(group.Sum, half(2048), half(1), half(1), half(1)), reduced(group.Mean, half(60000), half(60000)))
	fmt.Println("float32:", reduced[float32](group.Sum, 1e8, 1, -1e8), reduced(group.Max, 5, nan), reduced(group.Min, 5, nan))
	fmt.Println("zeros:  ", reduced(group.Max, negative, 0), reduced(group.Min, 0, negative), reduced(group.Sum, negative, negative))
	fmt.Println("complex:", reduced[complex64](group.Max, 2, 1+9i), reduced[complex64](group.Max, 1+5i, 1+2i))
	// Output:
	// bool:    true true false
	// int8:    -56 1
	// uint64:  9223372036854775808 1
	// float16: 2052 60000
	// float32: 1 NaN NaN
	// zeros:   0 -0 -0
	// complex: (2+0i) (1+5i)
}
