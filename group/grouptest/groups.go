package grouptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// groupCases judge what Group makes of a communicator: what it composes from
// other calls, the checks it adds and the errors it passes on.
func groupCases() []testCase {
	return []testCase{
		{
			name:  "group: reductions of typed slices",
			rule:  "AllReduce of a slice combines it in place with the rules of its element type.",
			rows:  []string{"B7"},
			least: 1,
			check: onGroup(typedReduce),
		},
		{
			name:  "group: gather of typed slices",
			rule:  "AllGather returns every rank's elements in rank order.",
			least: 1,
			check: onGroup(typedGather),
		},
		{
			name:  "group: broadcast",
			rule:  "Broadcast copies the data of any root to every rank.",
			least: 1,
			check: onGroup(broadcast),
		},
		{
			name:  "group: reduce scatter",
			rule:  "ReduceScatter leaves a rank's slice of what AllReduce gives, and its input unchanged.",
			rows:  []string{"C1", "C11"},
			least: 1,
			check: onGroup(reduceScatter),
		},
		{
			name:  "group: gather to a root and scatter from it",
			rule:  "Gather brings every rank's data to the root, Scatter takes it back.",
			least: 1,
			check: onGroup(gatherAndScatter),
		},
		{
			name:  "group: all to all",
			rule:  "AllToAll sends slice i to rank i and receives slice i from rank i.",
			least: 1,
			check: onGroup(allToAll),
		},
		{
			name:  "group: barrier",
			rule:  "Barrier waits for every rank, and collectives after it work.",
			least: 1,
			check: onGroup(func(ctx context.Context, g *group.Group) error {
				return first(g.Barrier(ctx), g.Barrier(ctx), typedGather(ctx, g))
			}),
		},
		{
			name:  "group: messages of any length",
			rule:  "Recv returns as many elements as were sent, also none.",
			rows:  []string{"B5"},
			least: 2,
			check: onGroup(typedMessages),
		},
		{
			name:  "group: message of another type or shape",
			rule:  "An array of another type or shape than the receiver wants is an error that names both; it is dropped and the next one arrives whole.",
			rows:  []string{"S10", "S11"},
			least: 2,
			check: onGroup(otherMessage),
		},
		{
			name:  "group: several goroutines",
			rule:  "Collectives of several goroutines on one group run one at a time.",
			least: 2,
			check: onGroup(severalGoroutines),
		},
		{
			name:  "group: wrong arguments",
			rule:  "A wrong argument is an error at once and leaves the group as it was.",
			least: 2,
			check: onGroup(wrongArguments),
		},
		{
			name:  "group: negative keys of a split",
			rule:  "A negative key stands for the rank itself.",
			rows:  []string{"P5"},
			least: 4,
			most:  4,
			needs: splitter,
			check: onGroup(negativeKeys),
		},
		{
			name:  "group: sit a split out",
			rule:  "A rank with NoColor gets a group of size 0, every operation on which is an error.",
			least: 2,
			needs: splitter,
			check: onGroup(sitGroupOut),
		},
		{
			name:  "group: ranks call different collectives",
			rule:  "When ranks disagree, every rank gets an error that says what each of them called; later calls fail at once.",
			least: 2,
			ends:  true,
			check: onGroup(differentCollectives),
		},
		{
			name:  "group: timeout",
			rule:  "The group's own timeout ends a call with an error that names the ranks that did not come.",
			least: 2,
			ends:  true,
			check: groupTimeout,
		},
		{
			name:  "group: a rank that gives up before its collective",
			rule:  "A rank that cannot take part in a collective ends it for the others at once, with its reason.",
			least: 2,
			ends:  true,
			needs: breaker,
			check: onGroup(givesUpEarly),
		},
		{
			name:  "group: close",
			rule:  "Close leaves; a second one does nothing; later calls are ErrClosed.",
			least: 2,
			ends:  true,
			check: onGroup(closeGroup),
		},
	}
}

// onGroup makes a check of a communicator out of one of a group on it.
func onGroup(check func(ctx context.Context, g *group.Group) error) check {
	return func(ctx context.Context, comm group.Communicator) error { return check(ctx, group.New(comm)) }
}

// sameElements compares slices of numbers.
func sameElements[T comparable](what string, got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

func typedReduce(ctx context.Context, g *group.Group) error {
	r, n := g.Rank(), g.Size()
	floats := []float32{float32(r), 1, -float32(r)}
	flags := []bool{r == n-1, false, true}
	halves := []dtype.F16{dtype.F16From(float64(r))}
	return first(
		group.AllReduce(ctx, g, group.Sum, floats),
		group.AllReduce(ctx, g, group.Max, flags),
		group.AllReduce(ctx, g, group.Mean, halves),
		sameElements("sum", floats, []float32{float32(n * (n - 1) / 2), float32(n), -float32(n * (n - 1) / 2)}),
		sameElements("or", flags, []bool{true, false, true}),
		sameElements("mean", halves, []dtype.F16{dtype.F16From(float64(n-1) / 2)}))
}

func typedGather(ctx context.Context, g *group.Group) error {
	var want []int16
	for r := range g.Size() {
		want = append(want, int16(-r), 7)
	}
	got, err := group.AllGather(ctx, g, []int16{int16(-g.Rank()), 7})
	return first(err, sameElements("gather", got, want))
}

func broadcast(ctx context.Context, g *group.Group) error {
	for root := range g.Size() {
		for _, n := range []int{0, 5, 50_000} {
			data := seeded(g.Rank(), n).bytes(n)
			err := g.Broadcast(ctx, root, data)
			if err := first(err, equal(fmt.Sprintf("broadcast from rank %d", root), data, seeded(root, n).bytes(n))); err != nil {
				return err
			}
		}
	}
	return nil
}

func reduceScatter(ctx context.Context, g *group.Group) error {
	for _, elems := range []int{0, 1, 1500} {
		ins := inputs(dtype.Float32, g.Size(), elems*g.Size(), elems)
		in, out := bytes.Clone(ins[g.Rank()]), make([]byte, 4*elems)
		err := g.ReduceScatterBytes(ctx, group.Mean, dtype.Float32, in, out)
		slices := make([][]byte, g.Size())
		for r := range slices {
			slices[r] = ins[r][len(out)*g.Rank():][:len(out)]
		}
		err = first(err, matches(ctx, "slice of the mean", group.Mean, dtype.Float32, out, slices), equal("input afterwards", in, ins[g.Rank()]))
		if err != nil {
			return err
		}
	}
	return nil
}

func gatherAndScatter(ctx context.Context, g *group.Group) error {
	const n = 3000
	for root := range g.Size() {
		in, back := seeded(g.Rank(), root).bytes(n), make([]byte, n)
		var all, want []byte
		if g.Rank() == root {
			all = make([]byte, n*g.Size())
			for r := range g.Size() {
				want = append(want, seeded(r, root).bytes(n)...)
			}
		}
		err := first(
			g.Gather(ctx, root, in, all),
			equal(fmt.Sprintf("gathered to rank %d", root), all, want),
			g.Scatter(ctx, root, all, back),
			equal(fmt.Sprintf("scattered from rank %d", root), back, in))
		if err != nil {
			return err
		}
	}
	return nil
}

func allToAll(ctx context.Context, g *group.Group) error {
	for _, n := range []int{0, 3, 20_000} {
		var in, want []byte
		for r := range g.Size() {
			in = append(in, seeded(g.Rank(), r).bytes(n)...)
			want = append(want, seeded(r, g.Rank()).bytes(n)...)
		}
		out := make([]byte, len(in))
		err := g.AllToAll(ctx, in, out)
		if err := first(err, equal("all to all", out, want)); err != nil {
			return err
		}
	}
	return nil
}

func typedMessages(ctx context.Context, g *group.Group) error {
	lengths := []int{3, 0, 1, 40_000}
	numbers := func(n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = float64(i) / 3
		}
		return xs
	}
	return onPair(g.Communicator(), func() error {
		for _, n := range lengths {
			if err := group.Send(ctx, g, 1, 5, numbers(n)); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for _, n := range lengths {
			got, err := group.Recv[float64](ctx, g, 0, 5)
			if err != nil {
				return err
			}
			if !slices.Equal(got, numbers(n)) {
				return fmt.Errorf("%d elements arrived wrong (%d of them)", n, len(got))
			}
		}
		return nil
	})
}

func otherMessage(ctx context.Context, g *group.Group) error {
	send := func(shape []int) error {
		return g.SendMessage(ctx, 1, 5, dtype.Float32, shape, make([]byte, 24))
	}
	refuse := func(t dtype.Type, shape []int, words string) error {
		return says(g.RecvMessage(ctx, 0, 5, t, shape, make([]byte, 24)), words)
	}
	err := onPair(g.Communicator(), func() error {
		return first(send([]int{2, 3}), send([]int{2, 3}), send([]int{6}))
	}, func() error {
		return first(
			refuse(dtype.Int32, []int{2, 3}, "int32"),
			refuse(dtype.Float32, []int{3, 2}, "float32"),
			g.RecvMessage(ctx, 0, 5, dtype.Float32, []int{6}, make([]byte, 24)))
	})
	return first(err, typedGather(ctx, g))
}

func severalGoroutines(ctx context.Context, g *group.Group) error {
	const goroutines, rounds = 4, 20
	errs := make(chan error, goroutines)
	for range goroutines {
		go func() {
			var err error
			for i := 0; i < rounds && err == nil; i++ {
				xs := []int64{1, int64(g.Rank())}
				err = first(
					group.AllReduce(ctx, g, group.Sum, xs),
					sameElements("sum", xs, []int64{int64(g.Size()), int64(g.Size() * (g.Size() - 1) / 2)}))
			}
			errs <- err
		}()
	}
	var err error
	for range goroutines {
		err = first(err, <-errs)
	}
	return err
}

func wrongArguments(ctx context.Context, g *group.Group) error {
	wrong := map[string]error{
		"mean of integers":       group.AllReduce(ctx, g, group.Mean, []int32{1}),
		"half an element":        g.AllReduceBytes(ctx, group.Sum, dtype.Float32, make([]byte, 6)),
		"gather into too little": g.AllGatherBytes(ctx, make([]byte, 2), make([]byte, 1)),
		"root beyond the ranks":  g.Broadcast(ctx, g.Size(), make([]byte, 1)),
		"send to oneself":        group.Send(ctx, g, g.Rank(), 0, []bool{true}),
		"reserved tag":           group.Send(ctx, g, (g.Rank()+1)%g.Size(), group.TagReserved, []bool{true}),
	}
	for name, err := range wrong {
		if err == nil {
			return fmt.Errorf("%s gave no error", name)
		}
	}
	return typedGather(ctx, g)
}

func negativeKeys(ctx context.Context, g *group.Group) error {
	keys, want := []int{-1, 0, group.KeepRank, 1}, []int{0, 1, 3, 2}
	sub, err := g.Split(ctx, 0, keys[g.Rank()])
	if err != nil {
		return err
	}
	err = typedGather(ctx, sub)
	if sub.Rank() != want[g.Rank()] {
		err = fmt.Errorf("rank %d, want %d", sub.Rank(), want[g.Rank()])
	}
	return first(err, sub.Close())
}

func sitGroupOut(ctx context.Context, g *group.Group) error {
	color := 2
	if g.IsLeader() {
		color = group.NoColor
	}
	sub, err := g.Split(ctx, color, group.KeepRank)
	switch {
	case err != nil:
		return err
	case !g.IsLeader():
		return first(typedGather(ctx, sub), sub.Close())
	case sub.Size() != 0:
		return fmt.Errorf("size %d, want 0", sub.Size())
	case sub.Barrier(ctx) == nil || group.AllReduce(ctx, sub, group.Sum, []int8{1}) == nil:
		return errors.New("a collective without ranks gave no error")
	}
	return sub.Close()
}

func differentCollectives(ctx context.Context, g *group.Group) error {
	var err error
	if isLast(g.Communicator()) {
		_, err = group.AllGather(ctx, g, []float32{1, 2})
	} else {
		err = group.AllReduce(ctx, g, group.Sum, []float32{1, 2})
	}
	if !errors.Is(err, group.ErrMismatch) {
		return fmt.Errorf("error %q, want one that wraps ErrMismatch", fmt.Sprint(err))
	}
	return first(says(err, "all_reduce"), says(err, "all_gather"), names(err, g.Size()-1), endedGroup(ctx, g))
}

// endedGroup checks that a call on a broken group does not wait.
func endedGroup(ctx context.Context, g *group.Group) error {
	err := g.Barrier(ctx)
	var broken *group.BrokenError
	if !errors.As(err, &broken) || ctx.Err() != nil {
		return fmt.Errorf("a later call gave %v, want a BrokenError at once", err)
	}
	return nil
}

func groupTimeout(ctx context.Context, comm group.Communicator) error {
	if isLast(comm) {
		return nil
	}
	g := group.NewWith(comm, group.Config{Timeout: soonTime})
	err := g.Barrier(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("waited for the caller's context: %w", err)
	}
	return first(says(err, "timeout"), names(err, comm.Size()-1))
}

func givesUpEarly(ctx context.Context, g *group.Group) error {
	if isLast(g.Communicator()) {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errSoon)
		return says(g.Barrier(ended), errSoon.Error())
	}
	err := g.Barrier(ctx)
	return first(says(err, errSoon.Error()), endedGroup(ctx, g))
}

func closeGroup(ctx context.Context, g *group.Group) error {
	if err := first(g.Close(), g.Close()); err != nil {
		return err
	}
	if err := g.Barrier(ctx); !errors.Is(err, group.ErrClosed) {
		return fmt.Errorf("barrier after Close: %v, want ErrClosed", err)
	}
	return nil
}
