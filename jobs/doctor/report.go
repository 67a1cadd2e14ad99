package main

import (
	"fmt"
	"io"
	"strings"
)

// report prints a line for each check and keeps whether all went well.
type report struct {
	w      io.Writer
	failed int
}

func (r *report) ok(name, format string, args ...any) { r.line("ok  ", name, format, args...) }

func (r *report) fail(name, format string, args ...any) {
	r.failed++
	r.line("FAIL", name, format, args...)
}

func (r *report) line(mark, name, format string, args ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	fmt.Fprintf(r.w, "%s %-10s %s\n", mark, name, text)
}

func (r *report) code() int {
	if r.failed > 0 {
		return 1
	}
	return 0
}
