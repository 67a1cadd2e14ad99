package main

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// A gradient that one of two ranks cannot hold has both leave out the step.
func TestAStepThatOverflowsIsLeftOutOnAllRanks(t *testing.T) {
	before, next := []*array.Array{array.From([]float32{1, 2}), array.Scalar(int64(7))}, []*array.Array{array.From([]float32{3, 4}), array.Scalar(int64(8))}
	for name, c := range map[string]struct {
		gradient            float32 // of rank 1
		by, steps           float32
		taken               bool
		wantBy, wantedSteps float32
	}{
		"all is well":                  {0.5, 1024, 5, true, 1024, 6},
		"infinite":                     {float32(math.Inf(-1)), 1024, 5, false, 512, 0},
		"not a number":                 {float32(math.NaN()), 1024, 5, false, 512, 0},
		"long enough without overflow": {0.5, 1024, doublingSteps - 1, true, 2048, 0},
		"infinite without a scale":     {float32(math.Inf(1)), 1, 0, false, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var wait sync.WaitGroup
			for rank, comm := range grouptest.NewWorld(2) {
				wait.Go(func() {
					g := group.NewWith(comm, group.Config{Timeout: time.Minute})
					defer g.Close()
					mine := array.From([]float32{0, 1})
					if rank == 1 {
						mine = array.From([]float32{c.gradient, 1})
					}
					s := scale{array.Scalar(c.by), array.Scalar(c.steps)}
					after := s.accept(tree.Tree{{Path: "a", Array: mine}, {Path: "b", Array: array.Ones(dtype.Float32, 2)}}, g, before, next)
					want := []float32{1, 2, 7}
					if c.taken {
						want = []float32{3, 4, 8}
					}
					if got := flat(t, after); !slices.Equal(got, append(want, c.wantBy, c.wantedSteps)) {
						t.Errorf("rank %d: %v, want %v and %v, %v", rank, got, want, c.wantBy, c.wantedSteps)
					}
				})
			}
			wait.Wait()
		})
	}
}

func flat(t *testing.T, xs []*array.Array) (all []float32) {
	for _, x := range xs {
		values, err := array.Values[float32](t.Context(), x.AsType(dtype.Float32))
		if err != nil {
			t.Error(err)
		}
		all = append(all, values...)
	}
	return all
}

// With a scale that is far too large the first steps are left out until it fits, and then it learns.
func TestALossScaleThatIsTooLargeComesDown(t *testing.T) {
	tr := newTrial(t, options{model: "mlp", steps: 60, batch: 16, rate: 3e-3, dtype: "f16"})
	tr.scale.by = array.Scalar(float32(1 << 30))
	var first, last float32
	for step := range 60 {
		loss, err := tr.step(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			first = loss
		}
		last = loss
	}
	by := flat(t, []*array.Array{tr.scale.by})[0]
	if by >= 1<<30 || by < 1 || last > first/2 {
		t.Errorf("the scale is %v, the loss fell from %v to %v", by, first, last)
	}
	if taken := flat(t, []*array.Array{tr.state[0].Array})[0]; taken >= 60 || taken < 30 {
		t.Errorf("%v of 60 steps were taken", taken)
	}
}

func TestTheScaleIsKeptInACheckpoint(t *testing.T) {
	meta := map[string]string{}
	if err := (scale{array.Scalar(float32(4096)), array.Scalar(float32(17))}).tell(t.Context(), meta); err != nil {
		t.Fatal(err)
	}
	s, err := newScale(dtype.Float16).told(meta)
	if got := flat(t, s.arrays()); err != nil || !slices.Equal(got, []float32{4096, 17}) {
		t.Errorf("%v, %v", got, err)
	}
	if s, err := newScale(dtype.Float32).told(meta); err != nil || s.by != nil {
		t.Errorf("float32 gets a scale: %v, %v", s, err)
	}
	if s, err := newScale(dtype.Float16).told(nil); err != nil || flat(t, s.arrays())[0] != firstScale {
		t.Errorf("without one: %v, %v", s, err)
	}
	for _, wrong := range []string{"0", "-1", "NaN", "Inf", "1e39", "x"} {
		meta[scaleKey] = wrong
		if _, err := newScale(dtype.Float16).told(meta); err == nil || err.Error() != `its loss_scale is "`+wrong+`"` {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
