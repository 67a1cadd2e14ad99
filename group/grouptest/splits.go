package grouptest

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func splitCases() []testCase {
	cases := []testCase{
		{
			name:  "split into even and odd",
			rule:  "Ranks with the same color form a communicator, ordered by key and then by old rank.",
			rows:  []string{"P1"},
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				r, n := comm.Rank(), comm.Size()
				return splitAndUse(ctx, comm, r%2, r, r/2, (n-r%2+1)/2)
			},
		},
		{
			name:  "split into pairs",
			rule:  "Ranks with the same color form a communicator, ordered by key and then by old rank.",
			rows:  []string{"P2", "P9"},
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				r, n := comm.Rank(), comm.Size()
				return splitAndUse(ctx, comm, r/2, 0, r%2, min(2, n-r/2*2))
			},
		},
		{
			name:  "split with reversed keys",
			rule:  "The new ranks follow the keys.",
			rows:  []string{"P3"},
			least: 1,
			check: func(ctx context.Context, comm group.Communicator) error {
				last := comm.Size() - 1
				return splitAndUse(ctx, comm, 0, last-comm.Rank(), last-comm.Rank(), comm.Size())
			},
		},
		{
			name:  "split with equal keys",
			rule:  "Equal keys keep the order of the old ranks.",
			rows:  []string{"P4"},
			least: 1,
			check: func(ctx context.Context, comm group.Communicator) error {
				return splitAndUse(ctx, comm, 3, 5, comm.Rank(), comm.Size())
			},
		},
		{
			name:  "split one rank off",
			rule:  "A color that only one rank has gives it a communicator of its own.",
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				r, last := comm.Rank(), comm.Size()-1
				if r == last {
					return splitAndUse(ctx, comm, 1000, 0, 0, 1)
				}
				return splitAndUse(ctx, comm, 7, 0, r, last)
			},
		},
		{
			name:  "sit a split out",
			rule:  "A rank with NoColor gets nil and no error; it still takes part in the call.",
			least: 1,
			check: sitOut,
		},
		{
			name:  "split of a split",
			rule:  "A split divides like the communicator that it came from, by its own ranks.",
			rows:  []string{"P10"},
			least: 2,
			check: splitOfSplit,
		},
		{
			name:  "sums over pairs, gathered over the others",
			rule:  "Two divisions of the same ranks work side by side.",
			rows:  []string{"P11"},
			least: 4,
			most:  8,
			check: pairsAndQuads,
		},
		{
			name:  "messages of parent and child",
			rule:  "The same ranks and tag in a communicator and in its split are different streams.",
			least: 2,
			check: parentAndChild,
		},
		{
			name:  "two splits in opposite order",
			rule:  "Collectives of different communicators do not wait for each other.",
			least: 2,
			check: oppositeOrder,
		},
		{
			name:  "closed split",
			rule:  "Closing a split leaves its parent and its siblings usable.",
			least: 2,
			check: closedSplit,
		},
	}
	for i := range cases {
		cases[i].needs = splitter
	}
	return cases
}

// withSplit splits comm, hands the result to use and closes it.
func withSplit(ctx context.Context, comm group.Communicator, color, key int, use func(child group.Communicator) error) error {
	child, err := comm.(group.Splitter).Split(ctx, color, key)
	if err != nil {
		return fmt.Errorf("split: %w", err)
	}
	if child == nil {
		return errors.New("split gave nothing")
	}
	err = use(child)
	return first(err, child.Close())
}

// splitAndUse checks place and size of this rank in a split, and that the split
// works.
func splitAndUse(ctx context.Context, comm group.Communicator, color, key, rank, size int) error {
	return withSplit(ctx, comm, color, key, func(child group.Communicator) error {
		return place(ctx, child, rank, size)
	})
}

func place(ctx context.Context, comm group.Communicator, rank, size int) error {
	if comm.Rank() != rank || comm.Size() != size {
		return fmt.Errorf("rank %d of %d, want rank %d of %d", comm.Rank(), comm.Size(), rank, size)
	}
	if err := first(sumOfRanks(ctx, comm), countRound(ctx, comm, 1, 1000)); err != nil || size == 1 {
		return err
	}
	return passRight(ctx, comm)
}

func sitOut(ctx context.Context, comm group.Communicator) error {
	if comm.Rank() > 0 {
		return splitAndUse(ctx, comm, 0, 0, comm.Rank()-1, comm.Size()-1)
	}
	child, err := comm.(group.Splitter).Split(ctx, group.NoColor, 0)
	if child != nil {
		return fmt.Errorf("got %v, want nil", child)
	}
	return err
}

func splitOfSplit(ctx context.Context, comm group.Communicator) error {
	r, n := comm.Rank(), comm.Size()
	reversed := n - 1 - r
	return withSplit(ctx, comm, 0, reversed, func(child group.Communicator) error {
		return splitAndUse(ctx, child, child.Rank()%2, 0, reversed/2, (n-reversed%2+1)/2)
	})
}

// pairsAndQuads sums the ranks over pairs of neighbours and gathers the sums over
// the ranks of the same parity.
func pairsAndQuads(ctx context.Context, comm group.Communicator) error {
	r, n := comm.Rank(), comm.Size()
	if n%2 != 0 {
		return nil
	}
	return withSplit(ctx, comm, r/2, r, func(pairs group.Communicator) error {
		return withSplit(ctx, comm, r%2, r, func(others group.Communicator) error {
			sum, all := []byte{byte(r)}, make([]byte, n/2)
			var want []byte
			for i := range n / 2 {
				want = append(want, byte(4*i+1))
			}
			return first(
				pairs.AllReduce(ctx, group.Sum, dtype.Uint8, sum),
				others.AllGather(ctx, sum, all),
				equal("sums of the pairs", all, want))
		})
	})
}

// parentAndChild sends under one tag through both and receives in the other order.
func parentAndChild(ctx context.Context, comm group.Communicator) error {
	return withSplit(ctx, comm, 0, comm.Rank(), func(child group.Communicator) error {
		return onPair(comm, func() error {
			return first(comm.Send(ctx, 1, 4, []byte("parent")), child.Send(ctx, 1, 4, []byte("a child")))
		}, func() error {
			fromChild, fromParent := make([]byte, 7), make([]byte, 6)
			return first(
				child.Recv(ctx, 0, 4, fromChild), comm.Recv(ctx, 0, 4, fromParent),
				equal("message of the child", fromChild, []byte("a child")),
				equal("message of the parent", fromParent, []byte("parent")))
		})
	})
}

// oppositeOrder starts the collectives of two splits in another order on every
// second rank.
func oppositeOrder(ctx context.Context, comm group.Communicator) error {
	return withSplit(ctx, comm, 0, 0, func(a group.Communicator) error {
		return withSplit(ctx, comm, 0, 0, func(b group.Communicator) error {
			if comm.Rank()%2 == 1 {
				a, b = b, a
			}
			for round := range 10 {
				started := make(chan error, 1)
				go func() { started <- countRound(ctx, a, round, 1+round*200) }()
				err := countRound(ctx, b, round, 1+round*200)
				if err := first(err, <-started); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func closedSplit(ctx context.Context, comm group.Communicator) error {
	return withSplit(ctx, comm, 0, 0, func(sibling group.Communicator) error {
		err := withSplit(ctx, comm, 0, 0, func(child group.Communicator) error { return barrier(ctx, child) })
		return first(err, sumOfRanks(ctx, comm), sumOfRanks(ctx, sibling))
	})
}
