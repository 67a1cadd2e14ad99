package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// markdown writes everything as a section of a document.
func (r *results) markdown(w io.Writer) {
	r.preface(w)
	for _, s := range r.scenarios {
		r.table(w, s)
	}
	r.ratios(w, r.judge(demands()))
}

// preface says what the figures come from and what is not among them.
func (r *results) preface(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", r.machine)
	fmt.Fprintf(w, "Measured %s by turns in %d %s; medians. %s\n", r.began.UTC().Format("2006-01-02 15:04 UTC"), r.options.rounds, plural(r.options.rounds, "round"), r.company())
	if r.options.quick {
		fmt.Fprintln(w, "\nA trial run: the figures mean nothing.")
	}
	var told []string
	for _, c := range r.field {
		line := fmt.Sprintf("Left out: %s, %s.", c.row, c.missing)
		if c.missing != "" && !slices.Contains(told, line) {
			told = append(told, line)
			fmt.Fprintf(w, "\n%s\n", line)
		}
	}
	for _, f := range r.failures {
		fmt.Fprintf(w, "\nFailed: %s of %d bytes, %s: %s\n", f.Scenario, f.Bytes, f.Contender, f.Error)
	}
}

// company says what else the machine did.
func (r *results) company() string {
	if r.foreign < 0 {
		return "What other processes did meanwhile is not known."
	}
	text := fmt.Sprintf("Other processes used %.0f %% of the cores meanwhile", 100*r.foreign)
	if r.disturbed > 0 {
		text += fmt.Sprintf(" and disturbed %d of %d launches (more than %.0f %%)", r.disturbed, r.launches, 100*quiet)
	}
	if r.apart > 0 {
		text += fmt.Sprintf("; the cores lay apart in %d of %d launches", r.apart, r.launches)
	}
	if r.disturbed+r.apart > 0 {
		text += ": **figures from those alone, marked ~, and ratios made of them say little**"
	}
	return text + "."
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// table has a row for each contender and a column for each size.
func (r *results) table(w io.Writer, s scenario) {
	rows := r.rows(s)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, %s\n\n|", capital(s.heading), s.unit)
	for _, n := range s.bytes {
		fmt.Fprintf(w, " | %s", columnName(s, n))
	}
	fmt.Fprintf(w, " |\n|---%s|\n", strings.Repeat("|---", len(s.bytes)))
	for _, row := range rows {
		fmt.Fprintf(w, "| %s", row)
		for _, n := range s.bytes {
			fmt.Fprintf(w, " | %s", r.shown(s, row, n))
		}
		fmt.Fprintln(w, " |")
	}
}

func columnName(s scenario, bytes int) string {
	if s.op == idleOp {
		return "of a core"
	}
	return sizeName(bytes)
}

func (r *results) shown(s scenario, row string, bytes int) string {
	value, best, ok := r.best(cell{s.name(), row, bytes})
	if !ok {
		return "–"
	}
	text := s.unit.show(value, bytes)
	if len(best.Values) == 0 {
		text = "~" + text
	}
	if row == gloo {
		text += " " + best.Detail
	}
	return text
}

func (u unit) String() string { return [...]string{"µs", "GB/s", "%"}[u] }

// show gives a figure in the table's unit.
func (u unit) show(value float64, bytes int) string {
	if u == bandwidth {
		return fmt.Sprintf("%.3g", float64(bytes)/value/1e3)
	}
	return short(value)
}

// short keeps three digits and groups thousands.
func short(value float64) string {
	if value < 999.5 {
		return fmt.Sprintf("%.3g", value)
	}
	scale := 1.0
	for value/scale >= 999.5 {
		scale *= 10
	}
	digits := fmt.Sprintf("%.0f", float64(int(value/scale+0.5))*scale)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// ratios lists what was demanded and what was reached.
func (r *results) ratios(w io.Writer, all []verdict) {
	counts := map[string]int{}
	for _, v := range all {
		counts[v.mark()]++
	}
	fmt.Fprintf(w, "\nRatios: %d met, %d missed, %d open for want of a figure", counts[met], counts[missed], counts[open]+counts["~"+open])
	if met, missed := counts["~"+met], counts["~"+missed]; met+missed > 0 {
		fmt.Fprintf(w, "; by disturbed figures %d met, %d missed", met, missed)
	}
	fmt.Fprint(w, "\n\n")
	fmt.Fprintln(w, "| part | ours | size | than | wanted | reached | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for _, v := range all {
		if !v.measured && v.status == open {
			continue
		}
		fmt.Fprintf(w, "| %s | %s, %s | %s | %s | %s | %s | %s |\n",
			v.part, v.ours.scenario, v.ours.row, sizeName(v.ours.bytes), v.than.row, v.terms(), v.reached(), v.mark())
	}
}

// reached is the outcome in the terms of the demand.
func (v verdict) reached() string {
	switch {
	case !v.measured:
		return "not measured"
	case v.than.row == "":
		return short(v.got) + " %"
	case v.status == open:
		return short(v.got) + " µs"
	case v.plus > 0:
		return fmt.Sprintf("%s µs more", short(v.got-v.other))
	}
	return fmt.Sprintf("%.2f× (%s to %s µs)", v.got/v.other, short(v.got), short(v.other))
}

// mark is the outcome, with a sign when a disturbed figure had part in it.
func (v verdict) mark() string {
	if v.disturbed {
		return "~" + v.status
	}
	return v.status
}
