package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

// report is what rank 0 says and keeps; elsewhere it is silent.
type report struct {
	o      *options
	world  *group.Group
	out    io.Writer
	silent bool
	json   *program.File
	plot   *program.File
	bar    *program.Bar
	record record
}

// record is the JSON document.
type record struct {
	Backend string   `json:"backend"`
	Origin  string   `json:"origin"` // why that backend
	Ranks   int      `json:"ranks"`
	Go      string   `json:"go"`
	System  string   `json:"system"`
	Cores   int      `json:"cores"` // of rank 0's machine
	Results []result `json:"results"`
}

func newReport(o *options, g *group.Group, out io.Writer) *report {
	return &report{
		o: o, world: g, out: out, silent: !g.IsLeader(), bar: o.bar(g),
		record: record{
			Backend: g.Backend(), Origin: g.Origin(), Ranks: g.Size(),
			Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(),
		},
	}
}

// open makes sure, before anything is measured, that the files can be written.
func (r *report) open() (err error) {
	if r.silent {
		return nil
	}
	if r.json, err = program.NewFile("-json", r.o.json); err == nil {
		r.plot, err = program.NewFile("-plot", r.o.plot)
	}
	return err
}

// abandon removes files that were not finished.
func (r *report) abandon() {
	r.bar.Clear()
	r.json.Abandon()
	r.plot.Abandon()
}

// finish writes the files.
func (r *report) finish() error {
	return errors.Join(r.json.Write(r.writeJSON), r.plot.Write(func(w io.Writer) error {
		return drawn(w, filepath.Ext(r.o.plot)[1:], r.record)
	}))
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r.record)
}

// note prints a comment.
func (r *report) note(format string, args ...any) error {
	if r.silent {
		return nil
	}
	r.bar.Clear()
	_, err := fmt.Fprintf(r.out, "# "+format+"\n", args...)
	return err
}

// title begins a table.
func (r *report) title(op operation, t dtype.Type, g *group.Group) error {
	if r.silent {
		return nil
	}
	r.bar.Clear()
	elements := ""
	if !op.empty() {
		elements = fmt.Sprintf("# Datatype: %v.\n", t)
	}
	of, unit := "Latency", "(us)"
	if op.kind == bandwidth {
		of, unit = "Bandwidth", "(MB/s)"
	}
	_, err := fmt.Fprintf(r.out, "\n# lockstep %s Test, %s on %s\n%s%-12s%22s", op.title, program.Ranks(g.Size()), r.record.Backend, elements, "# Size", "Avg "+of+unit)
	for _, column := range []string{"Min", "P50", "P95", "P99", "Max"} {
		if err == nil {
			_, err = fmt.Fprintf(r.out, "%16s", column+unit)
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(r.out, "%12s\n", "Iterations")
	}
	return err
}

// row prints one result and keeps it.
func (r *report) row(row result) error {
	if r.silent {
		return nil
	}
	r.record.Results = append(r.record.Results, row)
	r.bar.Clear()
	defer r.bar.Add()
	_, err := fmt.Fprintf(r.out, "%-12d%22.2f", row.Bytes, row.Mean)
	for _, x := range []float64{row.Min, row.P50, row.P95, row.P99, row.Max} {
		if err == nil {
			_, err = fmt.Fprintf(r.out, "%16.2f", x)
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(r.out, "%12d\n", row.Iterations)
	}
	return err
}
