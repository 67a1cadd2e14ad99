package ring

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// Config says how patient and how trusting a world is. The zero value suits one
// host; all ranks are given the same Token, Insecure, Topology, Reduce and Schedule.
type Config struct {
	// Timeout bounds every operation whose context has no earlier deadline; 0
	// means ten minutes.
	Timeout time.Duration
	// ConnectTimeout bounds the meeting of the ranks; 0 means one minute.
	ConnectTimeout time.Duration
	// StallWarning is how long a collective waits before a warning in the log names
	// the ranks that have not come; 0 means one minute.
	StallWarning time.Duration
	// Token is the secret that the ranks prove to each other. Without one only
	// loopback addresses are listened on and accepted.
	Token []byte
	// Insecure lets a world without a token leave loopback: whoever reaches a
	// port can then join.
	Insecure bool
	// NoSharedMemory keeps ranks of one host from sharing memory; they use sockets
	// then, as do groups of which only some ranks may share.
	NoSharedMemory bool
	// Unexpected is how many bytes of messages that nobody has asked for are kept
	// for each peer of each group before its Sends have to wait; 0 means 64 MiB.
	// A larger message waits until it is asked for.
	Unexpected int
	// Topology is "direct" (or empty), where every rank talks to every other, or
	// "ring", where collectives go from neighbour to neighbour alone and use no
	// shared memory. The ring adds partial sums: every rank gets the same bits, but
	// they depend on the number of elements and on the order of the ring.
	Topology string
	// Reduce is "originals" (or empty), where every rank's values travel, or
	// "hierarchical", where each host adds its ranks' values first and the hosts'
	// sums are added then: fewer bytes between hosts of several ranks, the same bits
	// on every rank, but others than with originals.
	Reduce string
	// Schedule is "auto" (or empty), by which short sums and gathers over sockets
	// take ⌈log₂ N⌉ steps and long ones go by slices, or "doubling" or "sliced", which
	// do the one or the other at every length.
	Schedule string
	// host, if not empty, is what this rank takes its host to be.
	host string
	// portable has links use package net alone, as they do on systems other than
	// Linux.
	portable bool
	// Logger gets debug and warning records; nil means slog.Default.
	Logger *slog.Logger
}

const (
	defaultTimeout        = 10 * time.Minute
	defaultConnectTimeout = time.Minute
	defaultStallWarning   = time.Minute
	defaultUnexpected     = 64 << 20
)

// complete checks cfg and fills in what it leaves open.
func (cfg Config) complete() (Config, error) {
	if cfg.Timeout < 0 || cfg.ConnectTimeout < 0 || cfg.StallWarning < 0 || cfg.Unexpected < 0 {
		return cfg, fmt.Errorf("negative Timeout (%v), ConnectTimeout (%v), StallWarning (%v) or Unexpected (%d); 0 means the default",
			cfg.Timeout, cfg.ConnectTimeout, cfg.StallWarning, cfg.Unexpected)
	}
	if err := cfg.completeSettings(); err != nil {
		return cfg, err
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnectTimeout)
	cfg.StallWarning = cmp.Or(cfg.StallWarning, defaultStallWarning)
	cfg.Unexpected = cmp.Or(cfg.Unexpected, defaultUnexpected)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return cfg, nil
}

// bound gives ctx the deadline of an operation unless it has an earlier one.
func (cfg Config) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if at, ok := ctx.Deadline(); ok && time.Until(at) <= cfg.Timeout {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, cfg.Timeout, passed(cfg.Timeout))
}

// deadline is when bound's context ends if it was made at a certain time.
func (cfg Config) deadline(ctx context.Context, made time.Time) time.Time {
	until := made.Add(cfg.Timeout)
	if at, ok := ctx.Deadline(); ok && at.Before(until) {
		return at
	}
	return until
}

// passed is why an operation ended after its time.
func passed(d time.Duration) error {
	return fmt.Errorf("%v passed: %w", d, context.DeadlineExceeded)
}

// trusts reports whether a world may use addr: without a token only loopback.
func (cfg Config) trusts(addr net.Addr) bool {
	return len(cfg.Token) > 0 || cfg.Insecure || isLoopback(addr)
}

func (cfg Config) checkTrust(addr net.Addr) error {
	if cfg.trusts(addr) {
		return nil
	}
	return fmt.Errorf("%v is not a loopback address, and the job has no token: name a file that holds one in %s, or set %s=1", addr, env.TokenFile, env.Insecure)
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	_, local := addr.(*net.UnixAddr)
	return local || ok && tcp.IP.IsLoopback()
}
