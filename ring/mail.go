package ring

import (
	"context"
	"fmt"
	"io"
	"net"
)

// sendAtOnce sends a message over a pipe that has room for it, or soon has, or over a
// wire. When it reports false nothing has been sent.
func (c *comm) sendAtOnce(ctx context.Context, dst, tag int, data []byte) (done bool, err error) {
	if !c.mayMail(ctx, dst, tag) {
		return false, nil
	}
	p := c.peers[dst]
	if !p.out.turn.Try() {
		return false, nil
	}
	defer p.out.turn.Pass()
	if c.life.Err() != nil || p.hasLeft() {
		return false, nil
	}
	if w, ok := p.out.conn.(*wireWriter); ok {
		return true, c.sendByWire(ctx, w, dst, tag, data)
	}
	w, ok := p.out.conn.(*pipeWriter)
	if !ok {
		return false, nil
	}
	n := labelBytes + len(data)
	if n > w.stream.Capacity() || !w.stream.HasRoom(n) && !w.spinner.Spin(w.missing(n)) {
		return false, nil
	}
	w.stream.WriteMessage(label{uint32(tag), uint64(len(data))}.encode(), data)
	w.ring()
	return true, nil
}

func (c *comm) mayMail(ctx context.Context, peer, tag int) bool {
	return peer >= 0 && peer < c.Size() && peer != c.rank && tag >= 0 && tag <= maxTag && ctx.Err() == nil
}

// recvAtOnce receives a message by reading the pipe itself: when no other one is to
// be had from that peer, none is waited for, and the one that comes, within a
// moment, is the one wanted. When it reports false it has read nothing.
func (c *comm) recvAtOnce(ctx context.Context, src, tag int, data []byte) (done bool, err error) {
	if c.life.Err() != nil || !c.mayMail(ctx, src, tag) {
		return false, nil
	}
	in := &c.peers[src].in
	if r := in.wire.Load(); r != nil {
		return c.recvByWire(ctx, r, src, tag, data)
	}
	p := in.pipe.Load()
	if p == nil || !p.turn.TryLock() {
		return false, nil
	}
	defer in.pass(p)
	if p.closed || p.skip.Load() > 0 || !in.idle() {
		return false, nil
	}
	if p.stream.Available() < labelBytes && !p.spinner.Spin(p.missing(labelBytes)) {
		return false, nil
	}
	var head [labelBytes]byte
	p.stream.Peek(head[:])
	l, err := decodeLabel(&head)
	if err != nil || int(l.tag) != tag || l.length != uint64(len(data)) {
		return false, nil
	}
	n := p.stream.ReadAfter(labelBytes, data)
	p.ring()
	if n == len(data) {
		return true, nil
	}
	return true, c.fillFrom(ctx, p, src, tag, data, n)
}

// fillFrom reads the rest of a message of which n bytes have been read; its turn is
// held.
func (c *comm) fillFrom(ctx context.Context, p *pipeReader, src, tag int, data []byte, n int) error {
	for n < len(data) && p.spinner.Spin(p.missing(1)) {
		n += p.take(data[n:])
	}
	if n == len(data) {
		return nil
	}
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	op := receiving(src, tag)
	for n < len(data) {
		err := p.sleep(p.tolls, ctx.Done())
		switch {
		case err == nil:
			n += p.take(data[n:])
			continue
		case c.life.Err() != nil:
			return c.failure(op)
		case err == errCut:
			p.skip.Store(int64(len(data) - n))
			return c.peerError(op, src, fmt.Errorf("sends no more of the message: %w", context.Cause(ctx)))
		}
		return c.explainMessage(op, src, io.ErrUnexpectedEOF)
	}
	return nil
}

func sending(dst, tag int) string { return fmt.Sprintf("send to rank %d with tag %d", dst, tag) }

func receiving(src, tag int) string { return fmt.Sprintf("recv from rank %d with tag %d", src, tag) }

// pass gives up the turn; what another Recv may wait for is the goroutine's to
// read.
func (in *inbox) pass(p *pipeReader) {
	p.turn.Unlock()
	if p.skip.Load() > 0 || in.wanted() {
		p.rouse()
	}
}

// wanted reports whether someone waits for a message.
func (in *inbox) wanted() bool {
	if in.idle() {
		return false
	}
	in.mu.Lock()
	defer in.unlock()
	return len(in.asked) > 0
}

// readConn takes messages off a connection, the wire made of it or the pipe beside
// it, until its end.
func (c *comm) readConn(r int, conn net.Conn) error {
	p, err := c.acceptPipe(conn)
	in := &c.peers[r].in
	switch {
	case err != nil:
		return err
	case p == nil:
		if w := c.incomingWire(in, conn); w != nil {
			return in.readWire(c.life, w)
		}
		return in.read(c.life)
	}
	c.mu.Lock()
	in.mu.Lock()
	in.conn = p
	in.mu.Unlock()
	c.mu.Unlock()
	in.pipe.Store(p)
	c.work.Go(p.listen)
	return in.readPipe(c.life, p)
}

// readPipe takes messages off a pipe for those who wait for them, or because the
// sender waits.
func (in *inbox) readPipe(life context.Context, p *pipeReader) error {
	for {
		if err := in.awaitMail(p); err != nil {
			return err
		}
		p.turn.Lock()
		err := in.readMail(life, p)
		p.turn.Unlock()
		if err != nil {
			return err
		}
	}
}

// awaitMail returns when there is something in the pipe that is to be read, or
// its end. What nobody wants stays there as long as the sender does not wait.
func (in *inbox) awaitMail(p *pipeReader) error {
	for {
		wanted := in.wanted() || p.skip.Load() > 0
		if wanted {
			p.stream.ReaderWaits()
		}
		if (wanted || p.stream.WriterIsWaiting()) && p.stream.Available() > 0 {
			return nil
		}
		select {
		case <-p.bells:
		case <-p.over:
			if p.stream.Available() == 0 {
				return p.err
			}
			return nil
		}
	}
}

// readMail reads one message, if a Recv has not done so meanwhile.
func (in *inbox) readMail(life context.Context, p *pipeReader) error {
	if err := drop(p, uint64(p.skip.Load())); err != nil {
		return err
	}
	p.skip.Store(0)
	if p.stream.Available() == 0 {
		return nil
	}
	l, err := readLabel(p)
	if err != nil {
		return noEOF(err)
	}
	return in.accept(life, p, l)
}
