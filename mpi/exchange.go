//go:build cgo && mpi

package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

const (
	// inlineBytes is the most data that travels with a card.
	inlineBytes = 4 << 10
	// cardHeader is [length of the data 8, hash of the call 8].
	cardHeader = 16
	cardRoom   = cardHeader + inlineBytes
	// textBytes is what ranks tell of a call when they disagree.
	textBytes = 1 << 10
)

// cards is the room for one exchange: the cards of ranks r, r+1, … one behind
// the other, each padded to 16 bytes. It is pinned while the communicator lives.
type cards struct {
	room []byte
	ends []int    // where each card ends
	data [][]byte // by rank, what exchange returns
	pin  runtime.Pinner
}

func (x *cards) prepare(size int) {
	x.ends = x.ends[:0]
	if x.room != nil {
		return
	}
	x.room = buffer.Make(size * cardRoom)
	x.pin.Pin(unsafe.SliceData(x.room))
	x.data = make([][]byte, size)
}

func (x *cards) end() int {
	if len(x.ends) == 0 {
		return 0
	}
	return x.ends[len(x.ends)-1]
}

// put writes this rank's card, the first.
func (x *cards) put(hash uint64, data []byte) {
	binary.LittleEndian.PutUint64(x.room, uint64(len(data)))
	binary.LittleEndian.PutUint64(x.room[8:], hash)
	copy(x.room[cardHeader:], data)
	x.ends = append(x.ends, padded(cardHeader+len(data)))
}

func padded(n int) int { return (n + 15) &^ 15 }

// take finds the ends of n cards in the bytes that were received behind the
// last.
func (x *cards) take(bytes, n int) error {
	limit := x.end() + bytes
	for range n {
		start := x.end()
		length := uint64(inlineBytes + 1)
		if start+cardHeader <= limit {
			length = binary.LittleEndian.Uint64(x.room[start:])
		}
		if length > inlineBytes || start+padded(cardHeader+int(length)) > limit {
			return fmt.Errorf("a card of an exchange is malformed (%d bytes for %d cards)", bytes, n)
		}
		x.ends = append(x.ends, start+padded(cardHeader+int(length)))
	}
	return nil
}

// card is card number i with its hash.
func (x *cards) card(i int) (hash uint64, data []byte) {
	start := 0
	if i > 0 {
		start = x.ends[i-1]
	}
	length := int(binary.LittleEndian.Uint64(x.room[start:]))
	return binary.LittleEndian.Uint64(x.room[start+8:]), x.room[start+cardHeader : start+cardHeader+length]
}

// exchange gives every rank the data of all, by rank, and compares hashes. In
// step d = 1, 2, 4, … rank r sends what it has to r-d and receives the cards of
// r+d and those behind it. The result lasts until the next exchange. It is
// also a barrier: it ends after every rank has begun.
//
//	ranks 0..4   has      after d=1   after d=2    after d=4
//	rank 3       3        3 4         3 4 0 1      3 4 0 1 2
func (c *comm) exchange(ctx context.Context, op string, hash uint64, data []byte) (parts [][]byte, same bool, err error) {
	x := &c.cards
	x.prepare(c.size)
	x.put(hash, data)
	for d := 1; d < c.size; d *= 2 {
		if err := c.exchangeStep(ctx, op, d, min(d, c.size-d)); err != nil {
			return nil, false, err
		}
	}
	same = true
	for i := range c.size {
		theirs, part := x.card(i)
		same = same && theirs == hash
		x.data[(c.rank+i)%c.size] = part
	}
	return x.data, same, nil
}

func (c *comm) exchangeStep(ctx context.Context, op string, d, n int) error {
	x, b := &c.cards, c.transfers
	b.reset()
	if err := b.receive(c.channel, (c.rank+d)%c.size, tagCard, x.room[x.end():x.end()+n*cardRoom]); err != nil {
		return explain(op, nil, err)
	}
	if err := b.send(c.channel, (c.rank-d+c.size)%c.size, tagCard, x.room[:x.ends[n-1]]); err != nil {
		return explain(op, nil, err)
	}
	if err := c.await(ctx, b, &wait{op: op, peer: -1, collective: true, missing: c.absent}); err != nil {
		return explain(op, c.absent(), err)
	}
	bytes, err := b.bytes(0)
	if err == nil {
		err = x.take(bytes, n)
	}
	if err != nil {
		return explain(op, nil, err)
	}
	return nil
}

// absent lists the ranks from which nothing says that they have come to the
// current collective.
func (c *comm) absent() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ranks []int
	for i := len(c.cards.ends); i < c.size; i++ {
		if rank := (c.rank + i) % c.size; c.arrived[rank] < c.number {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// disagreement asks every rank what it called; what it finds is an error.
func (c *comm) disagreement(ctx context.Context, text string) error {
	texts, _, err := c.exchange(ctx, text, 0, []byte(text[:min(len(text), textBytes)]))
	if err != nil {
		return err
	}
	calls := make([]string, c.size)
	for rank, t := range texts {
		calls[rank] = string(t)
	}
	return fmt.Errorf("mpi: %w", &group.MismatchError{Calls: calls})
}
