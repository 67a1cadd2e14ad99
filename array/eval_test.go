package array_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// probe is a primitive on float64 scalars: it adds its inputs and calls a hook.
type probe struct {
	array.NoRules
	name string
	lane array.Lane
	hook func(ctx context.Context, sum float64) error
}

func (p probe) Name() string     { return p.name }
func (p probe) Lane() array.Lane { return p.lane }

func (p probe) OutputSpecs(in []array.Spec) ([]array.Spec, error) {
	for _, s := range in {
		if s.DType != dtype.Float64 {
			return nil, fmt.Errorf("wants float64, got %v", s)
		}
	}
	return []array.Spec{{DType: dtype.Float64}}, nil
}

func (p probe) Eval(ctx context.Context, in, out []array.View) error {
	sum := 1.0
	for _, v := range in {
		sum += array.Elements[float64](v)[0]
	}
	array.Elements[float64](out[0])[0] = sum
	if p.hook == nil {
		return nil
	}
	return p.hook(ctx, sum)
}

// track is a lane that writes down what happens to it.
type track struct {
	records     atomic.Uint64
	independent bool
	mu          sync.Mutex
	abandoned   []string
}

func (l *track) NextRecord() uint64 { return l.records.Add(1) }
func (l *track) Independent() bool  { return l.independent }
func (l *track) Abandon(_ uint64, what string, reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = append(l.abandoned, what+": "+reason.Error())
}

func (l *track) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.abandoned)
}

func plus(name string, in ...*array.Array) *array.Array {
	return array.Apply1(probe{name: name}, in...)
}

func item(t *testing.T, x *array.Array) float64 {
	t.Helper()
	v, err := array.Item[float64](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEvalComputesEachNodeOnce(t *testing.T) {
	runs := 0
	x := array.Apply1(probe{name: "x", hook: func(context.Context, float64) error { runs++; return nil }})
	y := plus("y", x, x)
	if got := item(t, plus("z", y, x)); got != 5 {
		t.Errorf("z is %v, want 5", got)
	}
	if item(t, x); runs != 1 {
		t.Errorf("x was computed %d times", runs)
	}
}

func TestEvalOfAMillionNodesInAChain(t *testing.T) {
	x := array.Scalar(0.0)
	for range 1_000_000 {
		x = plus("step", x)
	}
	if got := item(t, x); got != 1e6 {
		t.Errorf("got %v", got)
	}
}

func TestEvalFindsMistakesBeforeAnythingRuns(t *testing.T) {
	lane := &track{}
	ran := false
	hook := func(context.Context, float64) error { ran = true; return nil }
	first := array.Apply1(probe{name: "all_first", lane: lane, hook: hook}, array.Scalar(1.0))
	bad := plus("bad", first, array.Scalar(int32(1)))
	last := plus("last", bad, array.Apply1(probe{name: "all_second", lane: lane, hook: hook}, array.Scalar(1.0)))
	err := last.Eval(t.Context())
	if err == nil || !strings.Contains(err.Error(), "bad at eval_test.go:") || !strings.Contains(err.Error(), "wants float64") {
		t.Errorf("error is %v", err)
	}
	if ran {
		t.Error("something ran")
	}
	if got := lane.told(); len(got) != 2 || !strings.HasPrefix(got[0], "all_first #1: bad at eval_test.go:") || !strings.HasPrefix(got[1], "all_second #2: bad at") {
		t.Errorf("lane was told %q", got)
	}
	if err := first.Eval(t.Context()); err != nil {
		t.Errorf("an array beside the mistake: %v", err)
	}
}

func TestFirstErrorWinsAndStaysWhole(t *testing.T) {
	bad := plus("early", array.Scalar(int8(1)))
	after := plus("late", array.Scalar(uint8(1)), bad)
	var op *array.OpError
	if !errors.As(after.Err(), &op) || op.Op != "early" || after.Err() != bad.Err() {
		t.Errorf("error is %v", after.Err())
	}
	if after.DType() != dtype.Invalid || after.NDim() != 0 {
		t.Errorf("spec of a failed array is %v", after.Spec())
	}
	if nothing := array.Apply1(probe{name: "nil"}, nil); nothing.Err() == nil {
		t.Error("a nil argument passes")
	}
}

func TestLaneRunsInRecordOrderWhateverTheGraph(t *testing.T) {
	lane := &track{}
	var order []uint64
	hook := func(ctx context.Context, _ float64) error {
		order = append(order, array.Record(ctx)) // one at a time, or the race detector sees it
		return nil
	}
	var xs []*array.Array
	for range 30 {
		xs = append(xs, array.Apply1(probe{name: "c", lane: lane, hook: hook}, plus("in")))
	}
	slices.Reverse(xs)
	// A consumer of the last collective feeds the first in the traversal.
	if err := array.Eval(t.Context(), plus("user", xs[0]), plus("all", xs...)); err != nil {
		t.Fatal(err)
	}
	if len(order) != 30 || !slices.IsSorted(order) || order[0] != 1 {
		t.Errorf("ran in order %v", order)
	}
}

func TestWorkGoesOnWhileALaneWaits(t *testing.T) {
	lane := &track{}
	release := make(chan struct{})
	slow := array.Apply1(probe{name: "slow", lane: lane, hook: func(ctx context.Context, _ float64) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
	// The other node can only end the wait if it runs meanwhile.
	fast := array.Apply1(probe{name: "fast", hook: func(context.Context, float64) error { close(release); return nil }})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := array.Eval(ctx, plus("user", slow), fast); err != nil {
		t.Fatal(err)
	}
}

func TestLanesDoNotWaitForEachOther(t *testing.T) {
	left, right := &track{}, &track{}
	meet := make(chan int)
	a := array.Apply1(probe{name: "a", lane: left, hook: func(context.Context, float64) error { meet <- 1; return nil }})
	b := array.Apply1(probe{name: "b", lane: right, hook: func(context.Context, float64) error { <-meet; return nil }})
	if err := array.Eval(t.Context(), a, b); err != nil {
		t.Fatal(err)
	}
}

func TestFailureAbandonsTheRestAndEndsIndependentLanes(t *testing.T) {
	collective, messages := &track{}, &track{independent: true}
	started := make(chan struct{})
	recv := array.Apply1(probe{name: "recv", lane: messages, hook: func(ctx context.Context, _ float64) error {
		close(started)
		<-ctx.Done()
		return context.Cause(ctx)
	}})
	broken := array.Apply1(probe{name: "broken", hook: func(context.Context, float64) error {
		<-started
		return errors.New("disk full")
	}})
	never := array.Apply1(probe{name: "all_sum", lane: collective}, broken)
	err := array.Eval(t.Context(), recv, never)
	if err == nil || err.Error() != "broken: disk full" {
		t.Errorf("error is %v", err)
	}
	if got := collective.told(); len(got) != 1 || got[0] != "all_sum #1: broken: disk full" {
		t.Errorf("lane was told %q", got)
	}
	if got := messages.told(); len(got) != 0 {
		t.Errorf("the running message was abandoned: %q", got)
	}
}

func TestAFailedCollectiveIsNotTriedAgain(t *testing.T) {
	runs := 0
	lane := &track{}
	x := array.Apply1(probe{name: "all_sum", lane: lane, hook: func(context.Context, float64) error {
		runs++
		return errors.New("peer lost")
	}})
	for range 2 {
		if err := x.Eval(t.Context()); err == nil || err.Error() != "peer lost" {
			t.Errorf("error is %v", err)
		}
	}
	if runs != 1 {
		t.Errorf("ran %d times", runs)
	}
	if got := item(t, plus("local")); got != 1 {
		t.Error("local work fails after a failed collective")
	}
}

func TestEvaluationsShareNodes(t *testing.T) {
	var runs atomic.Int64
	lane := &track{}
	var xs []*array.Array
	last := array.Scalar(0.0)
	for i := range 50 {
		p := probe{name: "shared", hook: func(context.Context, float64) error { runs.Add(1); return nil }}
		if i%5 == 0 {
			p.lane = lane
		}
		last = array.Apply1(p, last)
		xs = append(xs, last)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := array.Eval(context.Background(), xs[i], xs[49-i], last); err != nil {
				t.Error(err)
			}
		})
	}
	if group.Wait(); runs.Load() != 50 {
		t.Errorf("50 nodes ran %d times", runs.Load())
	}
}

func TestContextEndsAnEvaluation(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	x := array.Apply1(probe{name: "x", hook: func(context.Context, float64) error { cancel(why); return nil }})
	y := plus("y", x)
	if err := y.Eval(ctx); !errors.Is(err, why) {
		t.Errorf("error is %v", err)
	}
	if got := item(t, y); got != 2 {
		t.Errorf("a cancelled node cannot be computed later: %v", got)
	}
}

func TestAPanicInAPrimitiveIsAnError(t *testing.T) {
	x := array.Apply1(probe{name: "x", hook: func(context.Context, float64) error { panic("index out of range") }})
	if err := x.Eval(t.Context()); err == nil || err.Error() != "x: internal error: index out of range" {
		t.Errorf("error is %v", err)
	}
}

func TestTracedArraysHaveNoValueAndNoRecord(t *testing.T) {
	lane := &track{}
	trace := array.NewTrace()
	in := trace.Input(array.Scalar(4.0))
	inner := array.Apply1(probe{name: "all_sum", lane: lane}, in)
	unused := array.Apply1(probe{name: "unused", lane: lane}, in)
	out := array.Apply1(probe{name: "all_max", lane: lane}, inner)
	captured := array.Apply1(probe{name: "captured", lane: lane}, array.Scalar(1.0))
	if err := out.Eval(t.Context()); !errors.Is(err, array.ErrTraced) {
		t.Errorf("error inside the trace is %v", err)
	}
	trace.Finish(out)
	var order []string
	for _, n := range array.Sorted(out, captured) {
		order = append(order, n.Primitive().Name())
	}
	if want := []string{"argument", "all_sum", "all_max", "captured"}; !slices.Equal(order, want) {
		t.Errorf("graph is %v, want %v", order, want)
	}
	if got := item(t, out); got != 6 {
		t.Errorf("value is %v, want 6", got)
	}
	if next := lane.NextRecord(); next != 4 {
		t.Errorf("%d nodes were recorded, want 3: captured, all_sum, all_max", next-1)
	}
	if err := unused.Eval(t.Context()); !errors.Is(err, array.ErrTraced) {
		t.Errorf("a node that the trace did not return: %v", err)
	}
}

func TestNestedTracesBelongToTheOuterOne(t *testing.T) {
	lane := &track{}
	outer, x := array.NewTrace(), array.Scalar(1.0)
	a := outer.Input(x)
	inner := array.NewTrace()
	y := array.Apply1(probe{name: "all_sum", lane: lane}, inner.Input(a))
	inner.Finish(y)
	if err := y.Eval(t.Context()); !errors.Is(err, array.ErrTraced) {
		t.Errorf("error inside the outer trace is %v", err)
	}
	if outer.Finish(y); item(t, y) != 2 || lane.NextRecord() != 2 {
		t.Error("the collective was not recorded once, when the outer trace ended")
	}
}

func computed(t *testing.T, x *array.Array) *array.Array {
	t.Helper()
	if err := x.Eval(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestPrintingNeverComputes(t *testing.T) {
	x := plus("x")
	if got := x.String(); got != "array(float64[], lazy)" {
		t.Errorf("lazy array prints %q", got)
	}
	item(t, x)
	long := make([]int32, 20)
	for name, c := range map[string]struct{ got, want string }{
		"scalar":  {x.String(), "array(1, float64[])"},
		"matrix":  {array.From([]float32{1, 2.5, 3, 4}, 2, -1).String(), "array([[1 2.5] [3 4]], float32[2 2])"},
		"long":    {array.From(long).String(), "array([0 0 0 ... 0 0 0], int32[20])"},
		"turned":  {computed(t, array.From([]int8{1, 2, 3, 4}, 2, 2).T().Flip(0)).String(), "array([[2 4] [1 3]], int8[2 2])"},
		"endless": {array.Ones(dtype.Int8, 1<<60, 1).String(), "array([[1] [1] [1] ... [1] [1] [1]], int8[1152921504606846976 1])"},
		"empty":   {array.Zeros(dtype.Bool, 0, 3).String(), "array([], bool[0 3])"},
		"mistake": {plus("x", array.Scalar(true)).String()[:19], "array(error: x at e"},
	} {
		if c.got != c.want {
			t.Errorf("%s prints %q, want %q", name, c.got, c.want)
		}
	}
}

func TestFromChecksShapes(t *testing.T) {
	for name, c := range map[string]struct {
		x    *array.Array
		want string
	}{
		"one length left open": {array.From(make([]int8, 6), 2, -1), "int8[2 3]"},
		"no shape":             {array.From([]bool{true}), "bool[1]"},
		"nothing":              {array.From([]float32{}, 0, 3), "float32[0 3]"},
		"bytes":                {array.FromBytes(make([]byte, 8), dtype.Float16, 2, 2), "float16[2 2]"},
	} {
		if got := c.x.Spec().String(); c.x.Err() != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, c.x.Err())
		}
	}
	for name, x := range map[string]*array.Array{
		"too few":      array.From(make([]int8, 5), 2, 3),
		"two open":     array.From(make([]int8, 6), -1, -1),
		"negative":     array.From(make([]int8, 6), -2, -3),
		"not whole":    array.From(make([]int8, 5), 2, -1),
		"bytes":        array.FromBytes(make([]byte, 7), dtype.Float16, 2, 2),
		"invalid type": array.Zeros(dtype.Invalid, 1),
	} {
		if err := x.Err(); err == nil || !strings.Contains(err.Error(), "eval_test.go:") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
