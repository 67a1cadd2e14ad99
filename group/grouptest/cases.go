package grouptest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// allCases are the cases in the order in which they run: what others
// rely on comes first, what ends a world last.
func allCases() []testCase {
	return slices.Concat(reduceCases(), gatherCases(), messageCases(), orderCases(), splitCases(), failureCases(), groupCases(), federatedCases(), rowCases(), messageRowCases())
}

var ops = []group.Op{group.Sum, group.Mean, group.Max, group.Min}

// has reports whether op is defined for t.
func has(op group.Op, t dtype.Type) bool { return op != group.Mean || t.IsInexact() }

// equal compares bytes and shows where they first differ.
func equal(what string, got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	if bytes.Equal(got, want) {
		return nil
	}
	i := 0
	for got[i] == want[i] {
		i++
	}
	lo, hi := i&^7, min(len(got), i&^7+8)
	return fmt.Errorf("%s: byte %d of %d differs: bytes %d to %d are % x, want % x", what, i, len(got), lo, hi-1, got[lo:hi], want[lo:hi])
}

// agree compares a hash of data over all ranks.
func agree(ctx context.Context, comm group.Communicator, what string, data []byte) error {
	mine := sha256.Sum256(data)
	all := make([]byte, len(mine)*comm.Size())
	if err := comm.AllGather(ctx, mine[:], all); err != nil {
		return fmt.Errorf("%s: compare hashes: %w", what, err)
	}
	return equal("hashes of "+what, all, bytes.Repeat(mine[:], comm.Size()))
}

// barrier returns once all ranks have called it.
func barrier(ctx context.Context, comm group.Communicator) error {
	return comm.AllGather(ctx, []byte{1}, make([]byte, comm.Size()))
}

// first returns the first error there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
