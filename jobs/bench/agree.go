package main

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

// agree compares what the ranks were started with. A difference is wrong use, on
// every rank.
func agree(ctx context.Context, o *options, g *group.Group) error {
	for _, n := range o.ranks {
		if n > g.Size() {
			return program.WrongUse(fmt.Errorf("-ranks has %d, and there are %d", n, g.Size()))
		}
	}
	return program.Agree(ctx, g, o.settings())
}
