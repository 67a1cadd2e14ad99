package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/turn"
)

// noDeadline lifts one.
var noDeadline time.Time

// outbox is the connection over which this rank sends to one peer of a group.
type outbox struct {
	turn turn.Turn // held by the Send that writes
	conn net.Conn  // set by whoever holds the turn, under the group's lock
}

func newOutbox() outbox { return outbox{turn: turn.New()} }

func (c *comm) checkPeer(op string, r, tag int) error {
	switch {
	case r < 0 || r >= c.Size():
		return fmt.Errorf("ring: %s: ranks are 0 to %d", op, c.Size()-1)
	case r == c.rank:
		return fmt.Errorf("ring: %s: that is this rank itself", op)
	case tag < 0 || tag > maxTag:
		return fmt.Errorf("ring: %s: tags are 0 to %d", op, maxTag)
	}
	return nil
}

// Send delivers data to dst. It returns once the system, or the receiver, has
// all of it, and waits while the receiver keeps as much as it may without having
// been asked for it. It breaks the group when it is cut off in the middle.
func (c *comm) Send(ctx context.Context, dst, tag int, data []byte) error {
	if done, err := c.sendAtOnce(ctx, dst, tag, data); done {
		return err
	}
	op := sending(dst, tag)
	if err := c.checkPeer(op, dst, tag); err != nil {
		return err
	}
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	p := c.peers[dst]
	if p.out.turn.Take(ctx.Done(), c.life.Done()) {
		defer p.out.turn.Pass()
	}
	conn, err := c.outgoing(ctx, dst)
	begun := false
	if err == nil {
		begun, err = c.write(ctx, conn, label{uint32(tag), uint64(len(data))}, data)
	}
	if err == nil {
		return nil
	}
	return c.sendError(ctx, op, dst, begun, err)
}

// parting says how a peer ended that has.
func (c *comm) parting(r int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if how := c.peers[r].how; how != nil {
		return how
	}
	return errLeft
}

// outgoing returns the connection to a peer, which the sender dials on first use.
func (c *comm) outgoing(ctx context.Context, dst int) (net.Conn, error) {
	p := c.peers[dst]
	c.mu.Lock()
	conn, left := p.out.conn, p.left
	c.mu.Unlock()
	switch {
	case c.life.Err() != nil:
		return nil, errEnded
	case left:
		return nil, c.parting(dst)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case conn != nil:
		return conn, nil
	}
	conn, err := c.dial(ctx, c.life, dst, forMessages)
	if err == nil {
		conn, err = c.offerPipe(ctx, conn)
	}
	if err != nil {
		return nil, err
	}
	looks := newPatience(c.node.crowded())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil || p.left {
		conn.Close()
		return nil, errEnded
	}
	p.out.conn = c.outgoingWire(conn, looks)
	return p.out.conn, nil
}

// write sends one message. begun: a part of it may be on its way.
func (c *comm) write(ctx context.Context, conn net.Conn, l label, data []byte) (begun bool, err error) {
	if w, ok := conn.(*wireWriter); ok {
		w.begin(l)
		n, err := w.write(data, 0, c.lasts(ctx))
		return n > 0, err
	}
	release := interruptible(ctx, conn)
	all := net.Buffers{l.encode(), data}
	n, err := all.WriteTo(conn)
	release()
	return n > 0, err
}

// sendError names what a failed Send failed on, and breaks the group unless only
// ctx ended before anything was sent, or the peer had left in order.
func (c *comm) sendError(ctx context.Context, op string, dst int, begun bool, err error) error {
	p := c.peers[dst]
	c.mu.Lock()
	left := p.left
	c.mu.Unlock()
	switch {
	case c.life.Err() != nil:
		return c.failure(op)
	case left:
		return c.peerError(op, dst, c.parting(dst))
	case errors.Is(ctx.Err(), context.Canceled) && begun:
		return c.giveUp(-1, c.gaveUp(op, context.Cause(ctx)))
	case ctx.Err() != nil && begun:
		return c.giveUp(dst, c.peerError(op, dst, fmt.Errorf("takes no more of the message: %w", context.Cause(ctx))))
	case ctx.Err() != nil:
		return c.peerError(op, dst, fmt.Errorf("has no room: %w", context.Cause(ctx)))
	}
	return c.explainMessage(op, dst, err)
}

// explainMessage finds out why a connection to a peer failed: it ends a moment
// before or after the notice that says why. A peer that left in order breaks
// nothing.
func (c *comm) explainMessage(op string, r int, err error) error {
	timer := time.NewTimer(graceTime)
	defer timer.Stop()
	select {
	case <-c.life.Done():
		return c.failure(op)
	case <-c.peers[r].gone:
		return c.peerError(op, r, c.parting(r))
	case <-timer.C:
		return c.giveUp(r, c.peerError(op, r, err))
	}
}

// Recv fills data with the next message from src that carries tag. The end of
// ctx does no harm; a message that was arriving is dropped then.
func (c *comm) Recv(ctx context.Context, src, tag int, data []byte) error {
	if done, err := c.recvAtOnce(ctx, src, tag, data); done {
		return err
	}
	op := receiving(src, tag)
	if err := c.checkPeer(op, src, tag); err != nil {
		return err
	}
	if err := c.usable(op); err != nil {
		return err
	}
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	in := &c.peers[src].in
	q := in.ask(tag, data)
	in.pipe.Load().rouse()
	in.wire.Load().rouse()
	var err error
	select {
	case err = <-q.done:
	default:
		select {
		case err = <-q.done:
		case <-ctx.Done():
			in.withdraw(q)
			err = <-q.done
		case <-c.life.Done():
			in.withdraw(q)
			err = <-q.done
		}
	}
	return c.recvError(ctx, op, src, err)
}

func (c *comm) recvError(ctx context.Context, op string, src int, err error) error {
	var length *group.LengthError
	var link *linkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &length):
		length.Src = src
		return length
	case c.life.Err() != nil:
		return c.failure(op)
	case errors.Is(err, errCut):
		return c.peerError(op, src, fmt.Errorf("has sent nothing: %w", context.Cause(ctx)))
	case errors.As(err, &link):
		return c.explainMessage(op, src, link.err)
	case errors.Is(err, errLeft):
		return c.peerError(op, src, c.parting(src))
	}
	return c.peerError(op, src, err)
}

// readMessages reads what a peer sends until its end. One without a goodbye
// breaks the group.
func (c *comm) readMessages(r int, conn net.Conn) {
	in := &c.peers[r].in
	err := c.readConn(r, conn)
	defer in.finish()
	defer conn.Close()
	if c.life.Err() == nil {
		c.explainMessage(fmt.Sprintf("recv from rank %d", r), r, err)
	}
}
