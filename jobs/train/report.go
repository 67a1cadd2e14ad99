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
)

// lines is about how many progress lines a run prints where there is no
// terminal.
const lines = 20

// progress is the JSON object of one step.
type progress struct {
	Step int     `json:"step"`
	Loss number  `json:"loss"`
	Rate float64 `json:"tokens_per_s"`
}

// outcome is the last JSON object.
type outcome struct {
	Done         bool    `json:"done"`
	Loss         number  `json:"loss"`
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
	out      io.Writer
	g        *group.Group
	terminal bool
	last     time.Time
	since    int // steps since the last line
	asked    func() request
}

func newReport(out *os.File, o options, t *task, g *group.Group) *report {
	r := &report{options: o, task: t, out: out, g: g, last: time.Now()}
	info, err := out.Stat()
	// mpirun gives its ranks a terminal of its own, wherever its output goes.
	r.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && g.Backend() != "mpi"
	if g.IsLeader() && !o.json {
		fmt.Fprintf(out, "%s\n%d steps of %d examples on %s (%s)\n", t.name, o.steps, o.batch, o.crew(g.Size()), why(g))
	}
	return r
}

// crew says how many ranks there are and what they share.
func (o options) crew(n int) string {
	if o.tensor <= 1 {
		return program.Ranks(n)
	}
	return fmt.Sprintf("%s, each model divided over %d", program.Ranks(n), o.tensor)
}

func why(g *group.Group) string { return fmt.Sprintf("backend %s: %s", g.Backend(), g.Origin()) }

// step reports one step: each as JSON, all on one line of a terminal, some
// elsewhere. The error is that of the output.
func (r *report) step(step int, loss float32) error {
	if !r.g.IsLeader() {
		return nil
	}
	r.since++
	every := 1
	if !r.json && !r.terminal {
		every = max(1, r.steps/lines)
	}
	if step%every != 0 && step != r.steps {
		return nil
	}
	now := time.Now()
	rate := float64(r.since*r.options.batch*r.units) / now.Sub(r.last).Seconds()
	r.last, r.since = now, 0
	if r.json {
		return r.write(progress{Step: step, Loss: number(loss), Rate: rate})
	}
	format := "step %d/%d  loss %.4f  %.0f %s/s\n"
	if r.terminal {
		format = "\rstep %d/%d  loss %.4f  %.0f %s/s\x1b[K"
	}
	_, err := fmt.Fprintf(r.out, format, step, r.steps, loss, rate, r.unit)
	return err
}

// done reports the outcome.
func (r *report) done(o outcome) error {
	if !r.g.IsLeader() {
		return nil
	}
	o.Done, o.Backend, o.Size = true, r.g.Backend(), r.g.Size()
	if r.json {
		return r.write(o)
	}
	if r.terminal {
		fmt.Fprintln(r.out)
	}
	same := "the same on all ranks"
	if !o.RanksEqual {
		same = "NOT the same on all ranks"
	}
	_, err := fmt.Fprintf(r.out, "\n%s\n\nloss %.4f; parameters %.16s…, %s\n", o.Sample, o.Loss, o.SHA256, same)
	return err
}

// write prints one JSON object on a line of its own.
func (r *report) write(v any) error { return json.NewEncoder(r.out).Encode(v) }

// number is null in JSON when it is infinite or not a number.
type number float32

// MarshalJSON writes the shortest decimal that reads back as the same float32.
func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float32(n))
}

func hex(b []byte) string { return fmt.Sprintf("%x", b) }
