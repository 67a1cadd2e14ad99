package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// trained is how a run ended on one rank.
type trained struct {
	losses []float32
	outcome
}

// trainWorld runs some steps on every rank of a world in this process.
// Gradients are averaged by average unless it is nil.
func trainWorld(t *testing.T, o options, ranks int, average func(tree.Tree, *group.Group) tree.Tree) []trained {
	t.Helper()
	ends := make([]trained, ranks)
	var wait sync.WaitGroup
	for rank, comm := range grouptest.NewWorld(ranks) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			end, err := trainRank(t, o, g, average)
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, ranks, err)
			}
			ends[rank] = end
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return ends
}

func trainRank(t *testing.T, o options, g *group.Group, average func(tree.Tree, *group.Group) tree.Tree) (end trained, err error) {
	task, err := o.task()
	if err != nil {
		return end, err
	}
	l, err := o.arrange(t.Context(), task, g)
	if err != nil {
		return end, err
	}
	defer l.close()
	tr := newTrainer(o, task, l)
	if average != nil {
		tr.average = average
	}
	for step := range o.steps {
		loss, err := tr.step(t.Context(), step)
		if err != nil {
			return end, err
		}
		end.losses = append(end.losses, loss)
	}
	end.outcome, err = tr.outcome(t.Context())
	return end, err
}

// near reports whether two losses agree as well as sums in another order do.
func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-3*math.Abs(float64(b)) }

func TestWorldsLearnAsOneProcess(t *testing.T) {
	for _, o := range []options{
		{model: "gpt", steps: 3, batch: 4, rate: 3e-3, tensor: 1},
		{model: "mlp", steps: 20, batch: 8, rate: 3e-3, tensor: 1},
	} {
		one := trainWorld(t, o, 1, nil)[0]
		for _, ranks := range []int{2, 4} {
			t.Run(fmt.Sprintf("%s on %d ranks", o.model, ranks), func(t *testing.T) {
				for rank, end := range trainWorld(t, o, ranks, nil) {
					if !slices.EqualFunc(end.losses, one.losses, near) {
						t.Errorf("rank %d has losses %v, one process %v", rank, end.losses, one.losses)
					}
					if !end.RanksEqual {
						t.Errorf("rank %d: parameters differ", rank)
					}
					rows := slices.Repeat([]int64{int64(o.steps * o.batch / ranks)}, ranks)
					if !slices.Equal(end.Rows, rows) {
						t.Errorf("rank %d: rows %v, want %v", rank, end.Rows, rows)
					}
					if end.Collectives < int64(2*o.steps) || end.BytesReduced == 0 {
						t.Errorf("rank %d: %d collectives of %d bytes in %d steps", rank, end.Collectives, end.BytesReduced, o.steps)
					}
				}
			})
		}
	}
}

func TestOtherTypesLearnAlmostTheSame(t *testing.T) {
	o := options{model: "gpt", steps: 8, batch: 4, rate: 3e-3, tensor: 1}
	full := trainWorld(t, o, 2, nil)[0]
	for _, o.dtype = range []string{"bf16", "f16"} {
		for _, o.tensor = range []int{1, 2} {
			for _, ranks := range []int{1, 2} {
				if ranks < o.tensor {
					continue
				}
				end := trainWorld(t, o, ranks, nil)[0]
				for i, loss := range end.losses {
					if diff := math.Abs(float64(loss - full.losses[i])); diff > 1e-2 || diff == 0 {
						t.Errorf("%s, -tp %d on %d ranks: step %d has loss %v, in float32 %v", o.dtype, o.tensor, ranks, i, loss, full.losses[i])
					}
				}
				if !end.RanksEqual {
					t.Errorf("%s on %d ranks: parameters differ", o.dtype, ranks)
				}
				// Gradients take half as much, losses do not.
				if o.tensor == 1 && ranks == 2 && end.BytesReduced > full.BytesReduced/2+int64(4*o.steps) {
					t.Errorf("%s sends %d bytes, float32 %d", o.dtype, end.BytesReduced, full.BytesReduced)
				}
			}
		}
	}
}

func TestABatchInPartsIsTheBatch(t *testing.T) {
	o := options{model: "mlp", steps: 20, batch: 16, rate: 3e-3, tensor: 1}
	whole := trainWorld(t, o, 1, nil)[0]
	for _, o.accumulate = range []int{2, 8} {
		for _, ranks := range []int{1, 2} {
			end := trainWorld(t, o, ranks, nil)[0]
			for i, loss := range end.losses {
				if math.Abs(float64(loss-whole.losses[i])) > 1e-5*float64(whole.losses[i]) {
					t.Errorf("in %d parts on %d ranks: step %d has loss %v, at once %v", o.accumulate, ranks, i, loss, whole.losses[i])
				}
			}
			if end.Rows[0] != whole.Rows[0]/int64(ranks) || !end.RanksEqual {
				t.Errorf("in %d parts on %d ranks: rows %v, equal %t", o.accumulate, ranks, end.Rows, end.RanksEqual)
			}
		}
	}
}

func TestRanksDifferWithoutAveraging(t *testing.T) {
	o := options{model: "mlp", steps: 2, batch: 8, rate: 3e-3, tensor: 1}
	alone := func(grads tree.Tree, _ *group.Group) tree.Tree { return grads }
	ends := trainWorld(t, o, 4, alone)
	sums := map[string]bool{}
	for rank, end := range ends {
		sums[end.SHA256] = true
		if end.RanksEqual {
			t.Errorf("rank %d finds all parameters equal", rank)
		}
	}
	if len(sums) != len(ends) {
		t.Errorf("%d different sums on %d ranks", len(sums), len(ends))
	}
}

func TestRanksThatDifferInTheEndHaveFailed(t *testing.T) {
	var wait sync.WaitGroup
	errs := make([]error, 2)
	for rank, comm := range grouptest.NewWorld(len(errs)) {
		wait.Go(func() {
			o := options{model: "mlp", steps: 1, batch: 4, rate: 3e-3, seed: uint64(rank), json: true}
			task, err := o.task()
			if err != nil {
				errs[rank] = err
				return
			}
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			errs[rank] = fit(t.Context(), o, task, dataParallel(g), &report{options: o, task: task, out: io.Discard, g: g})
		})
	}
	wait.Wait()
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "not the same on all ranks") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestTheSameRunTwiceHasTheSameBits(t *testing.T) {
	o := options{model: "gpt", steps: 2, batch: 2, rate: 3e-3, tensor: 1, seed: 9}
	a, b := trainWorld(t, o, 2, nil), trainWorld(t, o, 2, nil)
	if a[0].SHA256 != b[0].SHA256 || !slices.Equal(a[0].losses, b[0].losses) {
		t.Errorf("first %v, then %v", a[0], b[0])
	}
	o.seed++
	if c := trainWorld(t, o, 2, nil); c[0].SHA256 == a[0].SHA256 {
		t.Error("another seed gives the same parameters")
	}
}

func TestHashIsOverFloat32InOrder(t *testing.T) {
	a, b := array.From([]float64{1, -2}), array.From([]float32{0.5})
	params := tree.Tree{{Path: "a", Array: a}, {Path: "b", Array: b}}
	got, err := hash(t.Context(), params)
	want := sha256.Sum256([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f})
	if err != nil || got != want {
		t.Errorf("hash %x, %v; want %x", got, err, want)
	}
	if _, err := hash(t.Context(), tree.Tree{{Path: "a", Array: a.Add(array.Ones(dtype.Float32, 3))}}); err == nil {
		t.Error("a mistake in a parameter is hashed")
	}
}

func TestTheClassifierLearns(t *testing.T) {
	o := options{model: "mlp", steps: 300, batch: 32, rate: 3e-3, tensor: 1}
	task, err := o.task()
	if err != nil {
		t.Fatal(err)
	}
	r := &report{options: o, task: task, out: io.Discard, g: group.Single()}
	if err := fit(t.Context(), o, task, dataParallel(group.Single()), r); err != nil {
		t.Fatal(err)
	}
	var right, of int
	sample, err := task.sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(sample, "%d of %d", &right, &of); err != nil || 10*right < 9*of {
		t.Errorf("after %d steps: %s", o.steps, sample)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, model := range []string{"gpt", "mlp"} {
		b.Run(model, func(b *testing.B) {
			o, err := parse([]string{"-model", model})
			if err != nil {
				b.Fatal(err)
			}
			t, err := o.task()
			if err != nil {
				b.Fatal(err)
			}
			tr := newTrainer(o, t, dataParallel(group.Single()))
			step := 0
			for b.Loop() {
				if _, err := tr.step(b.Context(), step); err != nil {
					b.Fatal(err)
				}
				step++
			}
		})
	}
}
