package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/lockstep-go/lockstep/internal/conform"
)

// event is what `go test -json` and `go tool test2json` print, as far as it matters here.
type event struct {
	Action      string
	Package     string
	ImportPath  string // instead of Package while building
	FailedBuild string
	Test        string
	Elapsed     float64
	Output      string
	Key, Value  string // of an attribute
}

// packageRun is one package on its way; its zero name of a test is the package itself.
type packageRun struct {
	name    string
	tests   []string // in order of their start
	status  map[string]status
	output  map[string]*strings.Builder
	covers  map[string][]string // ids of the conformance list
	elapsed float64
}

func newPackageRun(name string) *packageRun {
	return &packageRun{name: name, status: map[string]status{}, output: map[string]*strings.Builder{}, covers: map[string][]string{}}
}

// tally reads events to their end. Lines that are not events, such as those of a tool that failed to start, are
// shown as they are.
func tally(in io.Reader, out io.Writer) ([]row, error) {
	var rows []row
	open := map[string]*packageRun{}
	builds := map[string]*strings.Builder{}
	var order []string
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(out, line)
		case e.Action == "build-output":
			write(builds, e.ImportPath, e.Output)
		case e.Package != "":
			p := open[e.Package]
			if p == nil {
				p = newPackageRun(e.Package)
				open[e.Package], order = p, append(order, e.Package)
			}
			if p.add(e, builds) {
				rows = append(rows, p.close(out)...)
				delete(open, e.Package)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range order {
		if p := open[name]; p != nil {
			p.status[""] = fail
			write(p.output, "", "the events end before the package does\n")
			rows = append(rows, p.close(out)...)
			delete(open, name)
		}
	}
	return rows, nil
}

// add takes one event in and says whether it ended the package.
func (p *packageRun) add(e event, builds map[string]*strings.Builder) (ended bool) {
	switch e.Action {
	case "run":
		p.tests = append(p.tests, e.Test)
		p.status[e.Test] = fail // until its end is seen
	case "output":
		write(p.output, e.Test, e.Output)
	case "attr":
		if e.Key == conform.Attribute {
			p.covers[e.Test] = append(p.covers[e.Test], e.Value)
		}
	case "pass", "fail", "skip":
		p.status[e.Test] = status(e.Action)
		p.elapsed = e.Elapsed
		if text := builds[e.FailedBuild]; text != nil {
			write(p.output, "", text.String())
		}
		return e.Test == ""
	}
	return false
}

// close shows the package's line and the output of failures, and returns a row for each test that counts.
func (p *packageRun) close(out io.Writer) []row {
	rows := p.rows()
	count := map[status]int{}
	for _, r := range rows {
		count[r.status]++
		if r.status == fail {
			fmt.Fprintf(out, "--- %s\n%s", r.test, p.outputOf(r.test))
		}
	}
	if p.status[""] == skip || len(rows) == 0 {
		return rows // no test files
	}
	fmt.Fprintf(out, "%-4s %s  %.1fs  %d passed, %d failed, %d skipped\n",
		p.status[""], short(p.name), p.elapsed, count[pass], count[fail], count[skip])
	return append(rows, p.covered()...)
}

// covered has a row for each id that a test covers which passed and, if it holds others, of which at least one ran.
func (p *packageRun) covered() []row {
	below := p.below()
	var rows []row
	for _, test := range p.tests {
		if inside := below[test]; p.status[test] != pass || inside.any && !inside.passed {
			continue
		}
		for _, id := range p.covers[test] {
			rows = append(rows, row{status: covers, test: id, why: short(p.name) + " " + test})
		}
	}
	return rows
}

// rows leaves out tests that only hold others, unless they failed by themselves; a package that failed though
// no test of it did (it does not build, or its process died) is a row of its own.
func (p *packageRun) rows() []row {
	var rows []row
	failed := false
	below := p.below()
	for _, test := range p.tests {
		if inside := below[test]; inside.any && (p.status[test] != fail || inside.failed) {
			continue
		}
		r := row{status: p.status[test], test: short(p.name) + " " + test}
		if r.status == skip {
			r.why = reason(p.text(test))
		}
		failed = failed || r.status == fail
		rows = append(rows, r)
	}
	if p.status[""] == fail && !failed {
		rows = append(rows, row{status: fail, test: short(p.name)})
	}
	return rows
}

// inside says of a test which others it holds: any at all, one that failed, one that passed and holds none itself.
type inside struct{ any, failed, passed bool }

// below is that of every test which holds others.
func (p *packageRun) below() map[string]inside {
	all := map[string]inside{}
	for _, test := range p.tests {
		for above := range parents(test) {
			in := all[above]
			in.any, in.failed = true, in.failed || p.status[test] == fail
			all[above] = in
		}
	}
	for _, test := range p.tests {
		if all[test].any || p.status[test] != pass {
			continue
		}
		for above := range parents(test) {
			in := all[above]
			in.passed = true
			all[above] = in
		}
	}
	return all
}

// parents are those that hold a test, the nearest first.
func parents(test string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(test, '/'); i >= 0; i = strings.LastIndexByte(test[:i], '/') {
			if !yield(test[:i]) {
				return
			}
		}
	}
}

func (p *packageRun) outputOf(test string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(test, short(p.name)), " ")
	text := p.text(name)
	if name != "" && !strings.Contains(text, "--- FAIL") {
		text += p.text("") // it died: what the process said last is with the package
	}
	return text
}

func (p *packageRun) text(test string) string {
	if text := p.output[test]; text != nil {
		return text.String()
	}
	return ""
}

func write(texts map[string]*strings.Builder, key, text string) {
	if texts[key] == nil {
		texts[key] = new(strings.Builder)
	}
	texts[key].WriteString(text)
}

var skipLine = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

func reason(output string) string {
	if m := skipLine.FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}

func short(pkg string) string {
	const module = "github.com/lockstep-go/lockstep"
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}
