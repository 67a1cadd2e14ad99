package program

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// UseEnvironment sets how much is logged, and finds mistakes that would show only once the
// program computes. They are UsageErrors.
func UseEnvironment() error {
	level, err := env.LookupLog()
	if err != nil {
		return WrongUse(err)
	}
	slog.SetLogLoggerLevel(level)
	_, err = env.LookupKernel()
	return WrongUse(err)
}

// Init forms the group of all ranks. A wrong environment is a UsageError, a world that did not
// come together is not.
func Init(ctx context.Context, backend string) (*group.Group, error) {
	g, err := group.Init(ctx, group.Config{Backend: backend})
	if err == nil || apart(err) {
		return g, err
	}
	return nil, WrongUse(err)
}

// apart reports whether an error of group.Init came from other ranks, the network or time.
func apart(err error) bool {
	var peer *group.PeerError
	var broken *group.BrokenError
	var network *net.OpError
	return errors.As(err, &peer) || errors.As(err, &broken) || errors.As(err, &network) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
