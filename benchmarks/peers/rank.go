package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	_ "github.com/lockstep-go/lockstep/group/all"
)

// The doors of lockstep that a rank goes through: what users hold, and the bare
// backend.
const (
	viaGroup        = "group"
	viaCommunicator = "communicator"
)

// task is what a rank is told to measure.
type task struct {
	effort
	via   string
	op    string
	t     dtype.Type
	sizes []int
}

var kinds = map[string]dtype.Type{"f32": dtype.Float32, "f16": dtype.Float16, "bf16": dtype.BFloat16}

func parseTask(args []string) (task, error) {
	var t task
	flags := flag.NewFlagSet("peers rank", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&t.via, "via", viaGroup, "")
	flags.IntVar(&t.repetitions, "repetitions", 1, "")
	flags.Float64Var(&t.seconds, "seconds", 0.01, "")
	if err := flags.Parse(args); err != nil {
		return t, &usageError{err}
	}
	if flags.NArg() < 3 {
		return t, &usageError{errors.New("rank wants an operation, an element type and sizes")}
	}
	t.op = flags.Arg(0)
	kind, ok := kinds[flags.Arg(1)]
	if !ok || t.via != viaGroup && t.via != viaCommunicator {
		return t, &usageError{fmt.Errorf("no element type %q or no way %q", flags.Arg(1), t.via)}
	}
	t.t = kind
	for _, text := range flags.Args()[2:] {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n%kind.Size() != 0 {
			return t, &usageError{fmt.Errorf("%q is no size in bytes of %v", text, kind)}
		}
		t.sizes = append(t.sizes, n)
	}
	return t, nil
}

// runRank is a rank of lockstep, on whatever backend its launcher stands for.
func runRank(ctx context.Context, args []string) (err error) {
	t, err := parseTask(args)
	if err != nil {
		return err
	}
	g, err := group.Init(ctx, group.Config{Strict: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return runTask(ctx, g, t, os.Stdout)
}

// runTask carries out a task as one rank of a group. Rank 0 writes the figures.
func runTask(ctx context.Context, g *group.Group, t task, out io.Writer) error {
	r := &runner{ctx: ctx, g: g, task: t, door: doorOf(g, t.via), out: out}
	if t.op == idleOp {
		return r.idle()
	}
	for _, n := range t.sizes {
		if err := r.measure(n); err != nil {
			return err
		}
	}
	return nil
}

// runner measures on one rank.
type runner struct {
	ctx  context.Context
	g    *group.Group
	task task
	door door
	data []byte
	out  io.Writer
}

// measure prints the time of one operation on n bytes, once for each
// repetition.
func (r *runner) measure(n int) error {
	r.data = make([]byte, n)
	op, err := r.operation()
	if err == nil && r.task.op == "allreduce" && r.task.t == dtype.Float32 {
		err = r.checkSum()
	}
	if err == nil {
		err = op()
	}
	if err != nil {
		return err
	}
	iterations, err := r.calibrate(trials(n), op)
	for i := 0; i < r.task.repetitions && err == nil; i++ {
		err = r.repetition(iterations, op)
	}
	return err
}

// calibrate finds out how many operations fill the time. The first few are slower
// than those to come, so it asks again after as many as these promise.
func (r *runner) calibrate(trials int, op func() error) (int, error) {
	for range 2 {
		each, err := repeat(trials, op)
		if err != nil {
			return 0, err
		}
		if trials, err = r.agreed(each); err != nil {
			return 0, err
		}
	}
	return trials, nil
}

func (r *runner) repetition(iterations int, op func() error) error {
	if err := r.g.Barrier(r.ctx); err != nil {
		return err
	}
	start := time.Now()
	if _, err := repeat(iterations, op); err != nil {
		return err
	}
	if r.task.op == "stream" {
		if err := r.g.Barrier(r.ctx); err != nil {
			return err
		}
	}
	if r.g.IsLeader() {
		fmt.Fprintf(r.out, "%d %.4f\n", len(r.data), time.Since(start).Seconds()*1e6/float64(iterations))
	}
	return nil
}

// trials is how many operations show how long one takes; large ones show it
// sooner.
func trials(bytes int) int {
	if bytes > mib {
		return 2
	}
	return 6
}

// repeat returns the seconds that one call took.
func repeat(n int, op func() error) (float64, error) {
	start := time.Now()
	for range n {
		if err := op(); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds() / float64(n), nil
}

const mostIterations = 200_000

// agreed is how many operations fill the time, as rank 0 sees it.
func (r *runner) agreed(each float64) (int, error) {
	n := min(r.task.seconds/max(each, 1e-9)+1, mostIterations)
	word := binary.LittleEndian.AppendUint64(nil, uint64(n))
	err := r.g.Broadcast(r.ctx, 0, word)
	return int(binary.LittleEndian.Uint64(word)), err
}

func (r *runner) operation() (func() error, error) {
	peer := 1 - r.g.Rank()
	put := func() error { return r.door.send(r.ctx, peer, r.data) }
	take := func() error { return r.door.recv(r.ctx, peer, r.data) }
	switch {
	case r.task.op == "allreduce":
		return func() error { return r.door.allReduce(r.ctx, r.task.t, r.data) }, nil
	case r.g.Size() != 2:
		return nil, fmt.Errorf("%s is for 2 ranks, not %d", r.task.op, r.g.Size())
	case r.task.op == "pingpong" && r.g.IsLeader():
		return both(put, take), nil
	case r.task.op == "pingpong":
		return both(take, put), nil
	case r.task.op == "stream" && r.g.IsLeader():
		return put, nil
	case r.task.op == "stream":
		return take, nil
	}
	return nil, &usageError{fmt.Errorf("no operation %q", r.task.op)}
}

func both(first, second func() error) func() error {
	return func() error {
		if err := first(); err != nil {
			return err
		}
		return second()
	}
}

// checkSum sums rank+1 and leaves zeros, so that no later sum overflows.
func (r *runner) checkSum() error {
	fill(r.data, float32(r.g.Rank()+1))
	if err := r.door.allReduce(r.ctx, r.task.t, r.data); err != nil {
		return err
	}
	want := float32(r.g.Size() * (r.g.Size() + 1) / 2)
	for at := 0; at < len(r.data); at += 4 {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(r.data[at:])); got != want {
			return fmt.Errorf("wrong sum %v at byte %d of %d, want %v", got, at, len(r.data), want)
		}
	}
	clear(r.data)
	return nil
}

func fill(data []byte, value float32) {
	for at := 0; at < len(data); at += 4 {
		binary.LittleEndian.PutUint32(data[at:], math.Float32bits(value))
	}
}

// idleTimes is how many times the time for a figure the ranks wait.
const idleTimes = 25

// idle lets all ranks but 0 wait in a barrier and prints the percent of a core
// that the busiest of them used.
func (r *runner) idle() error {
	for range r.task.repetitions {
		used, err := r.wait(time.Duration(r.task.seconds * idleTimes * float64(time.Second)))
		if err != nil {
			return err
		}
		word := binary.LittleEndian.AppendUint64(nil, math.Float64bits(used))
		if err := r.g.AllReduceBytes(r.ctx, group.Max, dtype.Float64, word); err != nil {
			return err
		}
		if r.g.IsLeader() {
			fmt.Fprintf(r.out, "0 %.4f\n", math.Float64frombits(binary.LittleEndian.Uint64(word)))
		}
	}
	return nil
}

// wait returns the percent of a core that this rank used in a barrier for which
// rank 0 comes late; rank 0 itself used none.
func (r *runner) wait(late time.Duration) (float64, error) {
	if err := r.g.Barrier(r.ctx); err != nil {
		return 0, err
	}
	if r.g.IsLeader() {
		time.Sleep(late)
		return 0, r.g.Barrier(r.ctx)
	}
	before, start := ownTime(), time.Now()
	err := r.g.Barrier(r.ctx)
	return 100 * (ownTime() - before).Seconds() / time.Since(start).Seconds(), err
}
