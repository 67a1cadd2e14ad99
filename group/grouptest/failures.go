package grouptest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// failureCases end their worlds. The last rank is the one that misbehaves.
func failureCases() []testCase {
	cases := []testCase{
		{
			name:  "collective past its deadline",
			rule:  "The end of its context ends a collective with an error that holds the cause and names the ranks that did not come; later calls fail at once.",
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				ctx, cancel := context.WithTimeoutCause(ctx, soonTime, errSoon)
				defer cancel()
				return giveUp(ctx, comm)
			},
		},
		{
			name:  "collective that is cancelled",
			rule:  "The end of its context ends a collective with an error that holds the cause and names the ranks that did not come; later calls fail at once.",
			least: 2,
			check: func(ctx context.Context, comm group.Communicator) error {
				ctx, cancel := soon(ctx)
				defer cancel()
				return giveUp(ctx, comm)
			},
		},
		{
			name:  "closed peer in a collective",
			rule:  "A collective with a rank that has left fails and names that rank.",
			least: 2,
			check: closedPeer,
		},
		{
			name:  "closed peer that owes a message",
			rule:  "A Recv from a rank that has left fails and names that rank.",
			least: 2,
			check: closedSender,
		},
		{
			name:  "close twice",
			rule:  "A second Close does nothing; every call after Close is ErrClosed.",
			least: 2,
			check: closeTwice,
		},
		{
			name:  "close after sending",
			rule:  "Close flushes what was sent: it arrives after the sender has left.",
			least: 2,
			check: closeAfterSending,
		},
		{
			name:  "close while receiving",
			rule:  "Close ends the calls of its own rank that are running.",
			least: 2,
			check: closeWhileReceiving,
		},
		{
			name:  "break ends collectives",
			rule:  "Break fails the calls that are pending at every rank, and all later ones, with the reason and the rank that broke.",
			least: 2,
			needs: breaker,
			check: func(ctx context.Context, comm group.Communicator) error {
				return breakWhile(ctx, comm, func() error { return barrier(ctx, comm) })
			},
		},
		{
			name:  "break ends messages",
			rule:  "Break fails the calls that are pending at every rank, and all later ones, with the reason and the rank that broke.",
			least: 2,
			needs: breaker,
			check: func(ctx context.Context, comm group.Communicator) error {
				return breakWhile(ctx, comm, func() error { return comm.Recv(ctx, comm.Size()-1, 1, make([]byte, 1)) })
			},
		},
		{
			name:  "break of a split",
			rule:  "A broken split leaves its parent usable.",
			least: 2,
			needs: ability{"group.Splitter and group.Breaker", func(comm group.Communicator) bool {
				return splitter.has(comm) && breaker.has(comm)
			}},
			check: breakSplit,
		},
	}
	cases = append(cases, mismatchCases()...)
	for i := range cases {
		cases[i].ends = true
	}
	return cases
}

const soonTime = 100 * time.Millisecond

var errSoon = errors.New("it was enough")

// soon returns a context that is cancelled with errSoon before long.
func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(soonTime, func() { cancel(errSoon) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// isLast reports whether comm belongs to the rank that misbehaves.
func isLast(comm group.Communicator) bool { return comm.Rank() == comm.Size()-1 }

// says checks the text of an error, which is what crosses processes.
func says(err error, words string) error {
	if err == nil || !strings.Contains(err.Error(), words) {
		return fmt.Errorf("error %q, want one that says %q", fmt.Sprint(err), words)
	}
	return nil
}

// names checks that an error names a rank, as in "rank 3" or "ranks 1, 3".
func names(err error, rank int) error {
	if err == nil || !regexp.MustCompile(fmt.Sprintf(`\branks? ([0-9]+(, ?| and ))*%d\b`, rank)).MatchString(err.Error()) {
		return fmt.Errorf("error %q, want one that names rank %d", fmt.Sprint(err), rank)
	}
	return nil
}

// failsAtOnce checks that a call on an ended communicator does not wait.
func failsAtOnce(ctx context.Context, comm group.Communicator) error {
	switch err := barrier(ctx, comm); {
	case err == nil:
		return errors.New("a later call gave no error")
	case ctx.Err() != nil:
		return fmt.Errorf("a later call waited for its context: %w", err)
	}
	return nil
}

func giveUp(short context.Context, comm group.Communicator) error {
	if isLast(comm) {
		return nil
	}
	err := comm.AllReduce(short, group.Sum, dtype.Float32, make([]byte, 8))
	return first(
		says(err, errSoon.Error()),
		names(err, comm.Size()-1),
		failsAtOnce(context.WithoutCancel(short), comm))
}

// waitTime bounds the wait for a rank that has left, where only the bound tells.
const waitTime = 3 * time.Second

// tellsOfLeaving checks the error of a call that the last rank's leaving ended. A
// backend that can tell its peers does not wait for the bound.
func tellsOfLeaving(bounded context.Context, comm group.Communicator, err error) error {
	if err != nil && bounded.Err() != nil && breaker.has(comm) {
		return fmt.Errorf("waited until the deadline: %w", err)
	}
	return names(err, comm.Size()-1)
}

func closedPeer(ctx context.Context, comm group.Communicator) error {
	if err := barrier(ctx, comm); err != nil {
		return err
	}
	if isLast(comm) {
		return comm.Close()
	}
	bounded, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	err := comm.AllReduce(bounded, group.Sum, dtype.Float32, make([]byte, 8))
	return first(tellsOfLeaving(bounded, comm, err), failsAtOnce(ctx, comm))
}

func closedSender(ctx context.Context, comm group.Communicator) error {
	if err := barrier(ctx, comm); err != nil {
		return err
	}
	if isLast(comm) {
		return comm.Close()
	}
	bounded, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	return tellsOfLeaving(bounded, comm, comm.Recv(bounded, comm.Size()-1, 1, make([]byte, 1)))
}

func closeTwice(ctx context.Context, comm group.Communicator) error {
	left, right := neighbours(comm)
	if err := first(comm.Close(), comm.Close()); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	calls := map[string]error{
		"all_reduce": comm.AllReduce(ctx, group.Sum, dtype.Uint8, []byte{1}),
		"all_gather": barrier(ctx, comm),
		"send":       comm.Send(ctx, right, 1, []byte{1}),
		"recv":       comm.Recv(ctx, left, 1, []byte{1}),
	}
	for name, err := range calls {
		if !errors.Is(err, group.ErrClosed) {
			return fmt.Errorf("%s after Close: error %v, want ErrClosed", name, err)
		}
	}
	return nil
}

func closeAfterSending(ctx context.Context, comm group.Communicator) error {
	lengths := []int{1_000_000, 0, 10}
	return onPair(comm, func() error {
		for i, n := range lengths {
			if err := comm.Send(ctx, 1, 3, seeded(i, n).bytes(n)); err != nil {
				return err
			}
		}
		return comm.Close()
	}, func() error {
		for i, n := range lengths {
			got := make([]byte, n)
			err := comm.Recv(ctx, 0, 3, got)
			if err := first(err, equal("message of a rank that has left", got, seeded(i, n).bytes(n))); err != nil {
				return err
			}
		}
		return nil
	})
}

func closeWhileReceiving(ctx context.Context, comm group.Communicator) error {
	left, _ := neighbours(comm)
	received := make(chan error, 1)
	go func() { received <- comm.Recv(ctx, left, 1, make([]byte, 1)) }()
	time.Sleep(soonTime / 10)
	err := comm.Close()
	if <-received == nil {
		return errors.New("a pending Recv gave no error")
	}
	return err
}

func breakWhile(ctx context.Context, comm group.Communicator, pending func() error) error {
	const reason = "the cat sat on the cable"
	last := comm.Size() - 1
	var err error
	if isLast(comm) {
		time.Sleep(soonTime / 10)
		comm.(group.Breaker).Break(errors.New(reason))
		err = barrier(ctx, comm)
	} else {
		err = pending()
	}
	var broken *group.BrokenError
	if !errors.As(err, &broken) || !isLast(comm) && broken.By != last {
		return fmt.Errorf("error %q (%T), want a BrokenError by rank %d", fmt.Sprint(err), err, last)
	}
	return first(
		says(err, reason),
		says(comm.AllReduce(ctx, group.Sum, dtype.Uint8, []byte{1}), reason),
		failsAtOnce(ctx, comm))
}

func breakSplit(ctx context.Context, comm group.Communicator) error {
	return withSplit(ctx, comm, 0, 0, func(child group.Communicator) error {
		return first(
			breakWhile(ctx, child, func() error { return barrier(ctx, child) }),
			sumOfRanks(ctx, comm))
	})
}
