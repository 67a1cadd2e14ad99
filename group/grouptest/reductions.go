package grouptest

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func reduceCases() []testCase {
	return []testCase{
		{
			name:  "sum of ranks",
			rule:  "AllReduce combines the data of all ranks in place; every rank ends with the same.",
			least: 1,
			check: func(ctx context.Context, comm group.Communicator) error {
				data := []byte{byte(comm.Rank() + 1), 7}
				if err := comm.AllReduce(ctx, group.Sum, dtype.Uint8, data); err != nil {
					return err
				}
				n := comm.Size()
				return equal("sum", data, []byte{byte(n * (n + 1) / 2), byte(7 * n)})
			},
		},
	}
}

// equal compares bytes and shows where they first differ.
func equal(what string, got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	if slices.Equal(got, want) {
		return nil
	}
	i := 0
	for got[i] == want[i] {
		i++
	}
	lo, hi := i&^7, min(len(got), i&^7+16)
	return fmt.Errorf("%s: byte %d of %d differs: … % x …, want … % x …", what, i, len(got), got[lo:hi], want[lo:hi])
}
