package grouptest

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
)

// address is where messages of one kind wait.
type address struct{ src, dst, tag int }

// mailbox holds the messages of one address in the order of sending.
type mailbox struct {
	messages [][]byte
	arrived  chan struct{} // holds a token after each arrival, for the one receiver
}

// box is the mailbox of a. The caller holds mu.
func (w *world) box(a address) *mailbox {
	if w.mail[a] == nil {
		w.mail[a] = &mailbox{arrived: make(chan struct{}, 1)}
	}
	return w.mail[a]
}

// Send leaves a copy of data for dst.
func (m *member) Send(ctx context.Context, dst, tag int, data []byte) error {
	if err := m.peer("send to", dst, tag); err != nil {
		return err
	}
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := m.ended(); err != nil {
		return err
	}
	if w.hasLeft(dst) {
		return &group.PeerError{Op: fmt.Sprintf("send tag %d", tag), Rank: dst, Err: errLeft}
	}
	b := w.box(address{m.rank, dst, tag})
	b.messages = append(b.messages, append([]byte{}, data...))
	select {
	case b.arrived <- struct{}{}:
	default:
	}
	return nil
}

// Recv takes the next message from src with tag. After an error that ctx caused
// the world stays usable: nothing was taken.
func (m *member) Recv(ctx context.Context, src, tag int, data []byte) error {
	if err := m.peer("receive from", src, tag); err != nil {
		return err
	}
	message, err := m.next(ctx, src, tag)
	if err != nil {
		return err
	}
	if len(message) != len(data) {
		return &group.LengthError{Src: src, Tag: tag, Got: len(message), Want: len(data)}
	}
	copy(data, message)
	return nil
}

// next waits for a message and takes it.
func (m *member) next(ctx context.Context, src, tag int) ([]byte, error) {
	w, op := m.world, fmt.Sprintf("recv tag %d", tag)
	for {
		gone := w.hasLeft(src) // asked first: what was sent before leaving is still there
		message, arrived, err := m.poll(src, tag)
		if message != nil || err != nil {
			return message, err
		}
		if gone {
			return nil, &group.PeerError{Op: op, Rank: src, Err: errLeft}
		}
		select {
		case <-arrived:
		case <-w.left[src]:
		case <-w.left[m.rank]:
		case <-w.broken:
		case <-ctx.Done():
			return nil, &group.PeerError{Op: op, Rank: src, Err: context.Cause(ctx)}
		}
	}
}

// poll takes the first message if there is one, which is never nil.
func (m *member) poll(src, tag int) (message []byte, arrived <-chan struct{}, err error) {
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := m.ended(); err != nil {
		return nil, nil, err
	}
	b := w.box(address{src, m.rank, tag})
	if len(b.messages) == 0 {
		return nil, b.arrived, nil
	}
	message = b.messages[0]
	b.messages = b.messages[1:]
	return message, b.arrived, nil
}
