package grouptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// federatedCases judge the average that waits for nobody, and the way that its
// messages go.
func federatedCases() []testCase {
	return []testCase{
		{
			name:  "federated average: all in time",
			rule:  "All ranks get the mean of all, the leader the number of ranks and the others 0; with one rank it is the value itself.",
			rows:  []string{"B15"},
			least: 1,
			check: onGroup(allInTime),
		},
		{
			name:  "federated average: a rank behind the deadline",
			rule:  "The leader waits for the deadline, not for the late rank; the others get the average without it, so does the late rank when it comes, and its values do not count in the next round.",
			rows:  []string{"B16", "B17"},
			least: 3,
			most:  3,
			ends:  true, // so that nobody waits for its deadline
			check: onGroup(behindDeadline),
		},
		{
			name:  "federated average: no deadline",
			rule:  "With a deadline of 0 the leader waits for nobody: all ranks get its values and it counts itself.",
			rows:  []string{"B18"},
			least: 2,
			check: onGroup(noDeadline),
		},
		{
			name:  "federated average: wrong arguments",
			rule:  "Wrong arguments are errors before anything is sent.",
			least: 1,
			check: onGroup(wrongAverages),
		},
		{
			name:  "federated average: other elements than the leader's",
			rule:  "A rank with other elements than the leader is left out and told so; the others average.",
			least: 2,
			most:  2,
			ends:  true,
			check: onGroup(otherElements),
		},
		{
			name:  "federated average: a rank that has left",
			rule:  "A rank that has left is missing and that is all: no error, no wait for the deadline.",
			rows:  []string{"B18"},
			least: 2,
			ends:  true,
			check: onGroup(averageOfThoseLeft),
		},
		{
			name:  "federated average: the leader has left",
			rule:  "Without rank 0 the others get an error that names it and keep their values.",
			least: 2,
			ends:  true,
			check: onGroup(noLeader),
		},
		{
			name:  "federated average: on a broken group",
			rule:  "A lifeline carries federated averages on when the group is broken.",
			least: 2,
			ends:  true,
			needs: ability{"group.Lifeliner and group.Breaker", func(comm group.Communicator) bool {
				return lifeliner.has(comm) && breaker.has(comm)
			}},
			check: onGroup(averageOfTheBroken),
		},
		{
			name:  "lifeline",
			rule:  "Messages over the lifeline meet none of the communicator's own, outlive a break and fail for peers that are gone alone.",
			least: 2,
			ends:  true,
			needs: ability{"group.Lifeliner and group.Breaker", func(comm group.Communicator) bool {
				return lifeliner.has(comm) && breaker.has(comm)
			}},
			check: overLifeline,
		},
	}
}

const (
	// longDeadline is for rounds that end before.
	longDeadline = caseTime / 2
	// shortDeadline has to pass, and those that are in time have to make it.
	shortDeadline = 2 * time.Second
)

// average runs one round and checks what it gives.
func average(ctx context.Context, g *group.Group, deadline time.Duration, mine, want float32, participants int) error {
	if !g.IsLeader() {
		participants = 0
	}
	xs := []float32{mine, -mine}
	got, err := group.FederatedAverage(ctx, g, xs, deadline)
	switch {
	case err != nil:
		return err
	case !slices.Equal(xs, []float32{want, -want}):
		return fmt.Errorf("average %v, want %v", xs, want)
	case got != participants:
		return fmt.Errorf("%d participants, want %d", got, participants)
	}
	return nil
}

// mean of the values of the ranks below n.
func mean(n int, value func(rank int) float32) float32 {
	sum := float32(0)
	for r := range n {
		sum += value(r)
	}
	return sum / float32(n)
}

func allInTime(ctx context.Context, g *group.Group) error {
	// 1, 2, 6 average to 3, and so on by threes.
	value := func(rank int) float32 { return []float32{1, 2, 6}[rank%3] }
	n := g.Size()
	for round := range 3 {
		scaled := func(rank int) float32 { return value(rank) * float32(int(1)<<round) }
		want := mean(n, scaled)
		if n == 3 {
			want = 3 * float32(int(1)<<round)
		}
		if err := average(ctx, g, longDeadline, scaled(g.Rank()), want, n); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	large := make([]float64, 100_000)
	for i := range large {
		large[i] = float64(i * g.Rank())
	}
	_, err := group.FederatedAverage(ctx, g, large, longDeadline)
	for i := range large {
		if want := float64(i) * float64(n-1) / 2; err == nil && large[i] != want {
			err = fmt.Errorf("element %d of many is %v, want %v", i, large[i], want)
		}
	}
	return err
}

// behindDeadline has the last rank begin the round when the leader has ended it.
func behindDeadline(ctx context.Context, g *group.Group) error {
	const over = 7
	n, late := g.Size(), isLast(g.Communicator())
	value := func(rank int) float32 { return []float32{1, 2, 6}[rank] }
	if err := g.Barrier(ctx); err != nil { // all are there when the deadline begins to count
		return err
	}
	if late {
		if _, err := group.Recv[bool](ctx, g, 0, over); err != nil {
			return err
		}
	}
	if err := average(ctx, g, shortDeadline, value(g.Rank()), 1.5, n-1); err != nil {
		return fmt.Errorf("round with a late rank: %w", err)
	}
	if g.IsLeader() {
		if err := group.Send(ctx, g, n-1, over, []bool{true}); err != nil {
			return err
		}
	}
	next := func(rank int) float32 { return float32(rank) }
	if err := average(ctx, g, longDeadline, next(g.Rank()), mean(n, next), n); err != nil {
		return fmt.Errorf("round after it: %w", err)
	}
	return typedGather(ctx, g)
}

func noDeadline(ctx context.Context, g *group.Group) error {
	return first(
		average(ctx, g, 0, float32(5+g.Rank()), 5, 1),
		average(ctx, g, longDeadline, float32(g.Rank()), mean(g.Size(), func(rank int) float32 { return float32(rank) }), g.Size()))
}

func wrongAverages(ctx context.Context, g *group.Group) error {
	_, integers := group.FederatedAverage(ctx, g, []int32{1}, longDeadline)
	_, halves := g.FederatedAverage(ctx, dtype.Float32, make([]byte, 6), longDeadline)
	return first(
		says(integers, "mean of int32"),
		says(halves, "6 bytes"),
		average(ctx, g, longDeadline, 4, 4, g.Size()))
}

// otherElements: the last rank has one element more in the first round and another
// type in the second. The deadline has to pass in the first, as it may still send
// what fits.
func otherElements(ctx context.Context, g *group.Group) error {
	last := isLast(g.Communicator())
	n := g.Size()
	if !last {
		return first(
			average(ctx, g, shortDeadline/4, 8, 8, n-1),
			average(ctx, g, longDeadline, 8, 8, n-1))
	}
	three := []float32{1, 2, 3}
	_, err := group.FederatedAverage(ctx, g, three, shortDeadline/4)
	if err := first(says(err, "8 bytes"), says(err, "want 12"), names(err, 0)); err != nil {
		return fmt.Errorf("another number of elements: %w", err)
	}
	_, err = group.FederatedAverage(ctx, g, []float64{1}, longDeadline)
	return first(
		says(err, "float32"), says(err, "float64"), names(err, 0),
		sameElements("values", three, []float32{1, 2, 3}))
}

func averageOfThoseLeft(ctx context.Context, g *group.Group) error {
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	if isLast(g.Communicator()) {
		return g.Close()
	}
	want := mean(g.Size()-1, func(rank int) float32 { return float32(rank + 1) })
	start := time.Now()
	err := average(ctx, g, longDeadline, float32(g.Rank()+1), want, g.Size()-1)
	if err == nil && time.Since(start) > longDeadline {
		err = errors.New("waited for a rank that has left until the deadline")
	}
	return err
}

func noLeader(ctx context.Context, g *group.Group) error {
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	if g.IsLeader() {
		return g.Close()
	}
	xs := []float32{float32(g.Rank())}
	_, err := group.FederatedAverage(ctx, g, xs, longDeadline)
	if err != nil && strings.Contains(err.Error(), "no average within") {
		return fmt.Errorf("waited for a leader that has left: %w", err)
	}
	return first(
		says(err, "federated_average #1"), names(err, 0),
		sameElements("values", xs, []float32{float32(g.Rank())}))
}

func averageOfTheBroken(ctx context.Context, g *group.Group) error {
	if isLast(g.Communicator()) {
		g.Abandon(1, "its work", errSoon)
	} else if err := says(g.Barrier(ctx), errSoon.Error()); err != nil {
		return err
	}
	return first(
		average(ctx, g, longDeadline, float32(g.Rank()), mean(g.Size(), func(rank int) float32 { return float32(rank) }), g.Size()),
		endedGroup(ctx, g))
}

func overLifeline(ctx context.Context, comm group.Communicator) error {
	line := comm.(group.Lifeliner).Lifeline()
	left, right := neighbours(comm)
	if line.Rank() != comm.Rank() || line.Size() != comm.Size() {
		return fmt.Errorf("rank %d of %d, want %d of %d", line.Rank(), line.Size(), comm.Rank(), comm.Size())
	}
	got := make([]byte, 1)
	if err := first(
		line.Send(ctx, right, 1, []byte{2}),
		comm.Send(ctx, right, 1, []byte{3}),
		comm.Recv(ctx, left, 1, got), equal("own message", got, []byte{3}),
		line.Recv(ctx, left, 1, got), equal("message over the lifeline", got, []byte{2}),
		barrier(ctx, comm)); err != nil {
		return err
	}
	if isLast(comm) {
		comm.(group.Breaker).Break(errSoon)
	}
	if err := says(barrier(ctx, comm), errSoon.Error()); err != nil {
		return err
	}
	large := seeded(comm.Rank(), 0).bytes(1 << 20)
	back := make([]byte, len(large))
	if err := first(
		exchange(ctx, line, right, left, 1, large, back),
		equal("message after the break", back, seeded(left, 0).bytes(len(back)))); err != nil {
		return err
	}
	if isLast(comm) {
		return comm.Close()
	}
	return names(line.Recv(ctx, comm.Size()-1, 2, got), comm.Size()-1)
}
