package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/lockstep-go/lockstep/group"
)

// progress is a bar on rank 0's standard error, where that is a terminal. Elsewhere the
// rows tell how far it is.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress counts rows.
func newProgress(o *options, g *group.Group, to *os.File) *progress {
	info, err := to.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	// mpirun gives its ranks a terminal of its own, wherever their output goes.
	if o.quiet || !terminal || !g.IsLeader() || g.Backend() == "mpi" {
		return &progress{}
	}
	return &progress{newBar(o.rows(g), to)}
}

func newBar(rows int, to io.Writer) *progressbar.ProgressBar {
	return progressbar.NewOptions(rows,
		progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("bench"), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
}

// clear makes way for a line on the same terminal.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// add counts a row.
func (p *progress) add() {
	if p.bar != nil {
		p.bar.Add(1)
	}
}

// rows is how many rows a run has.
func (o *options) rows(g *group.Group) (n int) {
	for _, ranks := range o.rounds(g) {
		for _, op := range o.only {
			if op.pair() && ranks < 2 {
				continue
			}
			for _, t := range o.dtypesOf(op) {
				n += len(o.sizesOf(op, t))
			}
		}
	}
	return n
}
