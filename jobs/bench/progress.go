package main

import (
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

// bar counts rows.
func (o *options) bar(g *group.Group) *program.Bar {
	if o.quiet {
		return nil
	}
	return program.NewBar("bench", o.rows(g), g)
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
