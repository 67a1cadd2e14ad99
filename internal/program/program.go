// Package program is what the programs of this module do alike between their flags and
// their exit code: wrong use is one line on standard error and exit code 2, a failure one
// line and exit code 1, and what a signal ended has 128 plus its number.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// The exit codes of a program that no signal ended.
const (
	CodeFailure = 1
	CodeUsage   = 2
)

// UsageError is a mistake of whoever started the program.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// WrongUse makes an error a UsageError, and leaves nil as it is.
func WrongUse(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}

// End says on w, in one line that begins with the program's name, what the program ended
// with, and returns the exit code. A signal that ended ctx is the cause of whatever err is.
func End(ctx context.Context, w io.Writer, name string, err error) int {
	var usage *UsageError
	var sig *SignalError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(context.Cause(ctx), &sig), errors.As(err, &sig):
		fmt.Fprintf(w, "%s: ended by %v\n", name, sig)
		return 128 + int(sig.Signal)
	}
	fmt.Fprintf(w, "%s: %s\n", name, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	if errors.As(err, &usage) {
		return CodeUsage
	}
	return CodeFailure
}

// Parse reads a program's arguments, all of which are flags. What flags does not know, what
// is left over and what check finds are a UsageError. After -h, for which it prints intro and
// the flags, it returns flag.ErrHelp.
func Parse(flags *flag.FlagSet, intro string, args []string, check func() error) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		fmt.Println(intro)
		flags.PrintDefaults()
		return err
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil:
		err = check()
	}
	return WrongUse(err)
}

// Ranks says how many there are: "1 rank", "2 ranks".
func Ranks(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", n)
}
