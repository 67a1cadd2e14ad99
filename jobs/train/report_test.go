package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/group"
)

// told returns what a report prints for losses and an outcome.
func told(o options, losses ...float32) string {
	var text strings.Builder
	o.steps = len(losses)
	r := &report{options: o, task: &task{unit: "tokens", units: 64}, out: &text, g: group.Single()}
	for i, loss := range losses {
		_ = r.step(i+1, loss, nil) // a strings.Builder takes everything
	}
	_ = r.done(outcome{Loss: number(losses[len(losses)-1]), SHA256: strings.Repeat("ab", 32), RanksEqual: true, Rows: []int64{48}, Sample: "two\nlines"})
	return text.String()
}

// objects parses one JSON object a line.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, object)
	}
	return all
}

func TestJSONHasOneObjectForEachStepAndOneMore(t *testing.T) {
	all := objects(t, told(options{json: true, batch: 16}, 4.5, 0.1))
	if len(all) != 3 {
		t.Fatalf("%d objects, want 3", len(all))
	}
	for i, loss := range []float64{4.5, 0.1} {
		if all[i]["step"] != float64(i+1) || all[i]["loss"] != loss || len(all[i]) != 3 {
			t.Errorf("step %d is %v, want loss %v and a rate", i+1, all[i], loss)
		}
		if rate, ok := all[i]["tokens_per_s"].(float64); !ok || rate <= 0 {
			t.Errorf("tokens_per_s is %v", all[i]["tokens_per_s"])
		}
	}
	for key, want := range map[string]any{
		"done": true, "loss": 0.1, "backend": "single", "size": 1.0, "params_sha256": strings.Repeat("ab", 32),
		"ranks_equal": true, "collectives": 0.0, "bytes_reduced": 0.0, "sample": "two\nlines",
	} {
		if all[2][key] != want {
			t.Errorf("%s is %v, want %v", key, all[2][key], want)
		}
	}
	if rows, ok := all[2]["rows"].([]any); !ok || len(rows) != 1 || rows[0] != 48.0 {
		t.Errorf("rows are %v, want [48]", all[2]["rows"])
	}
}

func TestLossThatJSONCannotHoldIsNull(t *testing.T) {
	for _, loss := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, object := range objects(t, told(options{json: true}, float32(loss))) {
			if value, there := object["loss"]; !there || value != nil {
				t.Errorf("loss %v is %v in %v, want null", loss, value, object)
			}
		}
	}
}

func TestLinesForPeople(t *testing.T) {
	text := told(options{batch: 1}, make([]float32, 1000)...)
	if n := strings.Count(text, "step "); n != lines {
		t.Errorf("%d progress lines of 1000 steps, want %d:\n%s", n, lines, text)
	}
	for _, says := range []string{"step 1000/1000  loss 0.0000", "two\nlines", "abababababababab…, the same on all ranks"} {
		if !strings.Contains(text, says) {
			t.Errorf("output lacks %q:\n%s", says, text)
		}
	}
}

func TestEvaluationsAreTold(t *testing.T) {
	held := number(2.5)
	for _, c := range []struct {
		o    options
		says []string
	}{
		{options{steps: 100, batch: 1}, []string{"step 3/100  loss 4.0000  held back 2.5000", "loss 4.0000, of what is held back 2.5000;"}},
		{options{steps: 100, batch: 1, json: true}, []string{`"loss":4,"tokens_per_s":`, `"eval_loss":2.5}`, `"done":true,"loss":4,"eval_loss":2.5,`}},
		{options{steps: 100, batch: 1, quiet: true}, []string{"loss 4.0000, of what is held back 2.5000;"}},
		{options{steps: 100, batch: 1, json: true, quiet: true}, []string{`"done":true,"loss":4,"eval_loss":2.5,`}},
	} {
		var text strings.Builder
		r := &report{options: c.o, task: &task{}, out: &text, g: group.Single()}
		if err := errors.Join(r.step(2, 4, nil), r.step(3, 4, &held), r.done(outcome{Loss: 4, Eval: &held})); err != nil {
			t.Fatal(err)
		}
		for _, says := range c.says {
			if !strings.Contains(text.String(), says) {
				t.Errorf("%+v lacks %q:\n%s", c.o, says, text.String())
			}
		}
		if c.o.quiet && (strings.Contains(text.String(), "step") || strings.Contains(text.String(), "tokens_per_s")) {
			t.Errorf("-quiet tells of steps:\n%s", text.String())
		}
	}
}

func TestRanksThatDifferAreNamed(t *testing.T) {
	var text strings.Builder
	r := &report{task: &task{}, out: &text, g: group.Single()}
	if err := r.done(outcome{RanksEqual: false}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "NOT the same on all ranks") {
		t.Errorf("output is %q", text.String())
	}
}

// full is an output that takes nothing.
type full struct{ io.Writer }

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAnOutputThatFailsIsAnError(t *testing.T) {
	for _, o := range []options{{steps: 1}, {steps: 1, json: true}} {
		r := &report{options: o, task: &task{}, out: full{}, g: group.Single()}
		if err := r.step(1, 0, nil); !errors.Is(err, errFull) {
			t.Errorf("json %v: step gives %v", o.json, err)
		}
		if err := r.done(outcome{}); !errors.Is(err, errFull) {
			t.Errorf("json %v: done gives %v", o.json, err)
		}
	}
}
