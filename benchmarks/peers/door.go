package main

import (
	"context"
	"syscall"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// door is a way to lockstep's operations.
type door interface {
	allReduce(ctx context.Context, t dtype.Type, data []byte) error
	send(ctx context.Context, peer int, data []byte) error
	recv(ctx context.Context, peer int, data []byte) error
}

func doorOf(g *group.Group, via string) door {
	if via == viaCommunicator {
		return bare{g.Communicator()}
	}
	return whole{g}
}

// whole is the group, with its checks, deadlines, fingerprints and headers.
type whole struct{ g *group.Group }

func (w whole) allReduce(ctx context.Context, t dtype.Type, data []byte) error {
	return w.g.AllReduceBytes(ctx, group.Sum, t, data)
}

func (w whole) send(ctx context.Context, peer int, data []byte) error {
	return w.g.SendMessage(ctx, peer, 0, dtype.Uint8, []int{len(data)}, data)
}

func (w whole) recv(ctx context.Context, peer int, data []byte) error {
	return w.g.RecvMessage(ctx, peer, 0, dtype.Uint8, []int{len(data)}, data)
}

// bare is the backend's communicator.
type bare struct{ c group.Communicator }

func (b bare) allReduce(ctx context.Context, t dtype.Type, data []byte) error {
	return b.c.AllReduce(ctx, group.Sum, t, data)
}

func (b bare) send(ctx context.Context, peer int, data []byte) error {
	return b.c.Send(ctx, peer, 0, data)
}

func (b bare) recv(ctx context.Context, peer int, data []byte) error {
	return b.c.Recv(ctx, peer, 0, data)
}

// ownTime is the processor time that this process has used.
func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return used(u)
}
