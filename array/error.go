package array

import (
	"fmt"
	"path/filepath"
	"runtime"
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

// callSite is the first frame outside the library, as file:line. Programs under
// jobs and tests count as outside.
func callSite() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.File != "" && !isLibrary(frame) {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func isLibrary(frame runtime.Frame) bool {
	if strings.HasPrefix(frame.Function, "runtime.") || strings.HasPrefix(frame.Function, "reflect.") ||
		strings.HasPrefix(frame.Function, "sync.") || strings.HasPrefix(frame.Function, "slices.") {
		return true
	}
	inside, ok := strings.CutPrefix(frame.Function, module)
	return ok && !strings.HasPrefix(inside, "jobs/") && !strings.HasSuffix(frame.File, "_test.go")
}
