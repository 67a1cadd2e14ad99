// Package onehost holds the collectives of ranks that share memory. How they come
// by it, and what else may end a wait, is their backend's affair: it maps a file
// that one of them has made, and gives each collective as a Call.
package onehost

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"os"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/par"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// Call is a collective under way, as its backend knows it.
type Call interface {
	// Identity numbers the collectives from 1, one after the other, and tells by a
	// fingerprint what this rank calls.
	Identity() (sequence uint64, fingerprint [16]byte)
	// Over is why this rank must not wait any longer, nil while it may.
	Over() error
	// Late tells of the places that have not come, which is at least one, and is an
	// error when one of them never will.
	Late(isLate func(place int) bool) error
	// Rest is how long this rank may sleep, at most longest, before it looks again.
	Rest(longest time.Duration) time.Duration
}

// ErrDiffers says that ranks called different collectives. Each of them gets it.
var ErrDiffers = errors.New("ranks called different collectives")

// Sharing is one rank's use of the memory that some ranks on one host share. Ranks
// are counted among them, by place. In it lie a fence, a desk for each rank, and for
// each rank two inboxes and two outboxes, used by turns. Collectives run one at a
// time; after an error none may follow.
type Sharing struct {
	place   int
	segment *shm.Segment
	fence   *shm.Fence
	desks   []*desk
	inbox   [2][][]byte // what a rank shows to the others, by turn and rank
	outbox  [2][][]byte // what a rank has reduced, by turn and rank
	layout  layout
	spinner shm.Spinner
	parts   [][]byte
	divided bool // this process computes on its share of the cores

	fences uint64 // this rank's arrivals at the fence
	turn   uint64 // inboxes and outboxes used
	opened uint64 // the collective whose call has been put on the desk
	agreed uint64 // the collective about which all ranks agree
}

// Map maps a file from Create, for the rank at a place.
func Map(file *os.File, ranks, place int) (*Sharing, error) {
	l := layoutOf(ranks)
	segment, err := shm.Map(file, l.total())
	if err != nil {
		return nil, err
	}
	s := &Sharing{place: place, segment: segment, layout: l, fence: shm.At[shm.Fence](segment, 0), parts: make([][]byte, ranks)}
	at := func(offset, n int) []byte { return segment.Bytes()[offset : offset+n : offset+n] }
	for r := range ranks {
		s.desks = append(s.desks, shm.At[desk](segment, l.desk(r)))
		for turn := range 2 {
			s.inbox[turn] = append(s.inbox[turn], at(l.inboxAt(turn, r), l.inbox))
			s.outbox[turn] = append(s.outbox[turn], at(l.outboxAt(turn, r), l.piece))
		}
	}
	own := s.desks[place]
	own.process.Store(int64(os.Getpid()))
	for i, marked := range shm.Cores() {
		own.cores[i].Store(marked)
	}
	return s, nil
}

// LookAround notes who the others are, once all have mapped the memory, and tells
// how crowded it is and how many cores there are for all.
func (s *Sharing) LookAround() (company shm.Company, cores int) {
	s.findCompany()
	return s.spinner.Company, s.spinner.Cores
}

func (s *Sharing) findCompany() {
	own := s.desks[s.place].process.Load()
	for r, d := range s.desks {
		if r != s.place && d.process.Load() == own {
			s.spinner.Company = shm.Together
			return
		}
	}
	if s.spinner.Cores = s.cores(); len(s.desks) > s.spinner.Cores {
		s.spinner.Company = shm.Crowded
	}
}

// DivideCores has this process compute on its share of the cores until Close: ranks
// that all computed on all of them would wait for each other's threads to make way. It does
// nothing where ranks are goroutines of one process, or the user has set GOMAXPROCS.
// It comes after LookAround.
func (s *Sharing) DivideCores() {
	if n := s.share(); n > 0 && !env.ProcessorsGiven() {
		par.Limit(n)
		s.divided = true
	}
}

// share is how many of the cores are this rank's, at least one; 0 if the ranks are
// of one process or the cores are not known.
func (s *Sharing) share() int {
	if s.spinner.Company == shm.Together || s.spinner.Cores == 0 {
		return 0
	}
	return max(1, s.spinner.Cores/len(s.desks))
}

// cores counts those on which any of the ranks may run.
func (s *Sharing) cores() int {
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

// Close unmaps the memory; nil is closed already. Others may go on using it.
func (s *Sharing) Close() {
	if s == nil {
		return
	}
	s.segment.Unmap()
	if s.divided {
		par.Limit(0)
	}
}

// Poke has this rank look why it should not wait any longer. Nil is left alone.
func (s *Sharing) Poke() {
	if s != nil {
		s.fence.Poke()
	}
}

// arrive tells the others that this rank has come so far; the first time in a
// collective also what it calls.
func (s *Sharing) arrive(call Call) {
	own := s.desks[s.place]
	if sequence, fingerprint := call.Identity(); s.opened != sequence {
		s.opened = sequence
		desk := &own.calls[sequence%2]
		low, high := halves(fingerprint)
		desk.fingerprint[0].Store(low)
		desk.fingerprint[1].Store(high)
		desk.sequence.Store(sequence)
	}
	s.fences++
	own.arrived.Store(s.fences)
	s.fence.Arrive(s.full())
}

// full is how many arrivals there have been when all ranks have come as far as
// this one.
func (s *Sharing) full() uint64 { return s.fences * uint64(len(s.desks)) }

func halves(fingerprint [16]byte) (low, high uint64) {
	return binary.LittleEndian.Uint64(fingerprint[:]), binary.LittleEndian.Uint64(fingerprint[8:])
}

// sleepTime is how long a rank sleeps before it looks around. What ends its wait
// wakes it sooner, unless it was just falling asleep.
const sleepTime = 50 * time.Millisecond

// wait returns when all ranks have come as far as this one, and for the first time
// in a collective only if all of them call the same.
func (s *Sharing) wait(call Call) error {
	for full := s.fence.Spin(s.full(), &s.spinner); !full; full = s.fence.Full(s.full()) {
		if err := s.obstacle(call); err != nil {
			return err
		}
		s.fence.Sleep(s.full(), call.Rest(sleepTime))
	}
	if s.agreed == s.opened {
		return nil
	}
	if s.differs(call) {
		return ErrDiffers
	}
	s.agreed = s.opened
	return nil
}

// obstacle is the reason not to wait any longer for those who have not come.
func (s *Sharing) obstacle(call Call) error {
	over := call.Over()
	switch {
	case s.fence.Full(s.full()):
		return nil
	case over != nil:
		return over
	case s.agreed != s.opened && s.differs(call):
		return ErrDiffers
	}
	return call.Late(s.isLate)
}

// isLate reports whether the rank at a place has not come as far as this one.
func (s *Sharing) isLate(place int) bool { return s.desks[place].arrived.Load() < s.fences }

// Missing lists the places that have not come as far as this rank.
func (s *Sharing) Missing() []int {
	var places []int
	for place := range s.desks {
		if s.isLate(place) {
			places = append(places, place)
		}
	}
	return places
}

// differs reports whether a rank that has begun this collective calls something
// else.
func (s *Sharing) differs(call Call) bool {
	sequence, fingerprint := call.Identity()
	low, high := halves(fingerprint)
	for _, d := range s.desks {
		desk := &d.calls[sequence%2]
		if desk.sequence.Load() == sequence && (desk.fingerprint[0].Load() != low || desk.fingerprint[1].Load() != high) {
			return true
		}
	}
	return false
}
