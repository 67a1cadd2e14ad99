package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

// settingsBytes is room for the longest settings.
const settingsBytes = 256

// settings is what must be the same on all ranks.
func (o options) settings(t *task) string {
	s := fmt.Sprintf("-model %s -steps %d -batch %d -lr %v -seed %d -tp %d, data %s", o.model, o.steps, o.batch, o.rate, o.seed, o.tensor, t.digest)
	if o.checkpoint != "" {
		s += fmt.Sprintf(", -checkpoint -save-every %d -resume=%t", o.saveEvery, o.resume)
	}
	return s
}

// agree compares what the ranks were started with. A rank with another batch or
// other data would take part in every step and only make the result wrong. A
// difference is wrong use, on every rank.
func agree(ctx context.Context, o options, t *task, g *group.Group) error {
	mine := make([]byte, settingsBytes)
	copy(mine, o.settings(t))
	all, err := group.AllGather(ctx, g, mine)
	if err != nil {
		return fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	first := settingsOf(all, 0)
	for r := range g.Size() {
		if other := settingsOf(all, r); other != first {
			return program.WrongUse(fmt.Errorf("ranks were started differently: rank 0 with %q, rank %d with %q", first, r, other))
		}
	}
	return nil
}

func settingsOf(all []byte, rank int) string {
	text, _, _ := bytes.Cut(all[rank*settingsBytes:(rank+1)*settingsBytes], []byte{0})
	return string(text)
}

// digest names data in a few characters.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex(sum[:6])
}
