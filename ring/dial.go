package ring

import (
	"context"
	"fmt"
	"net"
	"time"
)

// tune makes a connection find out about a vanished host and send at once.
func tune(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetNoDelay(true)
		tcp.SetKeepAliveConfig(keepAlive)
	}
}

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// address is where a rank listens; empty while that is not known.
func (n *node) address(rank int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if rank < len(n.hosts) {
		return n.hosts[rank][n.inUse[rank]]
	}
	return ""
}

// tryTime bounds an attempt at one of several addresses.
const tryTime = 5 * time.Second

// dial opens a connection to a rank: a Unix socket to one of this host, or TCP,
// trying its addresses in turn, the one that is known to work first. The error has
// no name of the rank in it.
func (n *node) dial(ctx context.Context, rank int, p purpose, id groupID) (net.Conn, error) {
	h := n.greeting(rank, p, id)
	if conn := n.dialLocal(ctx, h); conn != nil {
		return conn, nil
	}
	addrs, order := n.addresses(rank)
	var errs []error
	for _, i := range order {
		conn, err := n.dialOne(ctx, addrs[i], len(addrs) > 1, h)
		if err == nil {
			n.prefer(rank, uint64(i))
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, joined(errs)
}

// greeting is what this rank says to another one first.
func (n *node) greeting(to int, p purpose, id groupID) hello {
	return hello{purpose: p, job: n.job, size: n.size, from: n.rank, to: to, group: id}
}

// joined is several errors on one line.
func joined(errs []error) error {
	all := errs[0]
	for _, err := range errs[1:] {
		all = fmt.Errorf("%w; %w", all, err)
	}
	return all
}

// addresses lists those of a rank, and the order in which to try them.
func (n *node) addresses(rank int) (addrs []string, order []int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	order = []int{n.inUse[rank]}
	for i := range n.hosts[rank] {
		if i != order[0] {
			order = append(order, i)
		}
	}
	return n.hosts[rank], order
}

// prefer notes which address of a rank is in use.
func (n *node) prefer(rank int, i uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i < uint64(len(n.hosts[rank])) {
		n.inUse[rank] = int(i)
	}
}

func (n *node) dialOne(ctx context.Context, addr string, oneOfMany bool, h hello) (net.Conn, error) {
	if oneOfMany {
		limited, cancel := context.WithTimeout(ctx, tryTime)
		defer cancel()
		ctx = limited
	}
	return knock(ctx, addr, h, n.cfg)
}

// knock dials and plays the caller's part of the handshake.
func knock(ctx context.Context, addr string, h hello, cfg Config) (net.Conn, error) {
	return knockOn(ctx, "tcp", addr, h, cfg)
}

func knockOn(ctx context.Context, network, addr string, h hello, cfg Config) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, moreFiles(err)
	}
	tune(conn)
	release := interruptible(ctx, conn)
	err = cfg.checkTrust(conn.RemoteAddr())
	if err == nil {
		err = call(conn, h, cfg.Token)
	}
	if !release() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return conn, nil
}

// interruptible makes the end of ctx end what conn is doing. The release reports
// whether that did not happen; conn has no deadline afterwards.
func interruptible(ctx context.Context, conn net.Conn) (release func() bool) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetDeadline(longAgo)
		close(done)
	})
	return func() bool {
		if stop() {
			return true
		}
		<-done
		conn.SetDeadline(time.Time{})
		return false
	}
}

// longAgo is a deadline that ends pending reads and writes at once.
var longAgo = time.Unix(1, 0)
