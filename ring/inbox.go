package ring

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/group"
)

// inbox holds the messages from one peer of a group. One goroutine reads them
// off the connection: into the buffer of whoever asks for the tag, else into a
// queue of limited size. When that is full the goroutine stops reading, and the
// sender waits.
type inbox struct {
	conn  net.Conn // guarded by the group's lock
	limit int
	room  chan struct{}              // holds a token when the reader should look again
	pipe  atomic.Pointer[pipeReader] // nil where messages come over a socket
	wire  atomic.Pointer[wireReader] // nil where they come otherwise

	mu      sync.Mutex
	queue   map[int][]letter // not asked for, by tag, each in the order of arrival
	bytes   int              // cost of the queue, and of the letter being read
	asked   map[int]*reception
	filling *reception
	stuck   *label // there is no room for this one
	over    bool   // no more will come

	busy atomic.Bool // not idleLocked when the lock was given up last
}

// letter is a message that has arrived.
type letter []byte

// letterCost is what a letter takes up beside its data.
const letterCost = 64

// reception is a Recv that waits.
type reception struct {
	tag  int
	data []byte
	cut  bool       // the receiver no longer wants it
	done chan error // gets one value
}

// unlock gives the lock up.
func (in *inbox) unlock() {
	in.busy.Store(!in.idleLocked())
	in.mu.Unlock()
}

// idle is idleLocked without the lock, which would be a good part of what a small message
// costs.
func (in *inbox) idle() bool { return !in.busy.Load() }

// idleLocked reports whether the next message to arrive is the next one of its tag, and
// nobody waits for another.
func (in *inbox) idleLocked() bool {
	return len(in.queue) == 0 && len(in.asked) == 0 && in.filling == nil && in.stuck == nil && !in.over
}

var errCut = errors.New("receive was cancelled")

func newInbox(limit int) inbox {
	return inbox{limit: limit, room: make(chan struct{}, 1), queue: map[int][]letter{}, asked: map[int]*reception{}}
}

// read takes messages off the connection until it or life ends.
func (in *inbox) read(life context.Context) error {
	r := bufio.NewReaderSize(in.conn, 64<<10)
	for {
		l, err := readLabel(r)
		if err != nil {
			return plainEOF(err)
		}
		if err := in.accept(life, r, l); err != nil {
			return err
		}
	}
}

// accept reads the message behind its label to where it goes.
func (in *inbox) accept(life context.Context, r io.Reader, l label) error {
	q, err := in.place(life, l)
	switch {
	case err != nil:
		return err
	case q != nil:
		return in.fill(r, q, l)
	}
	return in.store(r, l)
}

// place finds out where a message goes: to a reception, which is then being
// filled, or into the queue, where room is reserved. It waits for either.
func (in *inbox) place(life context.Context, l label) (*reception, error) {
	for {
		if q, ok := in.tryPlace(l); ok {
			return q, nil
		}
		select {
		case <-in.room:
		case <-life.Done():
			return nil, errEnded
		}
	}
}

func (in *inbox) tryPlace(l label) (*reception, bool) {
	in.mu.Lock()
	defer in.unlock()
	if q := in.asked[int(l.tag)]; q != nil {
		delete(in.asked, q.tag)
		in.filling, in.stuck = q, nil
		return q, true
	}
	if l.length+letterCost <= uint64(max(in.limit-in.bytes, 0)) {
		in.bytes += int(l.length) + letterCost
		in.stuck = nil
		return nil, true
	}
	in.stuck = &l
	for tag, q := range in.asked {
		delete(in.asked, tag)
		q.done <- in.fullLocked()
	}
	return nil, false
}

// manyTags is how many tags an error lists.
const manyTags = 16

// fullLocked says which messages keep others from being received.
func (in *inbox) fullLocked() error {
	tags := slices.Sorted(maps.Keys(in.queue))
	more := ""
	if len(tags) > manyTags {
		more = fmt.Sprintf(" and %d others", len(tags)-manyTags)
		tags = tags[:manyTags]
	}
	return fmt.Errorf("%w: %d bytes of at most %d, with tags %v%s; next is one of %d bytes with tag %d",
		group.ErrFull, in.bytes, in.limit, tags, more, in.stuck.length, in.stuck.tag)
}

// fill reads a message into the buffer of a reception; one of another length,
// or that was cut off meanwhile, is dropped.
func (in *inbox) fill(r io.Reader, q *reception, l label) error {
	if l.length != uint64(len(q.data)) {
		in.filled(q)
		q.done <- &group.LengthError{Tag: q.tag, Got: int(l.length), Want: len(q.data)}
		return drop(r, l.length)
	}
	n, err := io.ReadFull(r, q.data)
	if in.filled(q) && errors.Is(err, os.ErrDeadlineExceeded) {
		q.done <- errCut
		return drop(r, l.length-uint64(n))
	}
	if err != nil {
		err = &linkError{err: noEOF(err)}
	}
	q.done <- err
	return err
}

// filled ends the filling of q and reports whether it was cut.
func (in *inbox) filled(q *reception) (cut bool) {
	in.mu.Lock()
	defer in.unlock()
	in.filling = nil
	if q.cut {
		in.conn.SetReadDeadline(noDeadline)
	}
	return q.cut
}

func drop(r io.Reader, n uint64) error {
	_, err := io.CopyN(io.Discard, r, int64(n))
	return noEOF(err)
}

// store reads a message for which room is reserved; someone may ask for it
// meanwhile.
func (in *inbox) store(r io.Reader, l label) error {
	data := make(letter, l.length)
	if _, err := io.ReadFull(r, data); err != nil {
		return noEOF(err)
	}
	in.mu.Lock()
	defer in.unlock()
	tag := int(l.tag)
	q := in.asked[tag]
	if q == nil {
		in.queue[tag] = append(in.queue[tag], data)
		return nil
	}
	delete(in.asked, q.tag)
	in.bytes -= len(data) + letterCost
	q.done <- q.open(data)
	return nil
}

// open copies a message that has arrived to the one who asked.
func (q *reception) open(data []byte) error {
	if len(data) != len(q.data) {
		return &group.LengthError{Tag: q.tag, Got: len(data), Want: len(q.data)}
	}
	copy(q.data, data)
	return nil
}

// ask takes a message from the queue, or has the reader fill data when it comes.
// Exactly one value will be sent on the reception's channel.
func (in *inbox) ask(tag int, data []byte) *reception {
	q := &reception{tag: tag, data: data, done: make(chan error, 1)}
	in.mu.Lock()
	defer in.unlock()
	l, queued := in.nextLocked(tag)
	switch {
	case queued:
		in.bytes -= len(l) + letterCost
		q.done <- q.open(l)
		in.wake()
	case in.over:
		q.done <- errLeft
	case in.stuck != nil && int(in.stuck.tag) != tag:
		q.done <- in.fullLocked()
	case in.asked[tag] != nil || in.filling != nil && in.filling.tag == tag:
		q.done <- errors.New("another receive from this rank with this tag is still waiting")
	default:
		in.asked[tag] = q
		in.wake()
	}
	return q
}

// nextLocked takes the oldest letter with a tag from the queue.
func (in *inbox) nextLocked(tag int) (l letter, ok bool) {
	letters := in.queue[tag]
	if len(letters) == 0 {
		return nil, false
	}
	l, letters[0] = letters[0], nil
	if len(letters) == 1 {
		delete(in.queue, tag)
	} else {
		in.queue[tag] = letters[1:]
	}
	return l, true
}

func (in *inbox) wake() {
	select {
	case in.room <- struct{}{}:
	default:
	}
}

// withdraw takes a reception back. When it is being filled that is stopped, and
// the result is on its channel, which the caller then waits for.
func (in *inbox) withdraw(q *reception) {
	in.mu.Lock()
	defer in.unlock()
	switch {
	case in.asked[q.tag] == q:
		delete(in.asked, q.tag)
		q.done <- errCut
	case in.filling == q:
		q.cut = true
		in.conn.SetReadDeadline(longAgo)
	}
}

// finish says that no more messages will come.
func (in *inbox) finish() {
	in.mu.Lock()
	defer in.unlock()
	in.over = true
	for tag, q := range in.asked {
		delete(in.asked, tag)
		q.done <- errLeft
	}
}
