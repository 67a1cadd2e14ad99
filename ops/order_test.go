package ops_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

// impatience is the deadline of operations that wait in vain.
const impatience = time.Second

// says checks that an error has all these words in it.
func says(r rank, what string, err error, words ...string) {
	r.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			r.Errorf("%s on rank %d: error is %v, want %q in it", what, r.r, err, word)
			return
		}
	}
}

func TestSeparateEvaluationsInAnotherOrderAreAMismatch(t *testing.T) {
	conform.Row(t, "O2")
	ways := map[string]func(r rank, first, second *array.Array) error{
		"blocking": func(r rank, first, second *array.Array) error {
			return errors.Join(first.Eval(r.ctx), second.Eval(r.ctx))
		},
		"asynchronously": func(r rank, first, second *array.Array) error {
			array.AsyncEval(r.ctx, first)
			array.AsyncEval(r.ctx, second)
			return array.Synchronize(r.ctx)
		},
		"first asynchronously, then blocking": func(r rank, first, second *array.Array) error {
			array.AsyncEval(r.ctx, first)
			return errors.Join(second.Eval(r.ctx), array.Synchronize(r.ctx))
		},
	}
	for name, eval := range inOrder(ways) {
		t.Run(name, func(t *testing.T) {
			world(t, 2, func(r rank) {
				a, b := ops.AllSum(array.Scalar(1.0), r.g), ops.AllSum(array.Scalar(2.0), r.g)
				pair := by(r, []*array.Array{a, b}, []*array.Array{b, a})
				err := eval(r, pair[0], pair[1])
				if !errors.Is(err, group.ErrMismatch) {
					r.Errorf("rank %d: error is %v", r.r, err)
				}
				says(r, name, err, "rank 0 called all_sum #1", "rank 1 called all_sum #2")
			})
		})
	}
}

func TestADeadlineNamesWhoDidNotCome(t *testing.T) {
	conform.Row(t, "O4")
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			patientWorld(t, n, impatience, func(r rank) {
				loss := ops.AllSum(array.Scalar(1.0), r.g)
				if r.r == 0 {
					_, err := array.Item[float64](r.ctx, loss)
					says(r, "alone", err, "all_sum #1", "rank", "1")
				}
				r.meet()
				same(r, "local work", array.Scalar(1.0).AddScalar(1), []float64{2})
			})
		})
	}
}

func twoGroups(r rank) (a, b *group.Group) {
	b, err := r.g.Split(r.ctx, 0, 0)
	if err != nil {
		r.Error(err)
	}
	return r.g, b
}

func TestTwoGroupsAsynchronouslyEitherWay(t *testing.T) {
	conform.Row(t, "O5")
	world(t, 2, func(r rank) {
		a, b := twoGroups(r)
		for i := range 20 {
			x := ops.AllSum(array.Scalar(float64(i)), a)
			y := ops.AllMax(array.Scalar(float64(i+r.r)), b)
			for _, z := range by(r, []*array.Array{x, y}, []*array.Array{y, x}) {
				array.AsyncEval(r.ctx, z)
			}
			if i%5 == 0 {
				same(r, "sum", x, []float64{float64(2 * i)})
			}
			if i == 19 {
				same(r, "max", y, []float64{float64(i + 1)})
			}
		}
		if err := array.Synchronize(r.ctx); err != nil {
			r.Error(err)
		}
		b.Close()
	})
}

// Each rank waits in another group: nobody can go on, and the deadline says where.
func TestTwoGroupsOneAfterTheOtherEndAtTheDeadline(t *testing.T) {
	conform.Row(t, "O5")
	patientWorld(t, 2, impatience, func(r rank) {
		a, b := twoGroups(r)
		x, y := ops.AllSum(array.Scalar(1.0), a), ops.AllMax(array.Scalar(1.0), b)
		first := by(r, x, y)
		err := first.Eval(r.ctx)
		says(r, "first", err, by(r, "all_sum #1", "all_max #1"), fmt.Sprintf("rank %d", 1-r.r))
		r.meet()
		b.Close()
	})
}

// Two goroutines that use one group: their collectives run one at a time, in an order that
// may differ between ranks. Then all of them learn it: no value is ever another's.
func TestTwoGoroutinesOnOneGroupAreRightOrAMismatch(t *testing.T) {
	conform.Row(t, "O6")
	sizes(t, []int{2, 3}, func(r rank) {
		goroutines(r, func(int) *group.Group { return r.g }, func(err error) {
			if !errors.Is(err, group.ErrMismatch) {
				r.Errorf("rank %d: error is %v", r.r, err)
			}
		})
	})
}

func TestTwoGoroutinesOnAGroupEachAreRight(t *testing.T) {
	conform.Row(t, "O6")
	sizes(t, []int{2, 3}, func(r rank) {
		a, b := twoGroups(r)
		goroutines(r, func(worker int) *group.Group { return []*group.Group{a, b}[worker] }, func(err error) { r.Error(err) })
		b.Close()
	})
}

// goroutines runs two of them, each with sums of its own shape, until the first error.
func goroutines(r rank, pick func(worker int) *group.Group, failed func(error)) {
	var wait sync.WaitGroup
	for worker := range 2 {
		wait.Go(func() {
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				x := float64(1000*worker + i)
				var got []float64
				got, err = array.Values[float64](r.ctx, ops.AllSum(array.Full(x, dtype.Float64, 3+worker), pick(worker)))
				for _, v := range got {
					if v != x*float64(r.g.Size()) {
						r.Errorf("rank %d, goroutine %d: %v of %v", r.r, worker, v, x)
					}
				}
			}
			if err != nil {
				failed(err)
			}
		})
	}
	wait.Wait()
	r.meet()
}

func TestAsynchronousCollectives(t *testing.T) {
	conform.Row(t, "O23")
	sizes(t, worlds, func(r rank) {
		n := float64(r.g.Size())
		w := array.Scalar(1.0)
		for range 10 {
			loss := ops.AllSum(w.Square(), r.g)
			_, grad := valueAndGrad(func(w *array.Array) *array.Array { return ops.AllMean(w.Square(), r.g) }, w)
			w = w.Sub(grad.MulScalar(0.25 * n)) // half of it
			array.AsyncEval(r.ctx, loss, w)
		}
		same(r, "after ten steps", w, []float64{1.0 / 1024})
		if err := array.Synchronize(r.ctx); err != nil {
			r.Error(err)
		}
	})
}

func TestErrorsOfAsynchronousCollectivesSurfaceAtTheReadAndAtSynchronize(t *testing.T) {
	conform.Row(t, "O23", "O24")
	world(t, 2, func(r rank) {
		y := ops.AllSum(array.Ones(dtype.Float64, by(r, 3, 4)), r.g)
		z := ops.AllSum(y, r.g) // never begins
		array.AsyncEval(r.ctx, z)
		_, err := array.Values[float64](r.ctx, y)
		says(r, "read of the failed one", err, "ranks disagree", "all_sum #1 float64[3]", "all_sum #1 float64[4]")
		_, err = array.Values[float64](r.ctx, z)
		says(r, "read of what needs it", err, "ranks disagree")
		says(r, "synchronize", array.Synchronize(r.ctx), "ranks disagree")
		if err := array.Synchronize(r.ctx); err != nil {
			r.Errorf("synchronized twice: %v", err)
		}
		same(r, "local work", array.Scalar(1.0).AddScalar(1), []float64{2})
	})
}

func TestPeersLearnOfAMistakeInAnAsynchronousEvaluation(t *testing.T) {
	conform.Row(t, "O23", "O26")
	world(t, 3, func(r rank) {
		x := array.Ones(dtype.Float32, 2)
		if r.r == 2 {
			x = x.Add(array.Ones(dtype.Float32, 3))
		}
		array.AsyncEval(r.ctx, ops.AllSum(x, r.g))
		says(r, "synchronize", array.Synchronize(r.ctx), "add at order_test.go:")
		r.meet()
	})
}

func TestRecordNumbersOfBroadcastNameItsRoot(t *testing.T) {
	world(t, 2, func(r rank) {
		err := ops.Broadcast(array.Ones(dtype.Float32, 2), r.r, r.g).Eval(r.ctx)
		says(r, "roots differ", err, "rank 0 called broadcast #1 from rank 0 float32[2]", "rank 1 called broadcast #1 from rank 1 float32[2]")
	})
}
