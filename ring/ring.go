// Package ring connects ranks in pure Go: through shared memory between processes
// on one host, over TCP between hosts, and between goroutines of one program.
//
//	comms, err := ring.Local(ctx, 4, ring.Config{})      // a world in this process
//	comm, err := ring.Coordinate(ctx, rank, size, "10.0.0.1:5000", ring.Config{Token: token})
//	err = comm.AllReduce(ctx, group.Sum, dtype.Float32, data)
//
// Programs reach it through group.Init, where it is the backend "ring".
//
// # Connections
//
// Every rank listens on one port. At the start rank i dials every j < i, and
// these control connections stay: they carry break notices, goodbyes and the
// texts of calls that disagree, and their end is how a death is noticed. Data
// goes over connections of its own, dialled on first use: one for each group and
// pair for collectives, and one for each group, sender and receiver for
// messages. All of them begin with the same handshake, which proves that both
// ends hold the job's token and agree on version, job, size and ranks.
//
// On Linux, ranks of one host also reach each other by an abstract Unix socket,
// whose name is derived from the job and means something within one network
// namespace only. When all members of a group meet there, its collectives go
// through memory that one of them makes and hands to the others; else they go over
// sockets, and where several members are on one of several hosts, long ones go
// to each host once and through memory inside it. A message goes through memory
// that its sender hands to the receiver.
// This memory has no name and no file, and is gone with the last process that has
// it. Config.NoSharedMemory, or LOCKSTEP_SHM=0, keeps all that from happening.
// Waiting ranks look for about a millisecond, making way for others, then sleep.
//
// # Promises
//
// AllReduce gives the bits of package internal/reduce, originals combined in
// rank order, at every size, unless Config.Topology or Config.Reduce says that
// partial sums may travel. The other collectives move bytes. Every collective
// returns only after it has heard, directly or through others, from every rank,
// and every message of it carries a fingerprint of the call, so that ranks that
// disagree get a *group.MismatchError before any data is used.
//
// A peer that dies breaks every group that holds it, on every survivor. The end
// of a collective's context breaks its group; so does a Send that is cut off in
// the middle. Recv may be cancelled without harm. A peer that has closed is an
// error only for the operation that needs it, and what it sent can still be
// received. Beside each group runs a lifeline, over which the ranks that are left
// still reach each other when it is broken; it dials on first use, too.
package ring

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/lockstep-go/lockstep/group"
)

// FromListener forms a world whose addresses are known: addrs holds one
// "host:port" for each rank, and listener is where addrs[rank] leads. It waits
// for all ranks, up to cfg.ConnectTimeout; the error then names those that did
// not come. The listener belongs to the communicator, which closes it, also when
// FromListener fails. A world of one has no use for it.
func FromListener(ctx context.Context, rank, size int, listener net.Listener, addrs []string, cfg Config) (group.Communicator, error) {
	hosts := make([][]string, len(addrs))
	for r, addr := range addrs {
		hosts[r] = []string{addr}
	}
	var places []entrance
	if listener != nil {
		places = []entrance{{listener, 0}}
	}
	comm, err := fromHosts(ctx, rank, size, places, hosts, cfg)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	return comm, nil
}

// fromHosts is FromListener with several addresses to try for each rank, and places
// at those of its own.
func fromHosts(ctx context.Context, rank, size int, places []entrance, hosts [][]string, cfg Config) (*comm, error) {
	var listener net.Listener
	if len(places) > 0 {
		listener = places[0]
	}
	n, err := newNode(rank, size, listener, jobOf(hosts), cfg)
	if err == nil && len(hosts) != size {
		err = fmt.Errorf("%d addresses for %d ranks", len(hosts), size)
	}
	if err == nil {
		err = checkDistinct(hosts)
	}
	if err != nil {
		closeAll(places)
		return nil, err
	}
	n.hosts, n.entrances = hosts, places
	return n.form(ctx)
}

// jobOf names the job of those who were given the same addresses.
func jobOf(hosts [][]string) [16]byte {
	h := sha256.New()
	for _, addrs := range hosts {
		fmt.Fprintln(h, strings.Join(addrs, " "))
	}
	return [16]byte(h.Sum(nil))
}

// Local forms a world of n ranks in this process, over ports of 127.0.0.1 that
// the system chooses, and returns all of them in rank order. When it fails
// nothing is left behind.
func Local(ctx context.Context, n int, cfg Config) ([]group.Communicator, error) {
	if err := checkPlace(0, n); err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	listeners, addrs := make([]net.Listener, n), make([]string, n)
	for r := range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			closeAll(listeners[:r])
			return nil, fmt.Errorf("ring: %w", err)
		}
		listeners[r], addrs[r] = l, l.Addr().String()
	}
	comms, errs := make([]group.Communicator, n), make([]error, n)
	var ranks sync.WaitGroup
	for r := range n {
		ranks.Go(func() { comms[r], errs[r] = FromListener(ctx, r, n, listeners[r], addrs, cfg) })
	}
	ranks.Wait()
	for _, err := range errs {
		if err != nil {
			closeAll(comms)
			return nil, err
		}
	}
	return comms, nil
}

func closeAll[T interface{ Close() error }](all []T) {
	for _, c := range all {
		if any(c) != nil {
			c.Close()
		}
	}
}
