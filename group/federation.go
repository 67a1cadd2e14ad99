package group

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
)

// federation is what a group keeps between federated averages. Its messages have a
// tag of their own and, where the backend has one, a way of their own, so that they
// meet no other call.
type federation struct {
	comm     Communicator
	turn     chan struct{} // held by the round that is under way
	round    uint64        // guarded by turn
	early    []*parcel     // values for a later round, by rank; guarded by turn
	couriers []*courier    // by rank

	life context.Context // of what couriers send
	end  context.CancelFunc
	work sync.WaitGroup
}

func newFederation(comm Communicator) *federation {
	f := &federation{comm: comm, turn: make(chan struct{}, 1), early: make([]*parcel, comm.Size())}
	if able, ok := comm.(Lifeliner); ok {
		f.comm = able.Lifeline()
	}
	f.life, f.end = context.WithCancel(context.Background())
	for peer := range comm.Size() {
		f.couriers = append(f.couriers, &courier{federation: f, peer: peer})
	}
	return f
}

// federate returns the group's federation, which its first average makes.
func (g *Group) federate() (*federation, error) {
	g.federating.Lock()
	defer g.federating.Unlock()
	_, survives := g.comm.(Lifeliner)
	if err := g.usable(); err != nil && (g.size == 0 || g.closed.Load() || !survives) {
		return nil, err
	}
	if g.federation == nil {
		g.federation = newFederation(g.comm)
	}
	return g.federation, nil
}

// unfederate ends the federation of a group that has been closed.
func (g *Group) unfederate() {
	g.federating.Lock()
	defer g.federating.Unlock()
	if g.federation != nil {
		g.federation.close()
		g.federation = nil
	}
}

// parcel is what a rank sends to the leader, or the leader to a rank.
type parcel struct {
	round uint64
	t     dtype.Type
	data  []byte
}

// A parcel is one message: magic "LKF1", element type, zeros, round, data.
const (
	parcelMagic = "LKF1"
	parcelHead  = 16
)

func (p parcel) encode() []byte {
	b := make([]byte, parcelHead+len(p.data))
	copy(b, parcelMagic)
	b[4] = byte(p.t)
	binary.LittleEndian.PutUint64(b[8:], p.round)
	copy(b[parcelHead:], p.data)
	return b
}

func decodeParcel(b []byte) (parcel, error) {
	if len(b) < parcelHead || string(b[:4]) != parcelMagic {
		return parcel{}, fmt.Errorf("a message of %d bytes that is no federated average", len(b))
	}
	return parcel{binary.LittleEndian.Uint64(b[8:]), dtype.Type(b[4]), b[parcelHead:]}, nil
}

// receive takes the next parcel from a peer, with n bytes of data. One of another
// length is dropped, and is a *LengthError of the data.
func (f *federation) receive(ctx context.Context, peer, n int) (parcel, error) {
	b := make([]byte, parcelHead+n)
	err := f.comm.Recv(ctx, peer, tagFederated, b)
	var length *LengthError
	if errors.As(err, &length) {
		return parcel{}, &LengthError{Src: peer, Tag: tagFederated, Got: length.Got - parcelHead, Want: n}
	}
	if err != nil {
		return parcel{}, err
	}
	return decodeParcel(b)
}

// collect returns, in rank order, the values for the round of mine of those other
// ranks from which they come before ctx ends. leftOut hears of values that do not fit.
func (f *federation) collect(ctx context.Context, mine parcel, leftOut func(rank int, why error)) [][]byte {
	parts := make([][]byte, len(f.early))
	var peers sync.WaitGroup
	for peer := 1; peer < len(parts); peer++ {
		peers.Go(func() { parts[peer] = f.valuesOf(ctx, peer, mine, leftOut) })
	}
	peers.Wait()
	var came [][]byte
	for _, part := range parts {
		if part != nil {
			came = append(came, part)
		}
	}
	return came
}

// valuesOf returns nil when there are none: the peer is late, gone, or in another
// round. Values of earlier rounds are dropped.
func (f *federation) valuesOf(ctx context.Context, peer int, mine parcel, leftOut func(rank int, why error)) []byte {
	for {
		p, err := f.nextOf(ctx, peer, len(mine.data))
		var length *LengthError
		switch {
		case errors.As(err, &length):
			leftOut(peer, err) // or late, with what fitted then
			continue
		case err != nil:
			return nil
		case p.round < mine.round:
			continue
		case p.round > mine.round:
			f.early[peer] = &p
			return nil
		case p.t != mine.t:
			leftOut(peer, fmt.Errorf("rank %d has elements of %v, want %v", peer, p.t, mine.t))
			return nil
		}
		return p.data
	}
}

// nextOf returns what came too early for the last round, else receives. What came
// early may be of another length.
func (f *federation) nextOf(ctx context.Context, peer, n int) (parcel, error) {
	p := f.early[peer]
	if p == nil {
		return f.receive(ctx, peer, n)
	}
	f.early[peer] = nil
	if len(p.data) != n {
		return parcel{}, &LengthError{Src: peer, Tag: tagFederated, Got: len(p.data), Want: n}
	}
	return *p, nil
}

// courier delivers messages to one peer that may be slow: one at a time, and of
// those that wait only the newest. Its goroutine lives while there are any.
type courier struct {
	federation *federation
	peer       int

	mu   sync.Mutex
	busy bool
	next []byte
}

// post has a message delivered. It does not wait. The message is lent for good.
func (f *federation) post(peer int, message []byte) {
	c := f.couriers[peer]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = message
	if !c.busy {
		c.busy = true
		f.work.Go(c.deliver)
	}
}

// deliver sends what there is. A message to a peer that is gone is nobody's loss.
func (c *courier) deliver() {
	for message := c.take(); message != nil; message = c.take() {
		_ = c.federation.comm.Send(c.federation.life, c.peer, tagFederated, message)
	}
}

func (c *courier) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	message := c.next
	c.next, c.busy = nil, message != nil
	return message
}

// deliverTime is how long closing waits for averages to leave.
const deliverTime = 2 * time.Second

// close ends what is under way; the leader's averages get some time first. The
// round that is under way has been told, and no other one begins.
func (f *federation) close() {
	f.turn <- struct{}{}
	if f.comm.Rank() == 0 {
		timer := time.AfterFunc(deliverTime, f.end)
		f.work.Wait()
		timer.Stop()
	}
	f.end()
	f.work.Wait()
}
