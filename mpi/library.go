//go:build cgo && mpi

package mpi

/*
#include "bridge.h"
*/
import "C"

import (
	"context"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// LOCKSTEP_MPI_SUMS=library leaves sums beyond inline data to MPI's own reduction, which
// knows the network better than a direct exchange may. What is lost: the library chooses the
// order of additions, by size and number of ranks, rounds after each, and gives no word that all
// ranks get the same bits.

// libraryKinds are the types that it adds, by their numbers in lk_sum.
var libraryKinds = []dtype.Type{dtype.Int32, dtype.Int64, dtype.Uint32, dtype.Uint64, dtype.Float32, dtype.Float64}

func libraryKind(op group.Op, t dtype.Type) (kind int, ok bool) {
	for kind, has := range libraryKinds {
		if has == t && op == group.Sum {
			return kind, true
		}
	}
	return 0, false
}

// librarySum adds data over all ranks in place, in pieces that MPI can count.
func (c *comm) librarySum(ctx context.Context, op string, kind, size int, data []byte) error {
	step := pieceBytes / size * size
	b := c.transfers
	for lo := 0; lo < len(data); lo += step {
		b.reset()
		if err := b.sum(c.channel, kind, size, data[lo:min(lo+step, len(data))]); err != nil {
			return explain(op, nil, err)
		}
		w := wait{op: op, bytes: 2 * len(data), peer: -1, collective: true, missing: c.others}
		if err := c.await(ctx, b, &w); err != nil {
			return explain(op, nil, err)
		}
	}
	b.reset()
	return nil
}

// others are all ranks but this one: MPI does not say which of them it waits for.
func (c *comm) others() []int {
	var ranks []int
	for r := range c.size {
		if r != c.rank {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// sum starts to add data over all members, in place.
func (b *batch) sum(h handle, kind, size int, data []byte) error {
	request := b.next(-1, data)
	return b.settle("MPI_Iallreduce", C.lk_sum(address(data), C.int(len(data)/size), C.int(kind), h, request))
}
