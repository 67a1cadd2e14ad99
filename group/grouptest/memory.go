package grouptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// NewWorld returns the communicators of n ranks that live in this process and
// talk through memory. Messages are copied and buffered without limit, so Send
// never waits. The communicators also implement group.Splitter,
// group.Fingerprinter and group.Breaker. It panics when n is not positive.
func NewWorld(n int) []group.Communicator {
	if n < 1 {
		panic(fmt.Sprintf("grouptest: a world of %d ranks", n))
	}
	w := newWorld(n)
	comms := make([]group.Communicator, n)
	for r := range comms {
		comms[r] = &member{world: w, rank: r}
	}
	return comms
}

// world is what its members share. A rank takes part in one collective at a time
// and none ends before all have come, so there is at most one open round.
type world struct {
	size   int
	broken chan struct{} // closed once failure is set

	mu      sync.Mutex
	failure *group.BrokenError
	left    []chan struct{} // by rank; closed when it leaves
	open    *round
	mail    map[address]*mailbox
	line    *world // the lifeline; nil before the first use
}

func newWorld(n int) *world {
	w := &world{size: n, broken: make(chan struct{}), mail: map[address]*mailbox{}}
	for range n {
		w.left = append(w.left, make(chan struct{}))
	}
	return w
}

// fail ends the world for everyone; the first failure stays.
func (w *world) fail(by int, reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(by, reason)
}

func (w *world) failLocked(by int, reason error) {
	if w.failure == nil {
		w.failure = &group.BrokenError{By: by, Reason: reason}
		close(w.broken)
	}
}

func (w *world) hasLeft(rank int) bool {
	select {
	case <-w.left[rank]:
		return true
	default:
		return false
	}
}

// member is one rank's end.
type member struct {
	world *world
	rank  int

	mu          sync.Mutex
	fingerprint []byte
	text        string
}

// Rank is this end's number.
func (m *member) Rank() int { return m.rank }

// Size is the number of ranks.
func (m *member) Size() int { return m.world.size }

// AllReduce combines data over all ranks, in place.
func (m *member) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	if err := reduce.Check(reduce.Op(op), t); err != nil {
		return err
	}
	if len(data)%t.Size() != 0 {
		return fmt.Errorf("memory: all_reduce %v of %d bytes: an element has %d", t, len(data), t.Size())
	}
	what := fmt.Sprintf("all_reduce %v %v [%d]", op, t, len(data)/t.Size())
	result, err := m.meet(ctx, what, slices.Clone(data), func(parts []any) any {
		in := make([][]byte, len(parts))
		for r, part := range parts {
			in[r] = part.([]byte)
		}
		out := make([]byte, len(data))
		reduce.Into(reduce.Op(op), t, out, in)
		return out
	})
	if err != nil {
		return err
	}
	copy(data, result.([]byte))
	return nil
}

// AllGather concatenates every rank's in, in rank order.
func (m *member) AllGather(ctx context.Context, in, out []byte) error {
	if len(out) != m.world.size*len(in) {
		return fmt.Errorf("memory: all_gather of %d bytes from %d ranks into %d", len(in), m.world.size, len(out))
	}
	what := fmt.Sprintf("all_gather [%d bytes]", len(in))
	result, err := m.meet(ctx, what, slices.Clone(in), func(parts []any) any {
		var all []byte
		for _, part := range parts {
			all = append(all, part.([]byte)...)
		}
		return all
	})
	if err != nil {
		return err
	}
	copy(out, result.([]byte))
	return nil
}

// Next names the coming collective.
func (m *member) Next(fp []byte, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fingerprint, m.text = slices.Clone(fp), text
}

func (m *member) takeFingerprint() (fp, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fp, text = string(m.fingerprint), m.text
	m.fingerprint, m.text = nil, ""
	return fp, text
}

// Break fails every pending and later call on every rank.
func (m *member) Break(reason error) { m.world.fail(m.rank, reason) }

// Close leaves. Messages already sent can still be received.
func (m *member) Close() error {
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hasLeft(m.rank) {
		close(w.left[m.rank])
		w.abandon(m.rank)
		if w.line != nil {
			(&member{world: w.line, rank: m.rank}).Close()
		}
	}
	return nil
}

// Lifeline is a world of its own in which nothing breaks.
func (m *member) Lifeline() group.Communicator {
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.line == nil {
		w.line = newWorld(w.size)
		for rank := range w.size {
			if w.hasLeft(rank) {
				close(w.line.left[rank])
			}
		}
	}
	return &member{world: w.line, rank: m.rank}
}

// ended is the error of every call that begins after the end: of this member,
// or of the world.
func (m *member) ended() error {
	if m.world.hasLeft(m.rank) {
		return fmt.Errorf("memory: %w", group.ErrClosed)
	}
	if f := m.world.failure; f != nil {
		return f
	}
	return nil
}

// peer checks the other rank and the tag of a message.
func (m *member) peer(verb string, rank, tag int) error {
	switch {
	case rank < 0 || rank >= m.world.size:
		return fmt.Errorf("memory: %s rank %d: ranks are 0 to %d", verb, rank, m.world.size-1)
	case rank == m.rank:
		return fmt.Errorf("memory: %s rank %d: that is this rank itself", verb, rank)
	case tag < 0:
		return fmt.Errorf("memory: %s rank %d: tag %d is negative", verb, rank, tag)
	}
	return nil
}

var errLeft = errors.New("has left the group")

func listRanks(ranks []int) string {
	noun := "rank "
	if len(ranks) > 1 {
		noun = "ranks "
	}
	return noun + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ranks)), ", "), "[]")
}
