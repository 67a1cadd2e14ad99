//go:build cgo && mpi

package mpi

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/lockstep-go/lockstep/internal/onehost"
)

// How the members of a new group agree whether they share memory: all of them or
// none. The first says where its file is to be found, and what is written in it;
// everyone looks for it there, and says whether it could be used. Ranks of other
// hosts, or that may not look into the first one's process, find nothing.

// place is where a process keeps a file open, and what is written at its end.
type place struct {
	process, file uint64
	mark          [16]byte
}

const placeBytes = 32

func (p place) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, p.process)
	return append(binary.LittleEndian.AppendUint64(b, p.file), p.mark[:]...)
}

func decodePlace(b []byte) (p place) {
	p.process, p.file = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	copy(p.mark[:], b[16:])
	return p
}

// share agrees. It fails only when ctx or the group ends meanwhile.
func (c *comm) share(ctx context.Context) error {
	if c.size == 1 {
		return nil
	}
	file, offer := c.offer()
	if file != nil {
		defer file.Close()
	}
	offers, err := c.tell(ctx, offer)
	if err != nil {
		return err
	}
	var s *onehost.Sharing
	if len(offers[0]) == placeBytes && !slices.ContainsFunc(offers, isNothing) {
		s, err = c.visit(decodePlace(offers[0]))
	}
	if err != nil {
		c.job.logger.Debug("mpi: memory is not shared", "rank", c.rank, "size", c.size, "err", err)
	}
	answer := []byte{1}
	if s == nil {
		answer = nil
	}
	answers, err := c.tell(ctx, answer)
	if err != nil || slices.ContainsFunc(answers, isNothing) {
		s.Close()
		return err
	}
	s.LookAround()
	if c.world {
		s.DivideCores()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = s
	return nil
}

func isNothing(b []byte) bool { return len(b) == 0 }

// offer is what this rank says first: nothing if it will not share.
func (c *comm) offer() (*os.File, []byte) {
	switch {
	case !c.job.sharing:
		return nil, nil
	case c.rank > 0:
		return nil, []byte{1}
	}
	file, err := onehost.Create(c.size)
	if err != nil {
		c.job.logger.Debug("mpi: memory is not shared", "rank", c.rank, "size", c.size, "err", err)
		return nil, nil
	}
	p := place{process: uint64(os.Getpid()), file: uint64(file.Fd())}
	rand.Read(p.mark[:])
	if err := onehost.Mark(file, p.mark); err != nil {
		file.Close()
		return nil, nil
	}
	return file, p.encode()
}

// visit maps the file that the first rank keeps open.
func (c *comm) visit(p place) (*onehost.Sharing, error) {
	file, err := onehost.Find(int(p.process), int(p.file))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mark, err := onehost.ReadMark(file)
	switch {
	case err != nil:
		return nil, err
	case mark != p.mark:
		return nil, errors.New("another host, or another process")
	}
	return onehost.Map(file, c.size, c.rank)
}

// tell gives every rank what all say.
func (c *comm) tell(ctx context.Context, word []byte) (words [][]byte, err error) {
	err = c.collective(ctx, call{name: nameShare}, body{inline: word, messages: func(_ string, parts [][]byte) error {
		for _, p := range parts {
			words = append(words, slices.Clone(p))
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameShare, err)
	}
	return words, nil
}
