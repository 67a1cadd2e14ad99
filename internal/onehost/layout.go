package onehost

import (
	"sync/atomic"

	"github.com/lockstep-go/lockstep/internal/shm"
)

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

// Sizes are lengths of data around those at which collectives of so many ranks
// change their ways, in whole words, for the tests of backends.
func Sizes(ranks int) []int {
	l := layoutOf(ranks)
	whole, round := wholeBytes/ranks&^7, ranks*l.piece
	return []int{0, 8, whole, whole + 8, round - 8, round, round + 8, 3*round + 104, 4*l.inbox + 8}
}
