package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// followGrace is what a rank waits for the leader beyond twice the deadline.
const followGrace = time.Second

// FederatedAverage replaces data, elements of t, by the mean over those ranks that
// come in time. It is one round of an average that goes on without ranks which are
// late or gone: unlike a collective it waits for nobody beyond the deadline, and
// neither that nor a lost peer is an error or breaks the group.
//
// Rank 0 leads. It waits for the others' values, at most for the deadline from its
// own call, averages what has come with its own, in rank order as AllReduceBytes
// does with Mean, and returns the number of participants, itself among them. With
// a deadline of 0 it does not wait, and averages its own values alone. The other
// ranks return 0 and the average, also those that came too late to be counted in
// it: it waits for them. What a late rank sent is never counted in a later round.
//
// Rounds are counted by calls, so all ranks call it equally often; a rank that is
// behind by more than one round may get a later average, and is then in that
// round. A rank whose elements are of another type or number is left out and gets
// an error.
//
// When rank 0 gives no answer within twice the deadline and a second, or is gone,
// the other ranks get an error that names it, and data is as before; the group is
// not broken by that, and the call may be made again. Nobody takes the place of a rank 0
// that died. The end of ctx ends the call with an error and breaks nothing.
//
// On the ring it works also on a group that is broken, with those ranks that are
// left. On MPI a process that dies ends the job, and a broken group has no more
// messages. Close of rank 0 gives averages two seconds to leave for ranks that are
// late. Safe for use from several goroutines, a round at a time; it never waits for
// a collective.
func (g *Group) FederatedAverage(ctx context.Context, t dtype.Type, data []byte, deadline time.Duration) (participants int, err error) {
	if err := checkReduce("federated_average", Mean, t, len(data)); err != nil {
		return 0, err
	}
	if g.size == 1 {
		return 1, nil
	}
	what := reduction("federated_average", Mean, t, len(data))
	f, err := g.federate()
	if err != nil {
		return 0, within(what, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.life, func() { cancel(ErrClosed) })()
	if err := acquire(ctx, f.turn); err != nil {
		return 0, within(what, err)
	}
	defer release(f.turn)
	f.round++
	what.run = f.round
	mine := parcel{f.round, t, data}
	if g.IsLeader() {
		participants, err = g.lead(ctx, f, mine, deadline)
	} else {
		err = f.follow(ctx, mine, deadline)
	}
	if err != nil {
		return 0, g.explain(what, err)
	}
	return participants, nil
}

// FederatedAverage is the method for elements, which are as before after an error.
func FederatedAverage[T dtype.Element](ctx context.Context, g *Group, xs []T, deadline time.Duration) (participants int, err error) {
	work := slices.Clone(xs)
	participants, err = orDefault(g).FederatedAverage(ctx, dtype.Of[T](), buffer.Bytes(work), deadline)
	if err == nil {
		copy(xs, work)
	}
	return participants, err
}

// lead plays rank 0 in one round.
func (g *Group) lead(ctx context.Context, f *federation, mine parcel, deadline time.Duration) (participants int, err error) {
	parts := [][]byte{mine.data}
	if deadline > 0 {
		waiting, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		parts = append(parts, f.collect(waiting, mine, g.leftOut)...)
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	message := mine.encode()
	reduce.Into(reduce.Mean, mine.t, message[parcelHead:], parts)
	for r := 1; r < g.size; r++ {
		f.post(r, message)
	}
	copy(mine.data, message[parcelHead:])
	return len(parts), nil
}

// leftOut tells of a rank whose values cannot be averaged with the others'.
func (g *Group) leftOut(rank int, why error) {
	g.logger.Warn("federated_average: a rank is left out", "peer", rank, "err", why)
}

// follow plays another rank than 0: it offers its values and takes the average of
// this round or of the next later one that there is.
func (f *federation) follow(ctx context.Context, mine parcel, deadline time.Duration) error {
	f.post(0, mine.encode())
	patience := 2*max(deadline, 0) + followGrace
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no average within %v: %w", patience, context.DeadlineExceeded))
	defer cancel()
	var other *LengthError
	for {
		mean, err := f.receive(ctx, 0, len(mine.data))
		switch {
		case errors.As(err, &other):
			continue // of an earlier round, or this rank is wrong
		case err != nil && other != nil:
			return fmt.Errorf("%w; %w", err, other)
		case err != nil:
			return err
		case mean.round < mine.round:
			continue
		case mean.t != mine.t:
			return fmt.Errorf("rank 0 averages %v, this rank %v", mean.t, mine.t)
		}
		f.round = mean.round
		copy(mine.data, mean.data)
		return nil
	}
}
