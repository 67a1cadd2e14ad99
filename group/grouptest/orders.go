package grouptest

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func orderCases() []testCase {
	return []testCase{
		{
			name:  "back to back",
			rule:  "Collectives that follow one another without a pause are matched in the order of the calls.",
			least: 2,
			check: backToBack,
		},
		{
			name:  "different collectives in turn",
			rule:  "Reductions, gathers and messages of any length follow one another in the order of the calls.",
			least: 2,
			check: inTurn,
		},
		{
			name:  "ranks that are late",
			rule:  "A collective waits for every rank, however far the others are.",
			least: 2,
			check: late,
		},
	}
}

// countRound sums elems copies of a number that depends on round and rank.
func countRound(ctx context.Context, comm group.Communicator, round, elems int) error {
	value := func(rank int) uint64 { return uint64(round*1000 + rank) }
	var sum uint64
	for rank := range comm.Size() {
		sum += value(rank)
	}
	var data, want []byte
	for range elems {
		data = binary.LittleEndian.AppendUint64(data, value(comm.Rank()))
		want = binary.LittleEndian.AppendUint64(want, sum)
	}
	if err := comm.AllReduce(ctx, group.Sum, dtype.Uint64, data); err != nil {
		return err
	}
	return equal(fmt.Sprintf("sum of round %d", round), data, want)
}

func backToBack(ctx context.Context, comm group.Communicator) error {
	for round := range 100 {
		if err := countRound(ctx, comm, round, 1+round%5*300); err != nil {
			return err
		}
	}
	return nil
}

func inTurn(ctx context.Context, comm group.Communicator) error {
	left, right := neighbours(comm)
	for round, elems := range []int{1, 2000, 0, 20, 1, 30_000, 3} {
		out, got := make([]byte, 8*elems*comm.Size()), make([]byte, 8*elems)
		in := seeded(comm.Rank(), round).bytes(8 * elems)
		err := first(
			countRound(ctx, comm, round, elems),
			comm.AllGather(ctx, in, out),
			exchange(ctx, comm, left, right, round, in, got),
			equal("message from the right", got, out[8*elems*right:8*elems*(right+1)]))
		if err != nil {
			return err
		}
	}
	return nil
}

// late lets one rank after the other come last, held back by a message.
func late(ctx context.Context, comm group.Communicator) error {
	for last := range comm.Size() {
		before := (last + comm.Size() - 1) % comm.Size()
		var err error
		switch comm.Rank() {
		case last:
			err = comm.Recv(ctx, before, 1, make([]byte, 1))
		case before:
			// The message goes out beside the collective that the others are in.
			sent := make(chan error, 1)
			go func() { sent <- comm.Send(ctx, last, 1, []byte{1}) }()
			err = countRound(ctx, comm, last, 600)
			err = first(err, <-sent)
		}
		if comm.Rank() != before {
			err = first(err, countRound(ctx, comm, last, 600))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
