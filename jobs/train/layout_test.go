package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/nn"
)

func TestDividedModelsLearnAsOneProcess(t *testing.T) {
	for _, o := range []options{
		{model: "gpt", steps: 3, batch: 4, rate: 3e-3},
		{model: "mlp", steps: 20, batch: 8, rate: 3e-3},
	} {
		o.tensor = 1
		one := trainWorld(t, o, 1, nil)[0]
		for _, c := range []struct{ ranks, tensor int }{{2, 2}, {4, 2}, {4, 4}} {
			t.Run(fmt.Sprintf("%s on %d ranks, %d for each model", o.model, c.ranks, c.tensor), func(t *testing.T) {
				o.tensor = c.tensor
				for rank, end := range trainWorld(t, o, c.ranks, nil) {
					if !slices.EqualFunc(end.losses, one.losses, near) {
						t.Errorf("rank %d has losses %v, one process %v", rank, end.losses, one.losses)
					}
					if !end.RanksEqual {
						t.Errorf("rank %d: parameters differ", rank)
					}
					rows := slices.Repeat([]int64{int64(o.steps * o.batch * c.tensor / c.ranks)}, c.ranks)
					if !slices.Equal(end.Rows, rows) {
						t.Errorf("rank %d: rows %v, want %v", rank, end.Rows, rows)
					}
					if want := int64(o.steps) * collectivesOf(o.model, c.ranks/c.tensor); end.Collectives != want {
						t.Errorf("rank %d: %d collectives, want %d", rank, end.Collectives, want)
					}
				}
			})
		}
	}
}

// collectivesOf is how many a step of a divided model takes. Each of the transformer's
// two blocks adds up twice on the way to the loss and twice on the way back; the
// classifier adds up once, and asks for no gradient by its images. Several replicas
// average the loss and, in one bucket, the gradients.
func collectivesOf(model string, replicas int) int64 {
	n := int64(8)
	if model == "mlp" {
		n = 1
	}
	if replicas > 1 {
		n += 2
	}
	return n
}

// A rank whose part went astray is found out, although nobody else holds it.
func TestAPartThatWentAstrayShowsInTheHash(t *testing.T) {
	o := options{model: "mlp", steps: 1, batch: 4, rate: 3e-3, tensor: 2}
	same := trainWorld(t, o, 4, nil)
	scaled := trainWorld(t, o, 4, func(grads tree.Tree, g *group.Group) tree.Tree {
		means := nn.AverageGradients(grads, g)
		if g.Rank() == 1 {
			means[0].Array = means[0].Array.Neg()
		}
		return means
	})
	for rank := range same {
		if !same[rank].RanksEqual || scaled[rank].RanksEqual {
			t.Errorf("rank %d: parameters are the same: %v, with another sign on some ranks %v", rank, same[rank].RanksEqual, scaled[rank].RanksEqual)
		}
	}
}

func TestTheWholeModelLearnsWhatThePartsDo(t *testing.T) {
	o := options{model: "mlp", steps: 1, batch: 4, rate: 3e-3, tensor: 2}
	task, err := o.task()
	if err != nil {
		t.Fatal(err)
	}
	whole := nn.Parameters(task.whole)
	doubled := whole.Map(func(l tree.Leaf) *array.Array { return l.Array.MulScalar(2) })
	if err := task.learnt(doubled); err != nil || nn.Parameters(task.whole)[0] != whole[0] {
		t.Errorf("a model that is not divided was replaced (%v)", err)
	}
	task.model = nn.NewSequential()
	if err := task.learnt(doubled); err != nil || nn.Parameters(task.whole)[0] != doubled[0] {
		t.Errorf("the whole model has not learnt (%v)", err)
	}
}
