package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// lines is about how many progress lines a run prints.
const lines = 20

// progress is the JSON object of one step.
type progress struct {
	Step int     `json:"step"`
	Loss number  `json:"loss"`
	Rate float64 `json:"tokens_per_s"`
	Eval *number `json:"eval_loss,omitempty"` // of what is held back, after this step
}

// outcome is the last JSON object.
type outcome struct {
	Done         bool    `json:"done"`
	Loss         number  `json:"loss"`
	Eval         *number `json:"eval_loss,omitempty"`
	Backend      string  `json:"backend"`
	Size         int     `json:"size"`
	SHA256       string  `json:"params_sha256"`
	RanksEqual   bool    `json:"ranks_equal"`
	Rows         []int64 `json:"rows"` // ranks that share a model consume the same examples
	Collectives  int64   `json:"collectives"`
	BytesReduced int64   `json:"bytes_reduced"`
	Sample       string  `json:"sample"`
}

// report tells the world how it goes, on rank 0; elsewhere it is silent.
type report struct {
	options
	*task
	out     io.Writer
	g       *group.Group
	bar     *program.Bar // on standard error
	barOnly bool         // no lines beside it, as they are for the same terminal
	last    time.Time
	since   int // steps since the last line
	asked   func() request
	curve   curve
	picture *program.File
	idle    bool // there was nothing left to learn
}

func newReport(out *os.File, o options, t *task, g *group.Group) *report {
	r := &report{options: o, task: t, out: out, g: g, last: time.Now()}
	if o.quiet {
		return r
	}
	r.bar = program.NewBar("train", o.steps, g)
	r.barOnly = r.bar != nil && !o.json && program.IsTerminal(out)
	if g.IsLeader() && !o.json {
		fmt.Fprintf(out, "%s\n%d steps of %d examples on %s (%s)\n", t.name, o.steps, o.batch, o.crew(g.Size()), why(g))
	}
	return r
}

// open makes sure, before anything is learnt, that the picture and the checkpoint can be
// written.
func (r *report) open() (err error) {
	if !r.g.IsLeader() {
		return nil
	}
	if r.checkpoint != "" {
		if err := checkpoint.Prepare(r.file()); err != nil {
			return program.WrongUse(fmt.Errorf("-checkpoint %s: %w", r.checkpoint, err))
		}
	}
	r.picture, err = program.NewFile("-plot", r.options.plot)
	return err
}

// close leaves no trace of what was not finished.
func (r *report) close() {
	r.bar.Clear()
	r.picture.Abandon()
}

// crew says how many ranks there are and what they share.
func (o options) crew(n int) string {
	if o.tensor <= 1 {
		return program.Ranks(n)
	}
	return fmt.Sprintf("%s, each model divided over %d", program.Ranks(n), o.tensor)
}

func why(g *group.Group) string { return fmt.Sprintf("backend %s: %s", g.Backend(), g.Origin()) }

// step reports one step, and the loss of what is held back if it was evaluated: each step as JSON, some as
// lines, and on a terminal as a bar. The error is that of the output.
func (r *report) step(step int, loss float32, eval *number) error {
	if !r.g.IsLeader() {
		return nil
	}
	r.curve.add(step, loss, eval)
	r.since++
	if r.quiet {
		return nil
	}
	rate := float64(r.since*r.options.batch*r.units) / time.Since(r.last).Seconds()
	r.bar.Describe(fmt.Sprintf("train: loss %.4f, %.0f %s/s", loss, rate, r.unit))
	r.bar.Set(step)
	due := r.json || step%max(1, r.steps/lines) == 0 || step == r.steps || eval != nil
	if !due {
		return nil
	}
	r.last, r.since = time.Now(), 0
	if r.barOnly && eval == nil {
		return nil
	}
	r.bar.Clear()
	if r.json {
		return r.write(progress{Step: step, Loss: number(loss), Rate: rate, Eval: eval})
	}
	held := ""
	if eval != nil {
		held = fmt.Sprintf("  held back %.4f", *eval)
	}
	_, err := fmt.Fprintf(r.out, "step %d/%d  loss %.4f%s  %.0f %s/s\n", step, r.steps, loss, held, rate, r.unit)
	return err
}

// complete says that a checkpoint leaves nothing to do.
func (r *report) complete() error {
	r.idle = true
	if !r.g.IsLeader() || r.json || r.quiet {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "%s has all %d steps already\n", r.file(), r.steps)
	return err
}

// done reports the outcome.
func (r *report) done(o outcome) error {
	if !r.g.IsLeader() {
		return nil
	}
	r.bar.Clear()
	o.Done, o.Backend, o.Size = true, r.g.Backend(), r.g.Size()
	if r.json {
		return r.write(o)
	}
	same := "the same on all ranks"
	if !o.RanksEqual {
		same = "NOT the same on all ranks"
	}
	held := ""
	if o.Eval != nil {
		held = fmt.Sprintf(", of what is held back %.4f", *o.Eval)
	}
	loss := fmt.Sprintf("loss %.4f%s; ", o.Loss, held)
	if r.idle {
		loss = ""
	}
	_, err := fmt.Fprintf(r.out, "\n%s\n\n%sparameters %.16s…, %s\n", o.Sample, loss, o.SHA256, same)
	return err
}

// write prints one JSON object on a line of its own.
func (r *report) write(v any) error { return json.NewEncoder(r.out).Encode(v) }

// number is null in JSON when it is infinite or not a number.
type number float32

// MarshalJSON writes the shortest decimal that reads back as the same float32.
func (n number) MarshalJSON() ([]byte, error) {
	if !finite(float32(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float32(n))
}

func finite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

func hex(b []byte) string { return fmt.Sprintf("%x", b) }
