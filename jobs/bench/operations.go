package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// operation is something to measure.
type operation struct {
	name, title string
	kind        kind
	sizes       []int // bytes, unless -sizes says
	prepare     func(c call) trial
}

// kind is how an operation is timed.
type kind int

const (
	collective kind = iota // by all ranks, after a barrier
	alone                  // by all ranks, one call right after the other
	latency                // by rank 0, which sees a message go and come
	bandwidth              // by rank 0, which sees a window of messages acknowledged
)

// empty operations move no elements.
func (op operation) empty() bool { return op.kind == alone }

// pair operations go between the first rank and the last.
func (op operation) pair() bool { return op.kind == latency || op.kind == bandwidth }

// call is what one rank calls.
type call struct {
	g    *group.Group
	t    dtype.Type
	size int // bytes
}

// trial is an operation ready to run on one rank.
type trial struct {
	run    func(ctx context.Context) error
	verify func() error // looks at what the first run left, and at nothing later
}

var (
	messageSizes = []int{4, 8, 64, 512, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib}
	streamSizes  = []int{kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, 512 * kib, mib, 2 * mib, 4 * mib, 8 * mib, 16 * mib}
	// 16 KiB and 128 KiB are 4,096 and 32,768 float32, what layers that are divided over
	// ranks reduce.
	collectiveSizes = []int{4, 8, 64, kib, 4 * kib, 16 * kib, 128 * kib, mib}
)

// catalogue lists the operations in the order of the tables.
var catalogue = []operation{
	{"latency", "Latency", latency, messageSizes, pingPong},
	{"bandwidth", "Bandwidth", bandwidth, streamSizes, stream},
	{"all_reduce", "Allreduce Latency", collective, collectiveSizes, allReduce},
	{"all_gather", "Allgather Latency", collective, collectiveSizes, allGather},
	{"reduce_scatter", "Reduce_scatter Latency", collective, collectiveSizes, reduceScatter},
	{"all_to_all", "Alltoall Latency", collective, collectiveSizes, allToAll},
	{"broadcast", "Broadcast Latency", collective, collectiveSizes, broadcast},
	{"gather", "Gather Latency", collective, collectiveSizes, gather},
	{"scatter", "Scatter Latency", collective, collectiveSizes, scatter},
	{"barrier", "Barrier Latency", alone, nil, barrier},
}

func names(ops []operation) (list []string) {
	for _, op := range ops {
		list = append(list, op.name)
	}
	return list
}

func allReduce(c call) trial {
	data := filled(c.t, c.size, 0, c.g.Rank())
	want := summed(c.t, c.size, 0, c.g.Size())
	return trial{
		func(ctx context.Context) error { return c.g.AllReduceBytes(ctx, group.Sum, c.t, data) },
		func() error {
			err := c.same(data, want)
			clear(data) // sums of sums would leave the range
			return err
		},
	}
}

func allGather(c call) trial {
	in, out := filled(c.t, c.size, 0, c.g.Rank()), make([]byte, c.size*c.g.Size())
	return trial{
		func(ctx context.Context) error { return c.g.AllGatherBytes(ctx, in, out) },
		func() error { return c.same(out, c.parts(func(rank int) int { return rank })) },
	}
}

func reduceScatter(c call) trial {
	in, out := filled(c.t, c.size*c.g.Size(), 0, c.g.Rank()), make([]byte, c.size)
	return trial{
		func(ctx context.Context) error { return c.g.ReduceScatterBytes(ctx, group.Sum, c.t, in, out) },
		func() error {
			return c.same(out, summed(c.t, c.size, c.g.Rank()*c.size/c.t.Size(), c.g.Size()))
		},
	}
}

func allToAll(c call) trial {
	n, me := c.g.Size(), c.g.Rank()
	in, out := c.parts(func(to int) int { return me*n + to }), make([]byte, c.size*n)
	return trial{
		func(ctx context.Context) error { return c.g.AllToAll(ctx, in, out) },
		func() error { return c.same(out, c.parts(func(from int) int { return from*n + me })) },
	}
}

func broadcast(c call) trial {
	want, data := filled(c.t, c.size, 0, 1), make([]byte, c.size)
	if c.g.IsLeader() {
		copy(data, want)
	}
	return trial{
		func(ctx context.Context) error { return c.g.Broadcast(ctx, 0, data) },
		func() error { return c.same(data, want) },
	}
}

func gather(c call) trial {
	in, out := filled(c.t, c.size, 0, c.g.Rank()), []byte(nil)
	if c.g.IsLeader() {
		out = make([]byte, c.size*c.g.Size())
	}
	return trial{
		func(ctx context.Context) error { return c.g.Gather(ctx, 0, in, out) },
		func() error {
			if !c.g.IsLeader() {
				return nil
			}
			return c.same(out, c.parts(func(rank int) int { return rank }))
		},
	}
}

func scatter(c call) trial {
	in, out := []byte(nil), make([]byte, c.size)
	if c.g.IsLeader() {
		in = c.parts(func(rank int) int { return rank })
	}
	return trial{
		func(ctx context.Context) error { return c.g.Scatter(ctx, 0, in, out) },
		func() error { return c.same(out, filled(c.t, c.size, 0, c.g.Rank())) },
	}
}

func barrier(c call) trial { return trial{c.g.Barrier, func() error { return nil }} }

// parts is size bytes for each rank, one after the other.
func (c call) parts(salt func(rank int) int) (all []byte) {
	all = make([]byte, 0, c.size*c.g.Size())
	for rank := range c.g.Size() {
		all = append(all, filled(c.t, c.size, 0, salt(rank))...)
	}
	return all
}

var errWrong = errors.New("wrong result")

// same compares a result with what it should be.
func (c call) same(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for got[at] == want[at] {
		at++
	}
	return fmt.Errorf("%w: byte %d of %d is %d, want %d", errWrong, at, len(want), got[at], want[at])
}
