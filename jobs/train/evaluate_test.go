package main

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/nn"
)

// Of 1000 characters the last 100 are held back: no window that is learnt reaches into them.
func TestWhatIsHeldBackIsNotLearnt(t *testing.T) {
	learnt, held, err := options{evalEvery: 1}.holdBack(1000)
	if err != nil || learnt+contextLength > 900 || held[0] != 900 || held[len(held)-1]+contextLength+1 != 1000 {
		t.Errorf("%d learnt, held back %v, %v", learnt, held, err)
	}
	if learnt, held, err := (options{}).holdBack(1000); learnt != 1000-contextLength || held != nil || err != nil {
		t.Errorf("without evaluation: %d learnt, held back %v, %v", learnt, held, err)
	}
	for _, tokens := range []int{65, 640, 649} {
		if _, _, err := (options{evalEvery: 1}).holdBack(tokens); err == nil {
			t.Errorf("%d characters are enough", tokens)
		}
	}
}

func TestEvaluatedExamplesLieAtEvenDistances(t *testing.T) {
	for _, n := range []int{1, 7, evalExamples, evalExamples + 1, 100_000} {
		back := make([]int, n)
		for i := range back {
			back[i] = 1000 + i
		}
		chosen := (&task{heldBack: back}).evaluated()
		if len(chosen) != min(n, evalExamples) || chosen[0] != 1000 {
			t.Errorf("%d of %d, from %d on", len(chosen), n, chosen[0])
		}
		for i := 1; i < len(chosen); i++ {
			if gap := chosen[i] - chosen[i-1]; gap < n/len(chosen) || gap > n/len(chosen)+1 {
				t.Errorf("a gap of %d in %d", gap, n)
			}
		}
	}
}

// What all ranks together evaluate is the mean over the examples, whatever their number and layout.
func TestTheEvaluatedLossIsTheMeanOnAnyRanks(t *testing.T) {
	for _, model := range []string{"gpt", "mlp"} {
		o := options{model: model, steps: 1, batch: 12, rate: 3e-3, evalEvery: 1, tensor: 1}
		one := newTrial(t, o)
		inputs := one.inputs(one.evaluated())
		losses := nn.CrossEntropy(one.task.model.Forward(inputs[0]), inputs[1])
		want := float64(flat(t, []*array.Array{losses.Mean()})[0])
		for _, c := range []struct{ ranks, tensor int }{{1, 1}, {2, 1}, {3, 1}, {2, 2}, {4, 2}} {
			o.tensor = c.tensor
			t.Run(fmt.Sprintf("%s on %d ranks, -tp %d", model, c.ranks, c.tensor), func(t *testing.T) {
				var wait sync.WaitGroup
				for rank, comm := range grouptest.NewWorld(c.ranks) {
					wait.Go(func() {
						g := group.NewWith(comm, group.Config{Timeout: time.Minute})
						defer g.Close()
						task, err := o.task()
						if err != nil {
							t.Error(err)
							return
						}
						l, err := o.arrange(t.Context(), task, g)
						if err != nil {
							t.Error(err)
							return
						}
						defer l.close()
						got, err := newTrainer(o, task, l).evaluate(t.Context())
						if err != nil || math.Abs(float64(got)-want) > 1e-5*want {
							t.Errorf("rank %d: %v, %v; want %v", rank, got, err, want)
						}
					})
				}
				wait.Wait()
			})
		}
	}
}
