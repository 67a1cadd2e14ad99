package group

import (
	"context"

	"github.com/lockstep-go/lockstep/internal/turn"
)

// place is where calls of one kind take turns.
type place struct {
	turn  turn.Turn
	spare *bounded // the context of an earlier call, to be used again; guarded by turn
}

func newPlace() place { return place{turn: turn.New()} }

// begin waits for the turn and returns the call's context, which end takes back.
func (p *place) begin(ctx context.Context, g *Group, what call) (*bounded, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !p.turn.Try() { // only who has to wait needs a timer
		b := g.bound(ctx, what)
		if !p.turn.Take(b.Done(), nil) {
			defer b.end()
			return nil, context.Cause(b)
		}
		return b, nil
	}
	b := p.spare
	if b == nil {
		return g.bound(ctx, what), nil
	}
	p.spare = nil
	b.parent, b.g, b.what, b.fresh = ctx, g, what, true
	return b, nil
}

// end ends a call and its context, and passes the turn on.
func (p *place) end(b *bounded) {
	if b.end() {
		b.reset()
		p.spare = b
	}
	p.turn.Pass()
}
