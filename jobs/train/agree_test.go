package main

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/program"
)

func TestRanksStartedDifferentlyAllSaySo(t *testing.T) {
	same := options{model: "mlp", steps: 2, batch: 6, rate: 3e-3, seed: 1<<64 - 1}
	for name, c := range map[string]struct {
		change func(*options, *task)
		says   string
	}{
		"another model":         {func(o *options, _ *task) { o.model = "gpt" }, "-model gpt"},
		"another batch":         {func(o *options, _ *task) { o.batch = 12 }, "-batch 12"},
		"more steps":            {func(o *options, _ *task) { o.steps = maxSteps }, "-steps 1099511627776"},
		"another seed":          {func(o *options, _ *task) { o.seed = 0 }, "-seed 0"},
		"another learning rate": {func(o *options, _ *task) { o.rate = 3.0000000000000005e-3 }, "-lr 0.0030000000000000005"},
		"other data":            {func(_ *options, t *task) { t.digest = digest([]byte("b")) }, "data 3e23e8160039"},
		"models over more":      {func(o *options, _ *task) { o.tensor = 3 }, "-tp 3"},
		"another type":          {func(o *options, _ *task) { o.dtype = "f16" }, "-dtype f16"},
		"other parts":           {func(o *options, _ *task) { o.accumulate = 2 }, "-accumulate 2"},
		"other evaluations":     {func(o *options, _ *task) { o.evalEvery = 2 }, "-eval-every 2"},
		"nothing":               {func(o *options, _ *task) { o.backend, o.json = "ring", true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			const odd = 1
			errs := make([]error, 3)
			var ranks sync.WaitGroup
			for rank, comm := range grouptest.NewWorld(len(errs)) {
				o, task := same, task{digest: digest([]byte("a"))}
				if rank == odd {
					c.change(&o, &task)
				}
				g := group.NewWith(comm, group.Config{Timeout: time.Minute})
				ranks.Go(func() { errs[rank] = program.Agree(t.Context(), g, o.settings(&task)) })
			}
			ranks.Wait()
			for rank, err := range errs {
				if c.says == "" {
					if err != nil {
						t.Errorf("rank %d: %v", rank, err)
					}
					continue
				}
				wrongUse(t, err, c.says)
				if s := err.Error(); !strings.Contains(s, `rank 0 with "-model mlp`) || !strings.Contains(s, "rank 1 with") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

func TestALostRankIsNoWrongUse(t *testing.T) {
	comms := grouptest.NewWorld(2)
	g := group.NewWith(comms[0], group.Config{Timeout: time.Minute})
	if err := comms[1].Close(); err != nil {
		t.Fatal(err)
	}
	err := program.Agree(t.Context(), g, "")
	var usage *program.UsageError
	if err == nil || errors.As(err, &usage) {
		t.Errorf("error is %v", err)
	}
}
