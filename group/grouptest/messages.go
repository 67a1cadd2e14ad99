package grouptest

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

func messageCases() []testCase {
	return []testCase{
		{
			name:  "pass to the right",
			rule:  "Recv fills the buffer with the message that Send delivered.",
			least: 2,
			check: passRight,
		},
		{
			name:  "any rank to any rank",
			rule:  "Every rank can send to every other rank.",
			rows:  []string{"S16"},
			least: 2,
			check: anyToAny,
		},
		{
			name:  "tags out of order",
			rule:  "Recv takes the next message with its tag, whatever came before with other tags, also with tags of the module itself.",
			rows:  []string{"B6"},
			least: 2,
			check: tagsOutOfOrder,
		},
		{
			name:  "messages stay in order",
			rule:  "Messages with the same peer and tag arrive in the order of sending, of whatever length, also of none.",
			rows:  []string{"S21"},
			least: 2,
			check: inOrder,
		},
		{
			name:  "another length",
			rule:  "A message of another length is a LengthError; it is dropped and the next one arrives whole.",
			least: 2,
			check: anotherLength,
		},
		{
			name:  "all send and receive at once",
			rule:  "Send and Recv run beside each other: large messages both ways do not wait for one another.",
			least: 2,
			check: shift,
		},
		{
			name:  "messages beside collectives",
			rule:  "Send and Recv run beside collectives and never wait for them.",
			least: 2,
			check: besideCollectives,
		},
		{
			name:  "send does not keep the buffer",
			rule:  "Once Send has returned, the buffer may be used again.",
			least: 2,
			check: bufferReused,
		},
		{
			name:  "wrong peers and tags",
			rule:  "A message to oneself, to no rank or with a negative tag is an error at once and leaves the communicator as it was.",
			least: 1,
			check: wrongPeers,
		},
		{
			name:  "receive that is given up",
			rule:  "The end of its context ends a Recv with an error that holds the cause and names the sender.",
			least: 2,
			ends:  true,
			check: receiveGivenUp,
		},
	}
}

// neighbours are the ranks to the left and to the right in a circle.
func neighbours(comm group.Communicator) (left, right int) {
	r, n := comm.Rank(), comm.Size()
	return (r + n - 1) % n, (r + 1) % n
}

func passRight(ctx context.Context, comm group.Communicator) error {
	left, right := neighbours(comm)
	got := make([]byte, 1)
	if comm.Rank() == 0 {
		if err := comm.Send(ctx, right, 3, []byte{42}); err != nil {
			return err
		}
	}
	if err := comm.Recv(ctx, left, 3, got); err != nil {
		return err
	}
	if comm.Rank() > 0 {
		if err := comm.Send(ctx, right, 3, got); err != nil {
			return err
		}
	}
	return equal("message", got, []byte{42})
}

// exchange sends and receives side by side.
func exchange(ctx context.Context, comm group.Communicator, dst, src, tag int, out, in []byte) error {
	sent := make(chan error, 1)
	go func() { sent <- comm.Send(ctx, dst, tag, out) }()
	err := comm.Recv(ctx, src, tag, in)
	return first(err, <-sent)
}

func anyToAny(ctx context.Context, comm group.Communicator) error {
	r, n := comm.Rank(), comm.Size()
	for k := 1; k < n; k++ {
		dst, src := (r+k)%n, (r-k+n)%n
		got := make([]byte, 2)
		if err := exchange(ctx, comm, dst, src, 0, []byte{byte(r), byte(dst)}, got); err != nil {
			return err
		}
		if err := equal(fmt.Sprintf("message from rank %d", src), got, []byte{byte(src), byte(r)}); err != nil {
			return err
		}
	}
	return nil
}

// onPair runs the two sides of a conversation on ranks 0 and 1. The others have
// nothing to do.
func onPair(comm group.Communicator, zero, one func() error) error {
	switch comm.Rank() {
	case 0:
		return zero()
	case 1:
		return one()
	}
	return nil
}

func tagsOutOfOrder(ctx context.Context, comm group.Communicator) error {
	sent := []int{5, 0, 900, group.TagReserved + 3}
	received := []int{group.TagReserved + 3, 0, 5, 900}
	return onPair(comm, func() error {
		for _, tag := range sent {
			if err := comm.Send(ctx, 1, tag, seeded(0, tag).bytes(100)); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for _, tag := range received {
			got := make([]byte, 100)
			err := comm.Recv(ctx, 0, tag, got)
			if err := first(err, equal(fmt.Sprintf("message with tag %d", tag), got, seeded(0, tag).bytes(100))); err != nil {
				return err
			}
		}
		return nil
	})
}

func inOrder(ctx context.Context, comm group.Communicator) error {
	lengths := []int{3, 35, 1, 0, 100_000, 0, 8, 70_000, 2}
	return onPair(comm, func() error {
		for i, n := range lengths {
			if err := comm.Send(ctx, 1, 4, seeded(i, n).bytes(n)); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for i, n := range lengths {
			got := make([]byte, n)
			err := comm.Recv(ctx, 0, 4, got)
			if err := first(err, equal(fmt.Sprintf("message %d", i), got, seeded(i, n).bytes(n))); err != nil {
				return err
			}
		}
		return nil
	})
}

func anotherLength(ctx context.Context, comm group.Communicator) error {
	const tag = 6
	cases := []struct{ sent, wanted int }{{8, 4}, {4, 8}, {0, 3}, {3, 0}, {1 << 20, 10}, {10, 1 << 20}}
	err := onPair(comm, func() error {
		for i, c := range cases {
			err := comm.Send(ctx, 1, tag, make([]byte, c.sent))
			if err := first(err, comm.Send(ctx, 1, tag, seeded(i, tag).bytes(9))); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for i, c := range cases {
			err := comm.Recv(ctx, 0, tag, make([]byte, c.wanted))
			var length *group.LengthError
			if !errors.As(err, &length) || *length != (group.LengthError{Src: 0, Tag: tag, Got: c.sent, Want: c.wanted}) {
				return fmt.Errorf("%d bytes into %d: error %v, want a LengthError with these numbers", c.sent, c.wanted, err)
			}
			got := make([]byte, 9)
			err = comm.Recv(ctx, 0, tag, got)
			if err := first(err, equal("next message", got, seeded(i, tag).bytes(9))); err != nil {
				return err
			}
		}
		return nil
	})
	return first(err, sumOfRanks(ctx, comm))
}

func shift(ctx context.Context, comm group.Communicator) error {
	left, right := neighbours(comm)
	size := 1 << 20
	if comm.Size() == 2 {
		size = 8 << 20 // more than any buffer of the system's holds
	}
	got := make([]byte, size)
	if err := exchange(ctx, comm, right, left, 8, seeded(comm.Rank(), 0).bytes(size), got); err != nil {
		return err
	}
	return equal("message from the left", got, seeded(left, 0).bytes(size))
}

func besideCollectives(ctx context.Context, comm group.Communicator) error {
	const rounds = 30
	left, right := neighbours(comm)
	messages := make(chan error, 1)
	go func() {
		for i := range rounds {
			got := make([]byte, 5000)
			err := exchange(ctx, comm, right, left, 9, seeded(comm.Rank(), i).bytes(5000), got)
			if err := first(err, equal("message beside a collective", got, seeded(left, i).bytes(5000))); err != nil {
				messages <- err
				return
			}
		}
		messages <- nil
	}()
	var err error
	for i := 0; i < rounds && err == nil; i++ {
		err = countRound(ctx, comm, i, 1+i*100)
	}
	return first(err, <-messages)
}

func bufferReused(ctx context.Context, comm group.Communicator) error {
	lengths := []int{10, 60_000, 300_000}
	return onPair(comm, func() error {
		buf := make([]byte, 300_000)
		for i, n := range lengths {
			copy(buf, seeded(i, n).bytes(n))
			if err := comm.Send(ctx, 1, 2, buf[:n]); err != nil {
				return err
			}
			clear(buf)
		}
		return nil
	}, func() error {
		for i, n := range lengths {
			got := make([]byte, n)
			err := comm.Recv(ctx, 0, 2, got)
			if err := first(err, equal("message", got, seeded(i, n).bytes(n))); err != nil {
				return err
			}
		}
		return nil
	})
}

func wrongPeers(ctx context.Context, comm group.Communicator) error {
	for _, peer := range []int{comm.Rank(), -1, comm.Size(), comm.Size() + 100} {
		if comm.Send(ctx, peer, 1, []byte{1}) == nil {
			return fmt.Errorf("send to rank %d gave no error", peer)
		}
		if comm.Recv(ctx, peer, 1, []byte{1}) == nil {
			return fmt.Errorf("receive from rank %d gave no error", peer)
		}
	}
	if comm.Size() > 1 {
		left, right := neighbours(comm)
		if comm.Send(ctx, right, -1, []byte{1}) == nil || comm.Recv(ctx, left, -1, []byte{1}) == nil {
			return errors.New("tag -1 gave no error")
		}
	}
	return sumOfRanks(ctx, comm)
}

// receiveGivenUp is played by rank 0; what it does to the others is not said.
func receiveGivenUp(ctx context.Context, comm group.Communicator) error {
	if comm.Rank() != 0 {
		return nil
	}
	ctx, cancel := soon(ctx)
	defer cancel()
	err := comm.Recv(ctx, 1, 1, make([]byte, 10))
	if !errors.Is(err, errSoon) {
		return fmt.Errorf("error %v, want one that holds %q", err, errSoon)
	}
	return names(err, 1)
}
