package program

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/lockstep-go/lockstep/group"
)

// Bar shows on a terminal how far a program is. A nil Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// NewBar counts to max on rank 0's standard error; it is nil where that is no terminal and on
// other ranks.
func NewBar(name string, max int, g *group.Group) *Bar {
	// mpirun gives its ranks a terminal of its own, wherever their output goes.
	if !g.IsLeader() || g.Backend() == "mpi" || !IsTerminal(os.Stderr) {
		return nil
	}
	return NewBarOn(os.Stderr, name, max)
}

// IsTerminal reports whether what is written to a file appears on a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// NewBarOn is NewBar on a given terminal.
func NewBarOn(terminal io.Writer, name string, max int) *Bar {
	return &Bar{progressbar.NewOptions(max,
		progressbar.OptionSetWriter(terminal), progressbar.OptionSetDescription(name), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())}
}

// Describe changes what stands before the bar.
func (b *Bar) Describe(text string) {
	if b != nil {
		b.bar.Describe(text)
	}
}

// Set is how far it is.
func (b *Bar) Set(n int) {
	if b != nil {
		b.bar.Set(n)
	}
}

// Add is one more.
func (b *Bar) Add() {
	if b != nil {
		b.bar.Add(1)
	}
}

// Clear makes way for a line on the same terminal.
func (b *Bar) Clear() {
	if b != nil {
		b.bar.Clear()
	}
}
