package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
	"github.com/lockstep-go/lockstep/internal/turn"
)

// comm is one rank's end of a group. Ranks are the group's own; node knows those
// of the world.
type comm struct {
	node  *node
	id    groupID
	ranks []int // world rank of each member
	rank  int
	peers []*peer // by rank; nil for this one

	lifeline *comm // of the same members; nil in a lifeline itself

	turn   turn.Turn       // held by the collective that is under way
	life   context.Context // ends when the group breaks or closes
	end    context.CancelFunc
	steps  context.Context // ends, with life or before, when the collective under way must stop
	halt   context.CancelFunc
	work   sync.WaitGroup // readers of messages
	opened chan struct{}  // closed when there is a dispute
	leave  sync.Once
	guests chan guest // members of this host that have decided whether they share memory

	mu       sync.Mutex
	closed   bool
	fault    *fault
	dispute  *dispute
	sequence uint64 // collectives begun
	finished uint64 // collectives that went well
	running  bool   // a collective is under way
	latest   numbered
	next     fingerprint
	splits   int
	answers  chan answer
	asking   sync.Mutex       // held for a census, outside mu
	seen     uint64           // the collective that was under way when the watch looked last
	since    time.Time        // when it was first seen
	warned   uint64           // the last collective that there was a warning of
	met      bool             // it has been decided whether memory is shared
	shared   *onehost.Sharing // nil when it is not; only used under the turn, and set to nil at the end
	carrier  carrier          // nil before the first link

	// For the collective under way, reused by the next.
	scratch  []byte
	copied   []byte
	everyone *circle
	levels   *levels           // nil when the group has one
	said     [split + 1]uint64 // sizes whose way has been logged, by kind of collective
	exchange exchange
	patience *patience
}

// peer is what a group knows of another member. The fields are guarded by the
// group's lock, except in and out, which have their own rules.
type peer struct {
	left   bool
	how    error         // it has left, or what a lifeline knows of its end
	gone   chan struct{} // closed when it has left
	link   *link
	linked chan struct{} // closed when link is there
	in     inbox
	out    outbox
}

// fault is why a group is broken.
type fault struct {
	peer int // the rank on which it failed; -1 for none
	by   int // the rank that says so; -1 when this one found out itself
	err  error
	// spares is the last collective that all ranks have sent their data for; it
	// may still end well where it is under way.
	spares uint64
}

var (
	errLeft  = errors.New("has left the group")
	errEnded = errors.New("group has ended")
)

// graceTime is how long a failed connection waits for the notice that explains
// it, and a mismatch for the texts of the others.
const graceTime = time.Second

func newComm(n *node, id groupID, ranks []int, rank int) *comm {
	c := newMembers(n, id, ranks, rank)
	c.lifeline = newMembers(n, childID(id, noSplit, noSplit), ranks, rank)
	return c
}

func newMembers(n *node, id groupID, ranks []int, rank int) *comm {
	c := &comm{node: n, id: id, ranks: ranks, rank: rank, turn: turn.New(), opened: make(chan struct{}), answers: make(chan answer, len(ranks))}
	c.everyone = newCircle(everyone(len(ranks)), rank)
	c.life, c.end = context.WithCancel(context.Background())
	c.steps, c.halt = context.WithCancel(context.Background())
	c.guests = make(chan guest, 2*len(ranks))
	c.peers = make([]*peer, len(ranks))
	for r := range ranks {
		if r != rank {
			c.peers[r] = &peer{gone: make(chan struct{}), linked: make(chan struct{}), in: newInbox(n.cfg.Unexpected), out: newOutbox()}
		}
	}
	return c
}

// Rank is this end's number.
func (c *comm) Rank() int { return c.rank }

// Size is the number of ranks.
func (c *comm) Size() int { return len(c.ranks) }

// member is the rank in this group of a rank of the world, or -1.
func (c *comm) member(world int) int { return slices.Index(c.ranks, world) }

// tell queues a notice about this group for all other members.
func (c *comm) tell(m notice) {
	m.group = c.id
	for r, world := range c.ranks {
		if r != c.rank {
			c.node.tell(world, m)
		}
	}
}

// announce tells all other members that the group is broken here.
func (c *comm) announce(m notice) {
	m.group = c.id
	c.node.announce(c.ranks, m) // this rank has no connection to itself
}

// take acts on what has come for this group. The node's lock is held. An error
// leaves a connection with the caller.
func (c *comm) take(e event) error {
	r := c.member(e.from)
	switch {
	case r < 0 || r == c.rank:
		return fmt.Errorf("rank %d is not in that group", e.from)
	case e.conn != nil:
		return c.attach(r, e)
	}
	switch e.notice.kind {
	case goodbye:
		c.farewell(r)
	case broke:
		c.heardBreak(r, e.notice)
	case differs:
		c.heardText(r, e.notice)
	case answers:
		c.heardAnswer(r, e.notice)
	case apart:
		c.staysAway(r)
	}
	return nil
}

// attach gives a connection that a peer has dialled its place.
func (c *comm) attach(r int, e event) error {
	unpaced(e.conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[r]
	switch {
	case c.closed, e.purpose == forMessages && c.fault != nil:
		return errEnded
	case e.purpose == forSegment && c.met:
		return errEnded
	case e.purpose == forCollectives && (c.dials(r) || p.link != nil), e.purpose == forMessages && p.in.conn != nil:
		return fmt.Errorf("rank %d has connected already", r)
	}
	if e.purpose == forCollectives {
		if err := c.readyLocked(); err != nil {
			return err
		}
	}
	if !e.welcomed {
		if err := writeVerdict(e.conn, nil); err != nil {
			return err
		}
	}
	switch e.purpose {
	case forCollectives:
		return c.linkLocked(p, e.conn)
	case forSegment:
		return c.seat(guest{r, e.conn})
	}
	p.in.conn = e.conn
	c.work.Go(func() { c.readMessages(r, e.conn) })
	return nil
}

// farewell notes that a peer has left. What it sent before can still be
// received; an operation that needs more from it fails.
func (c *comm) farewell(r int) {
	c.part(r, errLeft)
	c.lifeline.part(r, errLeft)
}

// part notes that nothing new will come from a peer, and why.
func (c *comm) part(r int, how error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[r]
	if p.left {
		return
	}
	p.left, p.how = true, how
	close(p.gone)
	if p.link != nil {
		p.link.stream.closeWrite() // it waits for this before it closes its end
	}
	c.wakeLocked()
	if p.out.conn != nil {
		p.out.conn.SetWriteDeadline(longAgo)
	}
	if p.in.conn == nil {
		p.in.finish()
	}
}

func (c *comm) heardBreak(r int, m notice) {
	f := fault{peer: -1, by: r, err: errors.New(m.text), spares: m.number}
	if on := c.member(int(m.rank)); on >= 0 && on != c.rank {
		f.peer, f.err = on, fmt.Errorf("rank %d says: %s", r, m.text)
	}
	c.fail(f)
}

// blame notes why the group will be broken; the first fault stays.
func (c *comm) blame(f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil && !c.closed {
		c.fault = &f
	}
}

// fail breaks the group at this rank.
func (c *comm) fail(f fault) {
	c.blame(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.life.Err() != nil {
		return
	}
	c.end()
	if !c.running || c.sequence > c.fault.spares {
		c.haltLocked()
	}
	c.hangUpMessages()
}

// haltLocked stops the collective under way. What this rank has sent for earlier
// ones may still be on its way to slower ranks, so that the connections are only
// closed with the group, after the peers' goodbyes.
func (c *comm) haltLocked() {
	c.halt()
	for _, p := range c.peers {
		if p != nil && p.link != nil {
			p.link.stream.closeWrite()
		}
	}
	c.wakeLocked()
}

// wake has the collective under way look whether it must end.
func (c *comm) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeLocked()
}

func (c *comm) wakeLocked() {
	c.shared.Poke()
	if c.carrier != nil {
		c.carrier.wake()
	}
}

// interrupt stops the collective under way, whose group will be broken.
func (c *comm) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.haltLocked()
}

// hangUpMessages closes the connections for messages; what has been sent over
// them still arrives.
func (c *comm) hangUpMessages() {
	for _, p := range c.peers {
		if p == nil {
			continue
		}
		for _, conn := range []net.Conn{p.in.conn, p.out.conn} {
			if conn != nil {
				conn.Close()
			}
		}
	}
}

// Break fails all calls here, and all calls at the peers with the given reason.
func (c *comm) Break(reason error) {
	f := fault{peer: -1, by: c.rank, err: reason}
	c.blame(f)
	c.announce(notice{kind: broke, rank: nobody, number: c.wellDone(), text: reason.Error()})
	c.fail(f)
}

// giveUp breaks the group because of err, which is what the call that found out
// returns; on is the peer on which it failed, or -1.
func (c *comm) giveUp(on int, err error) error {
	if c.isLifeline() {
		c.part(on, errors.Unwrap(err))
		return err
	}
	m := notice{kind: broke, rank: nobody, number: c.wellDone(), text: err.Error()}
	f := fault{peer: on, by: -1, err: err}
	var about *group.PeerError
	if on >= 0 && errors.As(err, &about) {
		m.rank, m.text, f.err = uint32(c.ranks[on]), about.Err.Error(), about.Err
	}
	c.blame(f)
	c.announce(m)
	c.fail(f)
	return err
}

// wellDone counts the collectives that need nothing more from this rank.
func (c *comm) wellDone() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished
}

// usable is the error of a call that comes too late, or nil.
func (c *comm) usable(op string) error {
	if c.life.Err() == nil {
		return nil
	}
	return c.failure(op)
}

// failure is what op returns on a group that has ended.
func (c *comm) failure(op string) error {
	c.mu.Lock()
	closed, f := c.closed, c.fault
	c.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("%s: %w", op, group.ErrClosed)
	case f == nil:
		return fmt.Errorf("%s: %w", op, errEnded)
	case f.peer >= 0:
		return c.peerError(op, f.peer, f.err)
	}
	return &group.BrokenError{By: f.by, Reason: f.err}
}

// peerError names a peer, also by its rank in the world when that is another.
func (c *comm) peerError(op string, r int, err error) error {
	world := c.ranks[r]
	if note := fmt.Sprintf("rank %d of the world", world); world != r {
		err = fmt.Errorf("%s: %w", note, err)
	}
	return &group.PeerError{Op: op, Rank: r, Addr: c.node.address(world), Err: err}
}

// Close leaves the group; the world's Close also closes all groups that were
// split from it. What was sent before can still be received. It takes at most
// five seconds.
func (c *comm) Close() error {
	if c == c.node.root {
		c.leave.Do(c.node.shutdown)
		return nil
	}
	c.leave.Do(func() { c.depart(time.Now().Add(closeTime)) })
	return nil
}

// depart says goodbye, flushes and ends the group at this rank.
func (c *comm) depart(until time.Time) {
	if !c.isLifeline() { // whose end follows
		c.tell(notice{kind: goodbye})
	}
	c.mu.Lock()
	c.closed = true
	c.end()
	if c.running {
		c.haltLocked()
	}
	c.mu.Unlock()
	c.turn.Take(nil, nil) // for good: no collective is under way, and none begins
	c.drain(until)
	c.mu.Lock()
	c.shared.Close()
	c.shared = nil
	if c.carrier != nil {
		c.carrier.close()
		c.carrier = nil
	}
	c.hangUpMessages()
	c.scratch, c.copied, c.exchange = nil, nil, exchange{} // whoever keeps c keeps no buffers
	c.mu.Unlock()
	c.work.Wait()
	c.closePipes()
	c.node.forget(c)
	if !c.isLifeline() {
		c.lifeline.leave.Do(func() { c.lifeline.depart(until) })
	}
}

// drain closes the connections for collectives in such a way that the peers can
// still read what was sent to them: a socket that is closed with data unread in
// it resets the connection. Peers end their side when they hear the goodbye.
func (c *comm) drain(until time.Time) {
	var reading sync.WaitGroup
	for _, p := range c.peers {
		if p == nil {
			continue
		}
		c.mu.Lock()
		l := p.link
		c.mu.Unlock()
		if l != nil {
			reading.Go(func() { l.stream.drain(until) })
		}
	}
	reading.Wait()
}
