package group

import (
	"context"
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
)

// Op is a reduction. The numbers are part of the wire format.
type Op uint8

// The reductions. What each means for every element type, for NaN and for
// signed zeros is fixed by the package documentation and is the same on every
// backend.
const (
	Sum Op = iota
	Mean
	Max
	Min
)

// String is the name of the reduction in lower case.
func (op Op) String() string {
	switch op {
	case Sum:
		return "sum"
	case Mean:
		return "mean"
	case Max:
		return "max"
	case Min:
		return "min"
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// Communicator is what a backend provides: one rank's end of a group of
// processes (or goroutines) that call the same collectives in the same order.
//
// Buffers are row-contiguous and little-endian. They belong to the caller and
// are lent for the call; after an error their content is undefined, and on MPI
// the library may still write to them, so they must not be used again.
//
// Ranks are ranks of this communicator. A failure names the peer. Collectives
// are called from one goroutine at a time; Send and Recv may run beside them and
// beside each other, but only one at a time for the same peer, tag and
// direction. The end of ctx ends a call with an error; a collective that has
// started cannot be taken back, so its communicator is broken from then on.
type Communicator interface {
	// Rank is this end's number, from 0 to Size-1.
	Rank() int
	// Size is the number of ranks.
	Size() int
	// AllReduce combines data over all ranks, in place. Every rank ends with the
	// same bits. Lengths and types must agree.
	AllReduce(ctx context.Context, op Op, t dtype.Type, data []byte) error
	// AllGather concatenates every rank's in, in rank order, into out, whose
	// length is Size times that of in. in and out do not overlap.
	AllGather(ctx context.Context, in, out []byte) error
	// Send delivers data to dst and returns once data may be reused. It may wait
	// until the receiver has room or has asked for the message.
	Send(ctx context.Context, dst, tag int, data []byte) error
	// Recv fills data with the next message from src that carries tag. A message
	// of another length is a *LengthError: that message is dropped and the
	// communicator stays usable.
	Recv(ctx context.Context, src, tag int, data []byte) error
	// Close flushes what was sent, says goodbye and leaves. A second call does
	// nothing.
	Close() error
}

// Optional abilities of a communicator. Only Group looks for them; what is
// missing it composes from the seven methods above.
type (
	// Splitter divides a communicator into disjoint ones by color, ranks ordered
	// by key and then by old rank. Every rank calls it; a rank with NoColor gets
	// nil. Colors and keys arrive validated: color is NoColor or not negative.
	Splitter interface {
		Split(ctx context.Context, color, key int) (Communicator, error)
	}

	// ReduceScatterer reduces in, which is Size times as long as out, and leaves
	// slice number Rank of the result in out.
	ReduceScatterer interface {
		ReduceScatter(ctx context.Context, op Op, t dtype.Type, in, out []byte) error
	}

	// Broadcaster copies root's data to every rank, in place.
	Broadcaster interface {
		Broadcast(ctx context.Context, root int, data []byte) error
	}

	// AllToAller sends slice i of in to rank i and fills slice i of out from it.
	AllToAller interface {
		AllToAll(ctx context.Context, in, out []byte) error
	}

	// Barrierer returns once every rank has called it.
	Barrierer interface {
		Barrier(ctx context.Context) error
	}

	// Fingerprinter compares what the ranks are about to do. Group calls Next
	// before each collective with a hash of the call and its description. The
	// backend sends the hash with or ahead of the data of that collective; when
	// ranks disagree, the collective returns a *MismatchError that holds every
	// rank's text, on every rank, before any data is used.
	Fingerprinter interface {
		Next(fp []byte, text string)
	}

	// Lifeliner has a second way for messages between the same ranks, which the end
	// of this communicator by a break or a lost peer does not touch: only calls with
	// a peer that is gone fail. Close closes both. No collective is called on it.
	Lifeliner interface {
		Lifeline() Communicator
	}

	// Breaker ends a communicator for everyone: calls pending here and at every
	// peer, and all later ones, return an error that holds reason. It does not
	// wait for peers.
	Breaker interface {
		Break(reason error)
	}
)

// TagReserved is the first tag that belongs to this module; users' tags lie
// from 0 to TagReserved-1.
const TagReserved = 1 << 20

// NoColor is the color of a rank that sits a Split out.
const NoColor = -1
