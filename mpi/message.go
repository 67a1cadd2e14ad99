//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

// Send delivers data to dst. Short messages leave at once; long ones wait until
// dst receives. When ctx ends first, data belongs to MPI until the process ends
// and may still arrive, whole.
func (c *comm) Send(ctx context.Context, dst, tag int, data []byte) error {
	op := fmt.Sprintf("send to rank %d tag %d", dst, tag)
	if err := c.checkMessage(ctx, op, dst, tag); err != nil {
		return err
	}
	defer c.leave()
	b := c.job.single()
	err := b.send(c.messages, dst, tag, data)
	if err == nil {
		err = c.await(ctx, b, c.message(op, dst, len(data)))
	}
	c.job.settle(b, err)
	return c.peerError(op, dst, err)
}

// Recv fills data with the next message from src that carries tag. The end of
// ctx before that message has come leaves it to a later Recv.
func (c *comm) Recv(ctx context.Context, src, tag int, data []byte) error {
	op := fmt.Sprintf("receive from rank %d tag %d", src, tag)
	if err := c.checkMessage(ctx, op, src, tag); err != nil {
		return err
	}
	defer c.leave()
	p := &probe{comm: c.messages, source: src, tag: tag}
	if err := c.await(ctx, p, c.message(op, src, 0)); err != nil {
		return c.peerError(op, src, err)
	}
	if p.bytes() != len(data) {
		return c.drop(ctx, op, p, len(data))
	}
	return c.peerError(op, src, c.accept(ctx, op, p, data))
}

// accept receives the message that p has found.
func (c *comm) accept(ctx context.Context, op string, p *probe, data []byte) error {
	b := c.job.single()
	err := b.receiveMatched(p, data)
	if err == nil {
		err = c.await(ctx, b, c.message(op, p.source, p.bytes()))
	}
	c.job.settle(b, err)
	return err
}

// drop receives a message of the wrong length and forgets it. It takes as much
// memory as the message: Open MPI crashes over TCP when there is less room.
func (c *comm) drop(ctx context.Context, op string, p *probe, want int) error {
	if err := c.accept(ctx, op, p, make([]byte, p.bytes())); err != nil {
		return c.peerError(op, p.source, err)
	}
	return &group.LengthError{Src: p.source, Tag: p.tag, Got: p.bytes(), Want: want}
}

func (c *comm) message(op string, peer, bytes int) *wait {
	return &wait{op: op, bytes: bytes, peer: peer, missing: func() []int { return []int{peer} }}
}

// checkMessage admits a call with a peer; leave is due when it succeeds.
func (c *comm) checkMessage(ctx context.Context, op string, peer, tag int) error {
	switch {
	case peer < 0 || peer >= c.size:
		return fmt.Errorf("mpi: %s: the group has ranks 0 to %d", op, c.size-1)
	case peer == c.rank:
		return fmt.Errorf("mpi: %s: that is this rank itself; another one is needed", op)
	case tag < 0 || tag > c.tagLimit:
		return fmt.Errorf("mpi: %s: tags lie from 0 to %d", op, c.tagLimit)
	}
	if err := ended(ctx); err != nil {
		return fmt.Errorf("mpi: %s: %w", op, err)
	}
	if err := c.enter(); err != nil {
		return fmt.Errorf("mpi: %s: %w", op, err)
	}
	return nil
}

func (c *comm) peerError(op string, peer int, err error) error {
	var broken *group.BrokenError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken) || errors.Is(err, group.ErrClosed):
		return fmt.Errorf("mpi: %s: %w", op, err)
	}
	var left *group.PeerError // says the rank already
	if errors.As(err, &left) {
		err = left.Err
	}
	return &group.PeerError{Op: "mpi: " + op, Rank: peer, Err: err}
}
