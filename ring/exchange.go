package ring

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
)

// exchange is a collective under way: it moves messages between this rank and
// others, all of them marked with the call's fingerprint.
type exchange struct {
	comm    *comm
	ctx     context.Context
	call    callText
	head    head // of its messages, but for their length
	waiting int  // the peer that was waited for last
}

// message is what goes to or comes from one peer at a time.
type message struct {
	peer   int
	blocks [][]byte
}

func (m message) length() uint64 {
	n := 0
	for _, b := range m.blocks {
		n += len(b)
	}
	return uint64(n)
}

// inline is how much a rank may write before it reads. The smallest socket
// buffers hold as much, so it never waits for a peer that also writes first.
const inline = 16 << 10

// move sends and receives side by side, each in the order given, so that two
// ranks that send each other more than the sockets hold do not block each other.
// It returns when all of it is done. All connections that this rank makes are
// made before it waits for any that a peer makes: so there is no circle.
func (x *exchange) move(sends, receives []message) error {
	for _, m := range append(slices.Clone(sends), receives...) {
		x.waiting = m.peer
		if err := x.comm.dialLink(x.ctx, m.peer); err != nil {
			return &linkError{m.peer, err}
		}
	}
	if total(sends) <= inline {
		if err := x.send(sends); err != nil {
			return err
		}
		return x.receive(receives)
	}
	var sending sync.WaitGroup
	var sent error
	sending.Go(func() {
		if sent = x.send(sends); sent != nil {
			x.comm.interrupt()
		}
	})
	err := x.receive(receives)
	if err != nil {
		x.comm.interrupt()
	}
	sending.Wait()
	if err == nil || sent != nil && interrupted(err) {
		err = sent
	}
	return err
}

// interrupted reports whether err only follows from another one.
func interrupted(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errEnded)
}

func total(all []message) uint64 {
	var n uint64
	for _, m := range all {
		n += m.length()
	}
	return n
}

func (x *exchange) send(all []message) error {
	for _, m := range all {
		l, err := x.comm.awaitLink(x.ctx, m.peer)
		if err == nil {
			err = l.send(x.headOf(m), m.blocks)
		}
		if err != nil {
			return &linkError{m.peer, err}
		}
	}
	return nil
}

func (x *exchange) receive(all []message) error {
	for _, m := range all {
		x.waiting = m.peer
		l, err := x.comm.awaitLink(x.ctx, m.peer)
		if err == nil {
			err = l.receive(x.headOf(m), m.blocks)
		}
		if err != nil {
			return &linkError{m.peer, err}
		}
	}
	return nil
}

func (x *exchange) headOf(m message) head {
	h := x.head
	h.length = m.length()
	return h
}

// follow carries out a schedule step by step; block gives block i of what is
// sent to, or received from, a peer.
func (x *exchange) follow(steps []step, sent, received func(peer, block int) []byte) error {
	for _, s := range steps {
		out := pick(s.to, s.send, sent)
		in := pick(s.from, s.recv, received)
		if err := x.move([]message{out}, []message{in}); err != nil {
			return err
		}
	}
	return nil
}

// stream carries out a schedule whose steps do not build on each other: after
// the first, with which ranks that disagree find out, peers may run ahead.
func (x *exchange) stream(steps []step, sent, received func(peer, block int) []byte) error {
	if len(steps) == 0 {
		return nil
	}
	if err := x.follow(steps[:1], sent, received); err != nil {
		return err
	}
	var out, in []message
	for _, s := range steps[1:] {
		out = append(out, pick(s.to, s.send, sent))
		in = append(in, pick(s.from, s.recv, received))
	}
	return x.move(out, in)
}

func pick(peer int, numbers []int, block func(peer, block int) []byte) message {
	m := message{peer: peer}
	for _, i := range numbers {
		if b := block(peer, i); len(b) > 0 {
			m.blocks = append(m.blocks, b)
		}
	}
	return m
}

// linkError is a failure of the connection to a peer.
type linkError struct {
	peer int
	err  error
}

func (e *linkError) Error() string { return e.err.Error() }

func (e *linkError) Unwrap() error { return e.err }
