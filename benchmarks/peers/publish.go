package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lockstep-go/lockstep/benchmarks/section"
)

// publish writes the section to w and writes the files that were asked for. Launches
// that failed are an error then.
func (r *results) publish(w io.Writer) error {
	var text bytes.Buffer
	r.markdown(&text)
	if _, err := w.Write(text.Bytes()); err != nil {
		return err
	}
	if o := r.options; o.json != "" {
		if err := r.writeJSON(o.json); err != nil {
			return err
		}
	}
	if o := r.options; o.section != "" {
		if err := section.Replace(o.section, "peers", text.String()); err != nil {
			return err
		}
	}
	if n := len(r.failures); n > 0 {
		return fmt.Errorf("%d of the launches failed", n)
	}
	return nil
}

// row is a cell as the JSON file has it.
type row struct {
	Scenario string     `json:"scenario"`
	Row      string     `json:"row"`
	Bytes    int        `json:"bytes"`
	Best     float64    `json:"best"`
	Unit     string     `json:"unit"`
	Attempts []*attempt `json:"attempts"`
}

// ratio is a verdict as the JSON file has it.
type ratio struct {
	Part     string  `json:"part"`
	Scenario string  `json:"scenario"`
	Ours     string  `json:"ours"`
	Bytes    int     `json:"bytes"`
	Than     string  `json:"than,omitempty"`
	Factor   float64 `json:"factor"`
	Plus     float64 `json:"plus"`
	Got      float64 `json:"got"`
	Other    float64 `json:"other"`
	Status   string  `json:"status"`
	// Disturbed says that one of the two figures comes from disturbed launches alone.
	Disturbed bool `json:"disturbed"`
}

func (r *results) writeJSON(file string) error {
	text, err := json.MarshalIndent(struct {
		Machine  machine   `json:"machine"`
		Foreign  float64   `json:"foreign"`
		Began    time.Time `json:"began"`
		Rounds   int       `json:"rounds"`
		Rows     []row     `json:"rows"`
		Ratios   []ratio   `json:"ratios"`
		Failures []failure `json:"failures"`
	}{r.machine, r.foreign, r.began, r.options.rounds, r.jsonRows(), r.jsonRatios(), r.failures}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func (r *results) jsonRows() []row {
	var all []row
	for _, s := range r.scenarios {
		for _, name := range r.rows(s) {
			for _, n := range s.bytes {
				at := cell{s.name(), name, n}
				if best, _, ok := r.best(at); ok {
					all = append(all, row{s.name(), name, n, best, s.measured(), r.cells[at]})
				}
			}
		}
	}
	return all
}

// measured is the unit of the figures themselves.
func (s scenario) measured() string {
	if s.unit == percent {
		return "%"
	}
	return "us"
}

func (r *results) jsonRatios() []ratio {
	var all []ratio
	for _, v := range r.judge(demands()) {
		all = append(all, ratio{v.part, v.ours.scenario, v.ours.row, v.ours.bytes, v.than.row, v.factor, v.plus, v.got, v.other, v.status, v.disturbed})
	}
	return all
}
