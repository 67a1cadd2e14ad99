package ring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/lockstep-go/lockstep/internal/onehost"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// The members of a group that are on one host agree once, when it is formed,
// whether they share memory: all of them or none. Their first is the host of the
// meeting: every other one goes to its door, or tells it that it stays away. When
// all have come it hands out the memory, each says whether it could map it, and it
// tells everyone the outcome. So the outcome is the same everywhere, or the group
// is broken.

// guest is a member that has come to the first one, or stays away.
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
	home := c.home()
	if home.size() == 1 || len(hosts) == c.Size() || c.node.cfg.Topology == topologyRing {
		c.closeMeeting() // nobody comes
		c.node.log.Debug("ring: group formed", "ranks", c.ranks, "hosts", len(hosts), "shared", false)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	agree := c.visit
	if home.at == 0 {
		agree = c.receive
	}
	s, err := agree(ctx, home)
	if errors.Is(err, errNoOutcome) {
		c.awaitEnd()
	}
	switch {
	case c.life.Err() != nil:
		s.Close()
		return c.failure("connect")
	case err != nil:
		s.Close()
		return c.notMet(err)
	}
	if s != nil {
		c.lookAround(s)
	}
	c.mu.Lock()
	c.shared = s
	c.mu.Unlock()
	c.node.log.Debug("ring: group formed", "ranks", c.ranks, "hosts", len(hosts), "shared", s != nil)
	return nil
}

// lookAround notes who the others are. In the world's memory they are all that
// there are on this host.
func (c *comm) lookAround(s *onehost.Sharing) {
	company, cores := s.LookAround()
	if c == c.node.root {
		c.node.company.Store(int32(company))
		c.node.cores.Store(int32(cores))
		s.DivideCores()
	}
}

// notMet names the members that do not answer when the deadline has ended the meeting.
func (c *comm) notMet(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	_, silent := c.census(0)
	switch {
	case c.life.Err() != nil:
		return c.failure("connect")
	case len(silent) == 0:
		return err
	}
	return fmt.Errorf("%s: %w", c.missing(nil, silent), err)
}

// awaitEnd waits for the notice that says why the first one hung up: it died, or
// a member on another host, who was quicker, has broken the group.
func (c *comm) awaitEnd() {
	timer := time.NewTimer(graceTime)
	defer timer.Stop()
	select {
	case <-c.life.Done():
	case <-timer.C:
	}
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

// receive is the first one's part.
func (c *comm) receive(ctx context.Context, home *circle) (*onehost.Sharing, error) {
	defer c.closeMeeting()
	if c.node.door == nil {
		return nil, nil // nobody gets in
	}
	guests := make([]*net.UnixConn, home.size())
	defer func() {
		for _, conn := range guests {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	all, err := c.await(ctx, home, guests)
	if !all || err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() {
		for _, conn := range guests[1:] {
			conn.Close()
		}
	})()
	s, err := c.handOut(home, guests[1:])
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

// await waits for all members, by their place, and reports whether all of them
// have come. It does not wait for the others once one stays away: they hear no.
func (c *comm) await(ctx context.Context, home *circle, guests []*net.UnixConn) (all bool, err error) {
	for range home.size() - 1 {
		select {
		case g := <-c.guests:
			conn, ok := g.conn.(*net.UnixConn)
			place := slices.Index(home.ranks, g.rank)
			if !ok || place < 1 || guests[place] != nil {
				if g.conn != nil {
					g.conn.Close()
				}
				c.node.log.Debug("ring: memory is not shared", "peer", c.ranks[g.rank])
				return false, nil
			}
			guests[place] = conn
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// handOut gives all guests the memory and the outcome.
func (c *comm) handOut(home *circle, guests []*net.UnixConn) (*onehost.Sharing, error) {
	file, err := onehost.Create(home.size())
	if err != nil {
		c.node.log.Debug("ring: memory is not shared", "err", err)
		return nil, nil
	}
	defer file.Close()
	s := c.mapShared(home, file)
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
		s.Close()
		s = nil
	}
	return s, nil
}

// mapShared returns nil, and logs why, when the memory cannot be had.
func (c *comm) mapShared(home *circle, file *os.File) *onehost.Sharing {
	s, err := onehost.Map(file, home.size(), home.at)
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
func (c *comm) visit(ctx context.Context, home *circle) (*onehost.Sharing, error) {
	c.closeMeeting() // it is not here
	first := c.ranks[home.ranks[0]]
	conn, err := c.node.knockDoor(ctx, first, c.id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.node.log.Debug("ring: memory is not shared", "peer", first, "err", err)
		c.node.tell(first, notice{kind: apart, group: c.id})
		return nil, nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	s, err := c.takePart(home, conn)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

var errNoOutcome = errors.New("the first rank of this host has not said whether memory is shared")

// takePart gets the memory, answers whether it can be used, and hears the
// outcome. That the first one hangs up before it has handed out anything means no.
func (c *comm) takePart(home *circle, conn *net.UnixConn) (*onehost.Sharing, error) {
	file, err := shm.Receive(conn)
	if err != nil {
		c.node.log.Debug("ring: memory is not shared", "peer", c.ranks[home.ranks[0]], "err", err)
		return nil, nil
	}
	defer file.Close()
	s := c.mapShared(home, file)
	if s == nil {
		conn.Write([]byte{no})
		return nil, nil
	}
	conn.Write([]byte{yes})
	outcome, err := readByte(conn)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%w: %w", errNoOutcome, err)
	}
	if outcome == no {
		s.Close()
		return nil, nil
	}
	return s, nil
}

func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], plainEOF(err)
}
