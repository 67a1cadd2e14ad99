package array

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// OpError is the mistake that an array carries: the operation that found it and
// the place in the user's program that asked for it.
type OpError struct {
	Op    string
	Where string // file:line of the first caller outside the library; empty if unknown
	Err   error
}

// Error reads "add at train.go:31: shapes [2 2] and [3] do not broadcast".
func (e *OpError) Error() string {
	if e.Where == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s at %s: %v", e.Op, e.Where, e.Err)
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// newOpError looks up the caller, which is worth its microseconds only when
// something is wrong.
func newOpError(op string, err error) *OpError {
	return &OpError{Op: op, Where: callSite(), Err: err}
}

const module = "github.com/lockstep-go/lockstep/"

// programs are the folders of this module that count as outside the library, as
// tests do.
var programs = []string{"jobs/", "examples/", "benchmarks/", "scripts/"}

// callSite is the caller's place in the user's program, as file:line.
func callSite() string { return newSite().String() }

// site is the stack of a call, looked up only when its place is asked for.
type site []uintptr

func newSite() *site {
	var pcs [64]uintptr
	s := site(slices.Clone(pcs[:runtime.Callers(2, pcs[:])]))
	return &s
}

// String is the first frame outside the library, as file:line; empty if there is
// none.
func (s *site) String() string {
	_, here, _, _ := runtime.Caller(0)
	root := strings.TrimSuffix(here, "array/error.go")
	frames := runtime.CallersFrames(*s)
	for {
		frame, more := frames.Next()
		if frame.File != "" && !isLibrary(frame, root) {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// isLibrary reports whether a frame is of the library, whose files lie under root,
// or of Go's own packages. A closure of the library that was inlined bears the name
// of the function that it was inlined into: then only its file tells.
func isLibrary(frame runtime.Frame, root string) bool {
	for _, own := range []string{"runtime.", "reflect.", "sync.", "slices."} {
		if strings.HasPrefix(frame.Function, own) {
			return true
		}
	}
	file, inside := strings.CutPrefix(frame.File, root)
	if !inside {
		file, inside = strings.CutPrefix(frame.Function, module)
	}
	isProgram := func(folder string) bool { return strings.HasPrefix(file, folder) }
	return inside && !strings.HasSuffix(frame.File, "_test.go") && !slices.ContainsFunc(programs, isProgram)
}
