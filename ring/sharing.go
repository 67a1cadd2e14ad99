package ring

import (
	"encoding/binary"
	"math/bits"
	"os"
	"sync/atomic"
	"time"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// sharing is one rank's use of the memory that the members of a group on one host
// share. Ranks are counted among them, by place. In it lie a fence, a desk for each rank, and for each rank two inboxes and two
// outboxes, used by turns.
type sharing struct {
	comm    *comm
	home    *circle
	segment *shm.Segment
	fence   *shm.Fence
	desks   []*desk
	inbox   [2][][]byte // what a rank shows to the others, by turn and rank
	outbox  [2][][]byte // what a rank has reduced, by turn and rank
	layout  layout
	spinner shm.Spinner
	parts   [][]byte

	fences uint64 // this rank's arrivals at the fence
	turn   uint64 // inboxes and outboxes used
	opened uint64 // the collective whose call has been put on the desk
	agreed uint64 // the collective about which all ranks agree
}

// desk is where one rank says how far it is. Calls are used by turns, as a rank
// may begin the next collective while others still look at this one's.
type desk struct {
	arrived atomic.Uint64 // at the fence
	process atomic.Int64  // the rank's process id
	_       [shm.Line - 2*8]byte
	cores   [16]atomic.Uint64 // marks those that the rank may run on
	calls   [2]struct {
		fingerprint [2]atomic.Uint64
		sequence    atomic.Uint64 // written last
		_           [shm.Line - 3*8]byte
	}
}

// layout says how the memory of some ranks is divided. Its parts begin at whole
// pages.
type layout struct {
	ranks int
	inbox int // bytes of each
	piece int // bytes of an outbox, and of an inbox that are meant for one rank
}

const (
	pageBytes  = 4 << 10
	fenceBytes = 2 * shm.Line
	deskBytes  = 5 * shm.Line
)

// layoutOf gives two ranks 1.5 MiB and 64 ranks 9 MiB in all.
func layoutOf(ranks int) layout {
	inbox := min(max(2<<20/ranks, 64<<10, ranks*shm.Line), 256<<10)
	return layout{ranks: ranks, inbox: inbox, piece: inbox / ranks / shm.Line * shm.Line}
}

func (l layout) desk(rank int) int { return fenceBytes + rank*deskBytes }

func (l layout) inboxAt(turn, rank int) int {
	return wholePages(l.desk(l.ranks)) + (turn*l.ranks+rank)*l.inbox
}

func (l layout) outboxAt(turn, rank int) int {
	return l.inboxAt(2, 0) + (turn*l.ranks+rank)*l.piece
}

func (l layout) total() int { return wholePages(l.outboxAt(2, 0)) }

func wholePages(n int) int { return (n + pageBytes - 1) / pageBytes * pageBytes }

// newSharing maps a file that the first rank has made.
func newSharing(c *comm, home *circle, file *os.File) (*sharing, error) {
	l := layoutOf(home.size())
	segment, err := shm.Map(file, l.total())
	if err != nil {
		return nil, err
	}
	s := &sharing{comm: c, home: home, segment: segment, layout: l, fence: shm.At[shm.Fence](segment, 0), parts: make([][]byte, home.size())}
	at := func(offset, n int) []byte { return segment.Bytes()[offset : offset+n : offset+n] }
	for r := range home.size() {
		s.desks = append(s.desks, shm.At[desk](segment, l.desk(r)))
		for turn := range 2 {
			s.inbox[turn] = append(s.inbox[turn], at(l.inboxAt(turn, r), l.inbox))
			s.outbox[turn] = append(s.outbox[turn], at(l.outboxAt(turn, r), l.piece))
		}
	}
	own := s.desks[home.at]
	own.process.Store(int64(os.Getpid()))
	for i, marked := range shm.Cores() {
		own.cores[i].Store(marked)
	}
	return s, nil
}

// lookAround notes who the others are, once all have mapped the memory. In the
// world's they are all that there are on this host.
func (s *sharing) lookAround() {
	s.findCompany()
	if s.comm == s.comm.node.root {
		s.comm.node.company.Store(int32(s.spinner.Company))
		s.comm.node.cores.Store(int32(s.spinner.Cores))
	}
}

func (s *sharing) findCompany() {
	own := s.desks[s.home.at].process.Load()
	for r, d := range s.desks {
		if r != s.home.at && d.process.Load() == own {
			s.spinner.Company = shm.Together
			return
		}
	}
	if s.spinner.Cores = s.cores(); len(s.desks) > s.spinner.Cores {
		s.spinner.Company = shm.Crowded
	}
}

// cores counts those on which any of the ranks may run.
func (s *sharing) cores() int {
	count := 0
	for i := range s.desks[0].cores {
		marked := uint64(0)
		for _, d := range s.desks {
			marked |= d.cores[i].Load()
		}
		count += bits.OnesCount64(marked)
	}
	return count
}

// close unmaps the memory; nil is closed already. Others may go on using it.
func (s *sharing) close() {
	if s != nil {
		s.segment.Unmap()
	}
}

// poke has this rank look why it should not wait any longer.
func (s *sharing) poke() {
	if s != nil {
		s.fence.Poke()
	}
}

// arrive tells the others that this rank has come so far; the first time in a
// collective also what it calls.
func (s *sharing) arrive(x *exchange) {
	own := s.desks[s.home.at]
	if s.opened != x.head.sequence {
		s.opened = x.head.sequence
		call := &own.calls[x.head.sequence%2]
		low, high := halves(x.head.fingerprint)
		call.fingerprint[0].Store(low)
		call.fingerprint[1].Store(high)
		call.sequence.Store(x.head.sequence)
	}
	s.fences++
	own.arrived.Store(s.fences)
	s.fence.Arrive(s.full())
}

// full is how many arrivals there have been when all ranks have come as far as
// this one.
func (s *sharing) full() uint64 { return s.fences * uint64(len(s.desks)) }

func halves(fingerprint [16]byte) (low, high uint64) {
	return binary.LittleEndian.Uint64(fingerprint[:]), binary.LittleEndian.Uint64(fingerprint[8:])
}

// sleepTime is how long a rank sleeps before it looks around. What ends its wait
// wakes it sooner, unless it was just falling asleep.
const sleepTime = 50 * time.Millisecond

// wait returns when all ranks have come as far as this one, and for the first time
// in a collective only if all of them call the same.
func (s *sharing) wait(x *exchange) error {
	for full := s.fence.Spin(s.full(), &s.spinner); !full; full = s.fence.Full(s.full()) {
		if err := s.obstacle(x); err != nil {
			return err
		}
		s.fence.Sleep(s.full(), x.rest(sleepTime))
	}
	if s.agreed == x.head.sequence {
		return nil
	}
	if s.differs(x) {
		return errDiffers
	}
	s.agreed = x.head.sequence
	return nil
}

// obstacle is the reason not to wait any longer for those who have not come.
func (s *sharing) obstacle(x *exchange) error {
	c := s.comm
	over := x.over()
	switch {
	case s.fence.Full(s.full()):
		return nil
	case c.steps.Err() != nil:
		return errEnded
	case over != nil:
		return over
	case s.agreed != x.head.sequence && s.differs(x):
		return errDiffers
	}
	x.waiting = -1
	for place, r := range s.home.ranks {
		p := c.peers[r]
		if p == nil || s.desks[place].arrived.Load() >= s.fences {
			continue
		}
		if x.waiting < 0 {
			x.waiting = r
		}
		if p.hasLeft() && s.desks[place].arrived.Load() < s.fences {
			return &linkError{r, errLeft}
		}
	}
	return nil
}

// hasLeft reports whether the peer has said goodbye.
func (p *peer) hasLeft() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// differs reports whether a rank that has begun this collective calls something
// else.
func (s *sharing) differs(x *exchange) bool {
	low, high := halves(x.head.fingerprint)
	for _, d := range s.desks {
		call := &d.calls[x.head.sequence%2]
		if call.sequence.Load() == x.head.sequence && (call.fingerprint[0].Load() != low || call.fingerprint[1].Load() != high) {
			return true
		}
	}
	return false
}
