package grouptest

import (
	"context"

	"github.com/lockstep-go/lockstep/group"
)

func messageCases() []testCase {
	return []testCase{
		{
			name:  "pass to the right",
			rule:  "Recv fills the buffer with the message that Send delivered.",
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				r, n := comm.Rank(), comm.Size()
				got := make([]byte, 1)
				if r == 0 {
					if err := comm.Send(ctx, 1, 3, []byte{42}); err != nil {
						return err
					}
				}
				if err := comm.Recv(ctx, (r+n-1)%n, 3, got); err != nil {
					return err
				}
				if r > 0 {
					if err := comm.Send(ctx, (r+1)%n, 3, got); err != nil {
						return err
					}
				}
				return equal("message", got, []byte{42})
			},
		},
	}
}
