package ring

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// A door is an abstract Unix socket: a name that exists only while its listener
// does, and only within one network namespace of one host. A rank that reaches
// another's door and proves the token there can share memory with it.

// doorName is where a rank's door is. It tells nothing about the job.
func (n *node) doorName(rank int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x/%d", n.job, rank))
	return fmt.Sprintf("@lockstep-%x", sum[:16])
}

// openDoor returns nil when memory is not to be shared or there is no door to be
// had: then the ranks use sockets.
func (n *node) openDoor() net.Listener {
	if n.cfg.NoSharedMemory || !shm.Supported {
		return nil
	}
	door, err := net.Listen("unix", n.doorName(n.rank))
	if err != nil {
		n.log.Debug("ring: no door for ranks of this host", "err", err)
		return nil
	}
	return door
}

var errNoSharing = errors.New("memory is not to be shared")

// knockDoor connects to the door of a rank for its memory.
func (n *node) knockDoor(ctx context.Context, rank int, id groupID) (*net.UnixConn, error) {
	if n.door == nil {
		return nil, errNoSharing
	}
	conn, err := n.knockLocal(ctx, n.greeting(rank, forSegment, id))
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// knockLocal does not wait longer than an answerer would: whoever has taken the
// name may say nothing.
func (n *node) knockLocal(ctx context.Context, h hello) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, knockTime)
	defer cancel()
	return knockOn(ctx, "unix", n.doorName(h.to), h, n.cfg)
}

// dialLocal connects by the door of a rank, or returns nil: the rank may be on
// another host, where it is not looked for again.
func (n *node) dialLocal(ctx context.Context, h hello) net.Conn {
	if n.door == nil || h.purpose == forControl || n.remote[h.to].Load() {
		return nil
	}
	conn, err := n.knockLocal(ctx, h)
	if err == nil {
		return conn
	}
	if ctx.Err() == nil && !errors.As(err, new(*refusal)) {
		n.log.Debug("ring: no Unix socket to that rank", "peer", h.to, "err", err)
		n.remote[h.to].Store(true)
	}
	return nil
}
