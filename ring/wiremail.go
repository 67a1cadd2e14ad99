package ring

import (
	"context"
	"fmt"
	"net"
)

// outgoingWire makes a wire of a new connection, which it takes over, where that can
// be done; else it returns conn.
func (c *comm) outgoingWire(conn net.Conn, p *patience) net.Conn {
	w := c.wireOver(conn)
	if w == nil {
		return conn
	}
	return &wireWriter{Conn: conn, wire: w, patience: p}
}

// wireOver returns nil, and leaves conn alone, where there are no wires.
func (c *comm) wireOver(conn net.Conn) wire {
	if c.node.cfg.portable {
		return nil
	}
	w, err := newWire(conn)
	if err != nil {
		c.node.log.Debug("ring: messages go by package net", "err", err)
	}
	return w
}

// sendByWire sends a message. The turn is held.
func (c *comm) sendByWire(ctx context.Context, w *wireWriter, dst, tag int, data []byte) error {
	w.begin(label{uint32(tag), uint64(len(data))})
	n, err := w.write(data, 0, nil)
	if n == labelBytes+len(data) {
		return nil
	}
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	if err == nil {
		n, err = w.write(data, n, c.lasts(ctx))
	}
	if err == nil {
		return nil
	}
	return c.sendError(ctx, sending(dst, tag), dst, n > 0, err)
}

// lasts says why an operation must end, if it must.
func (c *comm) lasts(ctx context.Context) func() error {
	return func() error {
		if c.life.Err() != nil {
			return errEnded
		}
		return ctx.Err()
	}
}

// recvByWire receives a message by reading the wire itself, as recvAtOnce does.
func (c *comm) recvByWire(ctx context.Context, r *wireReader, src, tag int, data []byte) (done bool, err error) {
	in := &c.peers[src].in
	if !r.turn.TryLock() {
		return false, nil
	}
	defer in.passWire(r)
	if r.closed || r.skip.Load() > 0 || !in.idle() {
		return false, nil
	}
	n, ok := r.open(tag, data)
	if !ok {
		return false, nil
	}
	r.used.Store(true)
	return true, c.finishFrom(ctx, r, src, tag, data, n)
}

// finishFrom reads the rest of a message of which n bytes are there; the turn is held.
func (c *comm) finishFrom(ctx context.Context, r *wireReader, src, tag int, data []byte, n int) error {
	n, err := r.readAll(data, n, nil)
	if n == len(data) {
		return nil
	}
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	if err == nil {
		n, err = r.readAll(data, n, c.lasts(ctx))
	}
	op := receiving(src, tag)
	switch {
	case err == nil:
		return nil
	case c.life.Err() != nil:
		return c.failure(op)
	case ctx.Err() != nil:
		r.skip.Store(int64(len(data) - n))
		return c.peerError(op, src, fmt.Errorf("sends no more of the message: %w", context.Cause(ctx)))
	}
	return c.explainMessage(op, src, noEOF(err))
}

// passWire gives up the turn.
func (in *inbox) passWire(r *wireReader) {
	r.turn.Unlock()
	if r.skip.Load() > 0 || in.wanted() {
		r.lookout.rouse()
	}
}

// incomingWire makes a wire of a connection, which it takes over, where that can be
// done; else it returns nil.
func (c *comm) incomingWire(in *inbox, conn net.Conn) *wireReader {
	w := c.wireOver(conn)
	if w == nil {
		return nil
	}
	r := &wireReader{Conn: conn, wire: w, patience: newPatience(c.node.crowded())}
	r.lookout = lookout{wire: w, bells: make(chan struct{}, 1)}
	c.mu.Lock()
	in.mu.Lock()
	in.conn = r
	in.mu.Unlock()
	if c.life.Err() != nil {
		r.Close()
	}
	c.mu.Unlock()
	in.wire.Store(r)
	return r
}

// readWire takes messages off a wire for those who wait for them, and those that
// nobody has come for, until its end.
func (in *inbox) readWire(life context.Context, r *wireReader) error {
	defer r.free()
	for {
		if err := in.awaitWire(r); err != nil {
			return err
		}
		r.turn.Lock()
		err := in.readFromWire(life, r)
		r.turn.Unlock()
		if err != nil {
			return err
		}
	}
}

// awaitWire returns when there may be something that no Recv is about to read, or
// that one asks for.
func (in *inbox) awaitWire(r *wireReader) error {
	for {
		asked := in.wanted() || r.skip.Load() > 0
		if !asked && r.used.Swap(false) {
			r.lookout.linger()
			continue
		}
		if r.holds() {
			return nil
		}
		if err := r.lookout.wait(); err != nil {
			return err
		}
		if asked || !r.used.Load() {
			return nil
		}
	}
}

// readFromWire reads one message, unless that is left to the Recv after one that
// has read meanwhile.
func (in *inbox) readFromWire(life context.Context, r *wireReader) error {
	if r.used.Load() && r.skip.Load() == 0 && !in.wanted() {
		return nil
	}
	if err := drop(r, uint64(r.skip.Load())); err != nil {
		return err
	}
	r.skip.Store(0)
	if len(r.held) == 0 {
		if n, err := r.fill(); n == 0 {
			return plainEOF(err)
		}
	}
	l, err := readLabel(r)
	if err != nil {
		return noEOF(err)
	}
	return in.accept(life, r, l)
}
