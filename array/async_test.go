package array_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// gate is a node that cannot end before it is opened.
type gate struct {
	x       *array.Array
	running chan struct{} // closed when it runs
	open    chan struct{}
}

func newGate(name string, lane array.Lane, in ...*array.Array) gate {
	g := gate{running: make(chan struct{}), open: make(chan struct{})}
	g.x = array.Apply1(probe{name: name, lane: lane, hook: func(ctx context.Context, _ float64) error {
		close(g.running)
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}, in...)
	return g
}

// ownStream gives the test a stream of its own and sees to it that it leaves no goroutine.
func ownStream(t *testing.T) context.Context {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(array.WithStream(context.Background()), 20*time.Second)
	t.Cleanup(func() {
		array.Synchronize(ctx)
		cancel()
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				return
			}
		}
	})
	return ctx
}

// journal notes in which order nodes run.
type journal struct {
	mu  sync.Mutex
	ran []string
}

func (j *journal) node(name string, lane array.Lane, in ...*array.Array) *array.Array {
	return array.Apply1(probe{name: name, lane: lane, hook: func(ctx context.Context, _ float64) error {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.ran = append(j.ran, fmt.Sprintf("%s #%d", name, array.Record(ctx)))
		return nil
	}}, in...)
}

func TestAsyncEvalReturnsAtOnceAndTheReadWaits(t *testing.T) {
	ctx := ownStream(t)
	g := newGate("slow", nil)
	y := plus("y", g.x)
	array.AsyncEval(ctx, y)
	<-g.running
	close(g.open)
	if v, err := array.Item[float64](ctx, y); v != 2 || err != nil {
		t.Errorf("y is %v (%v), want 2", v, err)
	}
	if err := array.Synchronize(ctx); err != nil {
		t.Error(err)
	}
}

func TestSynchronizeWaitsForAllThatWasBegunBefore(t *testing.T) {
	ctx := ownStream(t)
	j := &journal{}
	lane := &track{}
	g := newGate("first", lane)
	array.AsyncEval(ctx, g.x)
	array.AsyncEval(ctx, j.node("second", lane))
	ended := make(chan error)
	go func() { ended <- array.Synchronize(ctx) }()
	<-g.running
	select {
	case err := <-ended:
		t.Fatalf("synchronized (%v) before the first had ended", err)
	default:
	}
	close(g.open)
	if err := <-ended; err != nil || !slices.Equal(j.ran, []string{"second #2"}) {
		t.Errorf("error %v after %q", err, j.ran)
	}
}

func TestSynchronizeEndsWithItsContextAndTheWorkGoesOn(t *testing.T) {
	ctx := ownStream(t)
	g := newGate("slow", &track{})
	array.AsyncEval(ctx, g.x)
	<-g.running
	short, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("no patience"))
	if err := array.Synchronize(short); err == nil || err.Error() != "no patience" {
		t.Errorf("error is %v", err)
	}
	close(g.open)
	if v, err := array.Item[float64](ctx, g.x); v != 1 || err != nil {
		t.Errorf("the work ended with %v (%v)", v, err)
	}
}

func TestStreamsAreSynchronizedApart(t *testing.T) {
	ctx, other := ownStream(t), ownStream(t)
	g := newGate("slow", nil)
	array.AsyncEval(other, g.x)
	array.AsyncEval(ctx, array.Apply1(probe{name: "bad", hook: func(context.Context, float64) error { return errors.New("disk full") }}))
	if err := array.Synchronize(ctx); err == nil || err.Error() != "bad: disk full" {
		t.Errorf("error is %v", err)
	}
	if err := array.Synchronize(ctx); err != nil {
		t.Errorf("the error is there twice: %v", err)
	}
	close(g.open)
	if err := array.Synchronize(other); err != nil {
		t.Errorf("the other stream has the error %v", err)
	}
}

func TestAsyncErrorsSurfaceAtTheReadAndAtSynchronize(t *testing.T) {
	lane := &track{}
	failing := func(lane array.Lane) *array.Array {
		return array.Apply1(probe{name: "all_sum", lane: lane, hook: func(context.Context, float64) error { return errors.New("peer lost") }})
	}
	for name, c := range map[string]struct {
		x    *array.Array
		says string
	}{
		"a failed collective":    {plus("y", failing(lane)), "peer lost"},
		"a failed operation":     {plus("y", failing(nil)), "all_sum: peer lost"},
		"a mistake in the graph": {plus("y", array.Zeros(dtype.Int8)), "wants float64"},
		"an array that is nil":   {nil, "array is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := ownStream(t)
			array.AsyncEval(ctx, c.x)
			for range 2 {
				if err := array.Eval(ctx, c.x); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("read: error is %v", err)
				}
			}
			if err := array.Synchronize(ctx); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("synchronize: error is %v", err)
			}
			if v, err := array.Item[float64](ctx, plus("local")); v != 1 || err != nil {
				t.Errorf("local work afterwards: %v (%v)", v, err)
			}
		})
	}
}

func TestAsyncEvalOfAMistakeAbandonsItsLanesAtOnce(t *testing.T) {
	ctx := ownStream(t)
	lane := &track{}
	array.AsyncEval(ctx, plus("y", array.Apply1(probe{name: "all_sum", lane: lane}), array.Zeros(dtype.Int8)))
	if got := lane.told(); len(got) != 1 || !strings.HasPrefix(got[0], "all_sum #1: y at eval_test.go:") {
		t.Errorf("lane was told %q", got)
	}
}

func TestEvaluationsTakeTurnsOnALaneInTheOrderOfTheProgram(t *testing.T) {
	ctx := ownStream(t)
	j := &journal{}
	lane := &track{}
	g := newGate("local", nil)
	one := j.node("one", lane, g.x) // not ready for long
	two, three := j.node("two", lane), j.node("three", lane)
	four := j.node("four", lane)
	array.AsyncEval(ctx, one, three)
	array.AsyncEval(ctx, four)
	ended := make(chan error)
	go func() { ended <- array.Eval(ctx, plus("user", two)) }()
	<-g.running
	close(g.open)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := array.Synchronize(ctx); err != nil {
		t.Error(err)
	}
	// The blocking one may have begun at any time; the others have their order.
	others := slices.DeleteFunc(slices.Clone(j.ran), func(s string) bool { return s == "two #2" })
	if len(j.ran) != 4 || !slices.Equal(others, []string{"one #1", "three #3", "four #4"}) {
		t.Errorf("ran %q", j.ran)
	}
}

func TestABlockingEvaluationRunsAfterTheAsynchronousOneBefore(t *testing.T) {
	ctx := ownStream(t)
	j := &journal{}
	lane := &track{}
	g := newGate("local", nil)
	array.AsyncEval(ctx, j.node("one", lane, g.x))
	<-g.running
	go func() { close(g.open) }()
	if err := array.Eval(ctx, j.node("two", lane)); err != nil {
		t.Error(err)
	}
	if !slices.Equal(j.ran, []string{"one #1", "two #2"}) {
		t.Errorf("ran %q", j.ran)
	}
}

func TestLanesOfAsynchronousEvaluationsDoNotWaitForEachOther(t *testing.T) {
	ctx := ownStream(t)
	left, right := &track{}, &track{}
	g := newGate("left", left)
	array.AsyncEval(ctx, g.x)
	<-g.running
	if v, err := array.Item[float64](ctx, plus("user", array.Apply1(probe{name: "right", lane: right}))); v != 2 || err != nil {
		t.Errorf("got %v (%v)", v, err)
	}
	close(g.open)
}

func TestAReadWaitsForWhatItReadsAlone(t *testing.T) {
	ctx := ownStream(t)
	lane := &track{}
	loss := array.Apply1(probe{name: "loss", lane: lane})
	g := newGate("gradient", lane)
	array.AsyncEval(ctx, loss, g.x)
	if v, err := array.Item[float64](ctx, plus("shown", loss)); v != 2 || err != nil {
		t.Errorf("got %v (%v)", v, err)
	}
	close(g.open)
}

func TestAWaitForATurnEndsWithItsContextAndIsToldToTheLane(t *testing.T) {
	ctx := ownStream(t)
	lane := &track{}
	g := newGate("one", lane)
	array.AsyncEval(ctx, g.x)
	<-g.running
	short, cancel := context.WithCancelCause(ctx)
	two := array.Apply1(probe{name: "two", lane: lane})
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("no patience")) })
	if err := two.Eval(short); err == nil || err.Error() != "no patience" {
		t.Errorf("error is %v", err)
	}
	if got := lane.told(); !slices.Equal(got, []string{"two #2: no patience"}) {
		t.Errorf("lane was told %q", got)
	}
	// Who comes next waits for the first all the same.
	j := &journal{}
	array.AsyncEval(ctx, j.node("three", lane))
	if len(j.ran) != 0 {
		t.Errorf("%q ran beside the first", j.ran)
	}
	close(g.open)
	if err := array.Synchronize(ctx); err != nil || !slices.Equal(j.ran, []string{"three #3"}) {
		t.Errorf("error %v after %q", err, j.ran)
	}
}

// Evaluations that share lanes and nodes, from many goroutines, each node once.
func TestManyEvaluationsShareLanesAndNodes(t *testing.T) {
	ctx := ownStream(t)
	j := &journal{}
	lanes := []*track{{}, {}, {independent: true}}
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			x := plus("start")
			for i := range 30 {
				x = j.node("c", lanes[(i+worker)%3], x)
				if i%3 == 0 {
					array.AsyncEval(ctx, x)
				}
			}
			if v, err := array.Item[float64](ctx, x); v != 31 || err != nil {
				t.Errorf("worker %d has %v (%v), want 31", worker, v, err)
			}
		})
	}
	wait.Wait()
	if err := array.Synchronize(ctx); err != nil {
		t.Error(err)
	}
	if len(j.ran) != 180 {
		t.Errorf("%d nodes ran, want 180", len(j.ran))
	}
}
