//go:build cgo && mpi

package mpi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/onehost"
)

// member is what one rank asked of a split.
type member struct{ rank, color, key int }

// Split divides the communicator. MPI's own split blocks, so it is called only
// after every rank is known to have come.
func (c *comm) Split(ctx context.Context, color, key int) (group.Communicator, error) {
	word := encodeSplit(color, key)
	all := make([]byte, c.size*len(word))
	var child *comm
	divide := func() (err error) {
		child, err = c.divideInTime(ctx, decodeSplit(all, c.size), color)
		return err
	}
	err := c.collective(ctx, call{name: nameSplit}, body{
		inline: word,
		memory: func(s *onehost.Sharing, x onehost.Call) error {
			if err := s.Gather(x, word, all); err != nil {
				return err
			}
			return divide()
		},
		messages: func(op string, parts [][]byte) error {
			copy(all, bytes.Join(parts, nil))
			if err := divide(); err != nil {
				return explain(op, nil, err)
			}
			return nil
		},
	})
	if err != nil || child == nil {
		return nil, err
	}
	err = child.share(ctx)
	var broken *group.BrokenError
	if err != nil && !errors.As(err, &broken) {
		child.goodbye()
		return nil, err
	}
	// A quicker member may have broken the new group: its first call says so.
	return child, nil
}

func encodeSplit(color, key int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(int64(color)))
	return binary.LittleEndian.AppendUint64(b, uint64(int64(key)))
}

func decodeSplit(all []byte, ranks int) []member {
	members := make([]member, ranks)
	for rank := range members {
		p := slot(all, rank, len(all)/ranks)
		members[rank] = member{rank, int(int64(binary.LittleEndian.Uint64(p))), int(int64(binary.LittleEndian.Uint64(p[8:])))}
	}
	return members
}

// seats orders the members of one color by key and then by old rank.
func seats(members []member, color int) []member {
	var mine []member
	for _, m := range members {
		if m.color == color {
			mine = append(mine, m)
		}
	}
	slices.SortFunc(mine, func(a, b member) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank)) })
	return mine
}

// divideInTime gives up when ctx ends: a rank that is stopped between coming and
// MPI's split would have the others wait for ever. What was given up waits on, as
// MPI cannot be called back.
func (c *comm) divideInTime(ctx context.Context, members []member, color int) (*comm, error) {
	type result struct {
		child *comm
		err   error
	}
	divided := make(chan result, 1)
	c.stay()
	go func() {
		defer c.leave()
		err := c.job.reap()
		var child *comm
		if err == nil {
			child, err = c.divide(members, color)
		}
		divided <- result{child, err}
	}()
	select {
	case r := <-divided:
		return r.child, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("a rank has come, and stopped before MPI had divided the group: %w", context.Cause(ctx))
	}
}

// divide makes this rank's child, nil with NoColor. Colors and keys may be larger
// than MPI's ints, so MPI gets the lowest member and the seat in their place.
func (c *comm) divide(members []member, color int) (*comm, error) {
	if color == group.NoColor {
		_, _, err := divide(c.channel, -1, 0)
		return nil, err
	}
	mine := seats(members, color)
	seat := slices.IndexFunc(mine, func(m member) bool { return m.rank == c.rank })
	first := slices.MinFunc(mine, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
	channel, _, err := divide(c.channel, first.rank, seat)
	if err != nil {
		return nil, err
	}
	messages, err := duplicate(channel)
	if err != nil {
		return nil, err
	}
	return newComm(c.job, messages, channel, seat, len(mine))
}
