package grouptest

import (
	"bytes"
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

func gatherCases() []testCase {
	return []testCase{
		{
			name:  "gather",
			rule:  "AllGather concatenates the bytes of all ranks in rank order and leaves its input alone.",
			least: 1,
			check: gather,
		},
		{
			name:  "gather into the wrong length",
			rule:  "The output of AllGather is Size times as long as the input; otherwise it is an error at once that leaves the communicator as it was.",
			least: 1,
			check: gatherWrongLength,
		},
	}
}

func gather(ctx context.Context, comm group.Communicator) error {
	for _, n := range []int{0, 1, 7, 1000, 4096, 4097, 100_003} {
		var want []byte
		for rank := range comm.Size() {
			want = append(want, seeded(rank, n).bytes(n)...)
		}
		in := seeded(comm.Rank(), n).bytes(n)
		out := make([]byte, n*comm.Size())
		if err := comm.AllGather(ctx, in, out); err != nil {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
		err := first(
			equal(fmt.Sprintf("gather of %d bytes", n), out, want),
			equal("input afterwards", in, seeded(comm.Rank(), n).bytes(n)))
		if err != nil {
			return err
		}
	}
	return nil
}

func gatherWrongLength(ctx context.Context, comm group.Communicator) error {
	for _, wrong := range []int{0, 3*comm.Size() - 1, 3*comm.Size() + 1} {
		if err := comm.AllGather(ctx, make([]byte, 3), make([]byte, wrong)); err == nil {
			return fmt.Errorf("%d bytes of output for 3 of input on %d ranks gave no error", wrong, comm.Size())
		}
	}
	out := make([]byte, comm.Size())
	err := comm.AllGather(ctx, []byte{5}, out)
	return first(err, equal("gather", out, bytes.Repeat([]byte{5}, comm.Size())))
}
