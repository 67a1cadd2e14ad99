package main

import (
	"context"

	"github.com/lockstep-go/lockstep/dtype"
)

const (
	tagData = 1
	tagDone = 2
)

// pair is one end of messages between the first rank and the last.
type pair struct {
	call
	peer  int
	shape []int
}

func pairOf(c call) pair {
	p := pair{c, 0, []int{c.size / c.t.Size()}}
	if c.g.IsLeader() {
		p.peer = c.g.Size() - 1
	}
	return p
}

func (p pair) between() bool { return !p.g.IsLeader() && p.g.Rank() < p.g.Size()-1 }

func (p pair) send(ctx context.Context, data []byte) error {
	return p.g.SendMessage(ctx, p.peer, tagData, p.t, p.shape, data)
}

func (p pair) recv(ctx context.Context, data []byte) error {
	return p.g.RecvMessage(ctx, p.peer, tagData, p.t, p.shape, data)
}

// idle is what the ranks between the two ends do.
var idle = trial{func(context.Context) error { return nil }, func() error { return nil }}

// pingPong sends a message there and back. The last rank sends what came, which
// rank 0 compares with what it sent.
func pingPong(c call) trial {
	p := pairOf(c)
	if p.between() {
		return idle
	}
	want, in := filled(c.t, c.size, 0, 1), make([]byte, c.size)
	if c.g.IsLeader() {
		return trial{func(ctx context.Context) error {
			if err := p.send(ctx, want); err != nil {
				return err
			}
			return p.recv(ctx, in)
		}, func() error { return c.same(in, want) }}
	}
	return trial{func(ctx context.Context) error {
		if err := p.recv(ctx, in); err != nil {
			return err
		}
		return p.send(ctx, in)
	}, func() error { return c.same(in, want) }}
}

// window is how many messages go before one that acknowledges them all.
func window(size int) int { return max(4, min(64, 64*mib/size)) }

// stream sends a window of messages from rank 0 to the last rank, which then says
// that all have come.
func stream(c call) trial {
	p := pairOf(c)
	if p.between() {
		return idle
	}
	data, done := make([]byte, c.size), make([]byte, 1)
	if c.g.IsLeader() {
		data = filled(c.t, c.size, 0, 1)
		return trial{func(ctx context.Context) error {
			for range window(c.size) {
				if err := p.send(ctx, data); err != nil {
					return err
				}
			}
			return c.g.RecvMessage(ctx, p.peer, tagDone, dtype.Uint8, []int{1}, done)
		}, func() error { return nil }}
	}
	return trial{func(ctx context.Context) error {
		for range window(c.size) {
			if err := p.recv(ctx, data); err != nil {
				return err
			}
		}
		return c.g.SendMessage(ctx, p.peer, tagDone, dtype.Uint8, []int{1}, done)
	}, func() error { return c.same(data, filled(c.t, c.size, 0, 1)) }}
}
