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

// callSite is the first frame outside the library, as file:line.
func callSite() string {
	_, here, _, _ := runtime.Caller(0)
	root := strings.TrimSuffix(here, "array/error.go")
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
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
