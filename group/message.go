package group

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
)

// SendMessage sends an array to rank dst under a tag from 0 to TagReserved-1:
// shape and type in a header, then data, row-contiguous and little-endian. It
// returns once data may be reused, which may take until the receiver asks for
// the message. Messages with the same peer and tag arrive in the order sent.
// After an error data must not be used again.
func (g *Group) SendMessage(ctx context.Context, dst, tag int, t dtype.Type, shape []int, data []byte) error {
	what := sending(dst, tag)
	h := header{t, shape}
	n, err := h.bytes()
	if err == nil && n != len(data) {
		err = fmt.Errorf("%s has %d bytes, got %d", h.String(), n, len(data))
	}
	if err == nil {
		err = g.checkPeer(dst, tag)
	}
	if err != nil {
		return within(what, err)
	}
	l := g.PeerLane(dst, tag, true)
	b, err := g.enter(ctx, what, l)
	if err != nil {
		return err
	}
	defer l.place.end(b)
	if err := g.send(b, dst, tag, h, data, l); err != nil {
		return g.failMessage(b, what, l, true, err)
	}
	return nil
}

func (g *Group) send(ctx context.Context, dst, tag int, h header, data []byte, l *PeerLane) error {
	first, rest := l.room()
	rest = h.encode(first, rest, data)
	if err := g.comm.Send(ctx, dst, tag, first); err != nil {
		return err
	}
	if len(rest) > 0 {
		if err := g.comm.Send(ctx, dst, tag, rest); err != nil {
			return err
		}
	}
	if h.inline(len(data)) {
		return nil
	}
	return g.comm.Send(ctx, dst, tag, data)
}

// RecvMessage fills data with the next array from rank src under the tag. Its
// type and shape must be those given; otherwise that message is dropped, the
// error is a *MessageError and the next one can be received. After another error
// data must not be used again.
func (g *Group) RecvMessage(ctx context.Context, src, tag int, t dtype.Type, shape []int, data []byte) error {
	what := receiving(src, tag)
	want := header{t, shape}
	n, err := want.bytes()
	if err == nil && n != len(data) {
		err = fmt.Errorf("%s has %d bytes, got room for %d", want.String(), n, len(data))
	}
	if err != nil {
		return within(what, err)
	}
	return g.receive(ctx, what, src, tag, func(got header, _ int) ([]byte, error) {
		if !got.equal(want) {
			return nil, &MessageError{Src: src, Tag: tag, Got: got.String(), Want: want.String()}
		}
		return data, nil
	})
}

// RecvArray receives the next array from rank src under the tag, of whatever
// type and shape. data is the caller's.
func (g *Group) RecvArray(ctx context.Context, src, tag int) (t dtype.Type, shape []int, data []byte, err error) {
	what := receiving(src, tag)
	err = g.receive(ctx, what, src, tag, func(got header, n int) ([]byte, error) {
		t, shape, data = got.t, slices.Clone(got.shape), make([]byte, n)
		return data, nil
	})
	if err != nil {
		return dtype.Invalid, nil, nil, err
	}
	return t, shape, data, nil
}

func sending(dst, tag int) call { return call{name: "send", form: messageTo, root: dst, tag: tag} }

func receiving(src, tag int) call { return call{name: "recv", form: messageFrom, root: src, tag: tag} }

// receive gets a header, asks room for a buffer for its data, as long as that, and
// fills it; when room refuses, the data is dropped so that the next message can be received.
// The shape in the header lasts as long as room runs.
func (g *Group) receive(ctx context.Context, what call, src, tag int, room func(h header, n int) ([]byte, error)) error {
	if err := g.checkPeer(src, tag); err != nil {
		return within(what, err)
	}
	l := g.PeerLane(src, tag, false)
	b, err := g.enter(ctx, what, l)
	if err != nil {
		return err
	}
	defer l.place.end(b)
	first, rest := l.room()
	if err := g.recvPart(b, src, tag, first); err != nil {
		return g.failMessage(b, what, l, false, err)
	}
	h, n, err := g.recvHeader(b, src, tag, first, rest, &l.dims)
	if err != nil {
		return g.failMessage(b, what, l, true, err)
	}
	data, refused := room(h, n)
	switch {
	case h.inline(n):
		copy(data, first[min(dimsAt+8*len(h.shape), headerBytes):])
	case refused != nil:
		err = g.drop(b, src, tag)
	default:
		err = g.comm.Recv(b, src, tag, data)
	}
	if err == nil {
		err = refused
	}
	if err != nil {
		return g.failMessage(b, what, l, true, err)
	}
	return nil
}

// recvHeader understands the first part of a header, and gets the other if there is one.
func (g *Group) recvHeader(ctx context.Context, src, tag int, first, rest []byte, dims *[maxDims]int) (header, int, error) {
	rest = rest[:follows(first)]
	if len(rest) > 0 {
		if err := g.recvPart(ctx, src, tag, rest); err != nil {
			return header{}, 0, err
		}
	}
	h, n, err := decodeHeader(first, rest, dims)
	if err != nil {
		return header{}, 0, noHeader(src, tag, len(first))
	}
	return h, n, nil
}

// recvPart gets a part of a header.
func (g *Group) recvPart(ctx context.Context, src, tag int, b []byte) error {
	err := g.comm.Recv(ctx, src, tag, b)
	if err == nil {
		return nil
	}
	var other *LengthError
	if errors.As(err, &other) {
		return noHeader(src, tag, other.Got)
	}
	return err
}

func noHeader(src, tag, bytes int) error {
	return &MessageError{src, tag, fmt.Sprintf("%d bytes and %v", bytes, errNoHeader), "an array"}
}

// drop takes the next message off the link: the backend drops a message that
// is longer than what was asked for.
func (g *Group) drop(ctx context.Context, src, tag int) error {
	err := g.comm.Recv(ctx, src, tag, nil)
	var longer *LengthError
	if errors.As(err, &longer) {
		return nil
	}
	return err
}

// enter waits for the turn of a message in its lane.
func (g *Group) enter(ctx context.Context, what call, l *PeerLane) (*bounded, error) {
	if err := g.usable(); err != nil {
		return nil, within(what, refusal{err})
	}
	b, err := l.place.begin(ctx, g, what)
	if err != nil {
		return nil, within(what, err)
	}
	if l.cut != nil {
		l.place.end(b)
		return nil, fmt.Errorf("%s: an earlier message was cut off: %w", what, l.cut)
	}
	return b, nil
}

// failMessage decides what a failed message takes with it: nothing when the
// receiver merely got another one than it asked for, its lane when it was
// cancelled half way, the group otherwise. The backend may keep the header's room.
func (g *Group) failMessage(ctx context.Context, what call, l *PeerLane, half bool, err error) error {
	err = cause(ctx, err)
	l.head = nil
	var message *MessageError
	var length *LengthError
	switch {
	case errors.As(err, &message), errors.As(err, &length), errors.Is(err, ErrFull):
		return g.explain(what, err)
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = g.explain(what, err)
		if half {
			l.cut = err
		}
		return err
	}
	return g.fail(what, err)
}

func (g *Group) checkPeer(peer, tag int) error {
	switch {
	case g.size == 0:
		return errOutside
	case g.size == 1:
		return errors.New("a group of one has no other rank")
	case peer < 0 || peer >= g.size:
		return fmt.Errorf("rank %d is not in this group (0 to %d)", peer, g.size-1)
	case peer == g.rank:
		return fmt.Errorf("rank %d is this rank; messages go to other ranks", peer)
	case tag < 0 || tag >= TagReserved:
		return fmt.Errorf("tag %d is not one of 0 to %d", tag, TagReserved-1)
	}
	return nil
}
