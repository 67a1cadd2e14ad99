package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// beRank is one rank of a test: it sums with the others and rank 0 says so.
func beRank(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Second)
	defer cancel()
	text, err := sum(ctx)
	if text != "" {
		fmt.Println(text)
	}
	return err
}

// sum adds up long and short messages over all ranks and checks the results. The
// text is rank 0's.
func sum(ctx context.Context) (text string, err error) {
	g, err := group.Init(ctx, group.Config{Strict: true})
	if err != nil {
		return "", err
	}
	for _, length := range []int{1, 1 << 18} {
		xs := make([]float32, length)
		for i := range xs {
			xs[i] = float32(g.Rank() + 1)
		}
		if err := group.AllReduce(ctx, g, group.Sum, xs); err != nil {
			return "", err
		}
		for i, x := range xs {
			if want := float32(g.Size() * (g.Size() + 1) / 2); x != want {
				return "", fmt.Errorf("rank %d: element %d of %d is %v, want %v", g.Rank(), i, length, x, want)
			}
		}
	}
	if err := g.Close(); err != nil {
		return "", err
	}
	if g.Rank() != 0 {
		return "", nil
	}
	text = fmt.Sprintf("%d ranks on %s sum 4 bytes and 1 MiB", g.Size(), g.Backend())
	if g.Backend() == "mpi" {
		text += " at MPI_THREAD_MULTIPLE"
	}
	return text, nil
}
