package ring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// The members of a group agree once, when it is formed, whether they share
// memory: all of them or none. Every other member goes to the door of rank 0, or
// tells it that it stays away. When all have come rank 0 hands out the memory,
// each says whether it could map it, and rank 0 tells everyone the outcome. So
// the outcome is the same everywhere, or the group is broken.

// guest is a member that has come to rank 0, or stays away.
type guest struct {
	rank int
	conn net.Conn // nil when it stays away
}

const (
	no  = byte(0)
	yes = byte(1)
)

// meet agrees. It fails only when ctx or the group ends meanwhile.
func (c *comm) meet(ctx context.Context) error {
	if c.Size() == 1 {
		return nil
	}
	hosts := c.node.hostsOf(c.ranks)
	c.levels = levelsOf(hosts, c.rank)
	if len(hosts) > 1 || c.node.cfg.Topology == topologyRing {
		c.closeMeeting() // nobody comes
		c.node.log.Debug("ring: group formed", "ranks", c.ranks, "hosts", len(hosts), "shared", false)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	agree := c.visit
	if c.rank == 0 {
		agree = c.receive
	}
	s, err := agree(ctx)
	switch {
	case c.life.Err() != nil:
		s.close()
		return c.failure("connect")
	case err != nil:
		s.close()
		return err
	}
	if s != nil {
		s.lookAround()
	}
	c.mu.Lock()
	c.shared = s
	c.mu.Unlock()
	c.node.log.Debug("ring: group formed", "ranks", c.ranks, "hosts", 1, "shared", s != nil)
	return nil
}

// meetAfterSplit is meet under the deadline of the split, whose result is not
// handed out when it fails. A member that was quicker may have broken the new
// group already: that is for its first call to say.
func (c *comm) meetAfterSplit(ctx context.Context) error {
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	err := c.meet(ctx)
	if err == nil || c.life.Err() != nil {
		return nil
	}
	err = fmt.Errorf("split: %w", err)
	c.Break(err)
	c.Close()
	return err
}

// seat takes a guest's connection. The lock is held.
func (c *comm) seat(g guest) error {
	select {
	case c.guests <- g:
		return nil
	default:
		return errEnded
	}
}

// staysAway notes that a member will not come.
func (c *comm) staysAway(r int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seat(guest{rank: r})
}

// receive is rank 0's part.
func (c *comm) receive(ctx context.Context) (*sharing, error) {
	defer c.closeMeeting()
	if c.node.door == nil {
		return nil, nil // nobody gets in
	}
	guests := make([]*net.UnixConn, c.Size())
	defer func() {
		for _, conn := range guests {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	all, err := c.await(ctx, guests)
	if !all || err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() {
		for _, conn := range guests[1:] {
			conn.Close()
		}
	})()
	s, err := c.handOut(guests[1:])
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

// await waits for all members and reports whether all of them have come. It does
// not wait for the others once one stays away: they hear no.
func (c *comm) await(ctx context.Context, guests []*net.UnixConn) (all bool, err error) {
	for range c.Size() - 1 {
		select {
		case g := <-c.guests:
			conn, ok := g.conn.(*net.UnixConn)
			if !ok || guests[g.rank] != nil {
				if g.conn != nil {
					g.conn.Close()
				}
				c.node.log.Debug("ring: memory is not shared", "peer", c.ranks[g.rank])
				return false, nil
			}
			guests[g.rank] = conn
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// handOut gives all guests the memory and the outcome.
func (c *comm) handOut(guests []*net.UnixConn) (*sharing, error) {
	file, err := shm.Create(layoutOf(c.Size()).total())
	if err != nil {
		c.node.log.Debug("ring: memory is not shared", "err", err)
		return nil, nil
	}
	defer file.Close()
	s := c.mapShared(file)
	outcome := no
	if s != nil {
		outcome = yes
	}
	for _, conn := range guests {
		shm.Send(conn, file) // a failure shows when the answer is read
	}
	for _, conn := range guests {
		if answer, err := readByte(conn); err != nil || answer == no {
			outcome = no
		}
	}
	for _, conn := range guests {
		conn.Write([]byte{outcome})
	}
	if outcome == no {
		s.close()
		s = nil
	}
	return s, nil
}

// mapShared returns nil, and logs why, when the memory cannot be had.
func (c *comm) mapShared(file *os.File) *sharing {
	s, err := newSharing(c, file)
	if err != nil {
		c.node.log.Debug("ring: memory is not shared", "err", err)
	}
	return s
}

// closeMeeting turns guests away from now on.
func (c *comm) closeMeeting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met = true
	for {
		select {
		case g := <-c.guests:
			if g.conn != nil {
				g.conn.Close()
			}
		default:
			return
		}
	}
}

// visit is the part of every other rank.
func (c *comm) visit(ctx context.Context) (*sharing, error) {
	conn, err := c.node.knockDoor(ctx, c.ranks[0], c.id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.node.log.Debug("ring: memory is not shared", "peer", c.ranks[0], "err", err)
		c.node.tell(c.ranks[0], notice{kind: apart, group: c.id})
		return nil, nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	s, err := c.takePart(conn)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

var errNoOutcome = errors.New("rank 0 has not said whether memory is shared")

// takePart gets the memory, answers whether it can be used, and hears the
// outcome. That rank 0 hangs up before it has handed out anything means no.
func (c *comm) takePart(conn *net.UnixConn) (*sharing, error) {
	file, err := shm.Receive(conn)
	if err != nil {
		c.node.log.Debug("ring: memory is not shared", "peer", c.ranks[0], "err", err)
		return nil, nil
	}
	defer file.Close()
	s := c.mapShared(file)
	if s == nil {
		conn.Write([]byte{no})
		return nil, nil
	}
	conn.Write([]byte{yes})
	outcome, err := readByte(conn)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("%w: %w", errNoOutcome, err)
	}
	if outcome == no {
		s.close()
		return nil, nil
	}
	return s, nil
}

func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], plainEOF(err)
}
