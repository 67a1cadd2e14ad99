package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
)

const (
	settingsBytes = 2048 // room for the longest settings
	errorBytes    = 512
)

// agree compares what the ranks were started with. A difference is wrong use, on
// every rank.
func agree(ctx context.Context, o *options, g *group.Group) error {
	for _, n := range o.ranks {
		if n > g.Size() {
			return program.WrongUse(fmt.Errorf("-ranks has %d, and there are %d", n, g.Size()))
		}
	}
	texts, err := share(ctx, g, o.settings(), settingsBytes)
	if err != nil {
		return err
	}
	for rank, text := range texts {
		if text != texts[0] {
			return program.WrongUse(fmt.Errorf("ranks were started differently: rank 0 with %q, rank %d with %q", texts[0], rank, text))
		}
	}
	return nil
}

// saidError is the error of another rank.
type saidError struct {
	rank int
	text string
}

func (e *saidError) Error() string { return fmt.Sprintf("rank %d says: %s", e.rank, e.text) }

// usageMark begins the text of an error that is wrong use.
const usageMark = "\x01"

// together returns an error on all ranks when one of them has one, its own where it
// has one.
func together(ctx context.Context, g *group.Group, own error) error {
	text := ""
	if own != nil {
		text = own.Error()
	}
	var usage *program.UsageError
	if errors.As(own, &usage) {
		text = usageMark + text
	}
	texts, err := share(ctx, g, text, errorBytes)
	if own != nil {
		return own
	}
	if err != nil {
		return err
	}
	for rank, text := range texts {
		text, usage := strings.CutPrefix(text, usageMark)
		switch said := (&saidError{rank, text}); {
		case usage:
			return program.WrongUse(said)
		case text != "":
			return said
		}
	}
	return nil
}

// share returns every rank's text, cut where it is longer than room.
func share(ctx context.Context, g *group.Group, text string, room int) ([]string, error) {
	mine := make([]byte, room)
	copy(mine, text)
	all := make([]byte, room*g.Size())
	if err := g.AllGatherBytes(ctx, mine, all); err != nil {
		return nil, fmt.Errorf("rank %d: %w", g.Rank(), err)
	}
	var texts []string
	for rank := range g.Size() {
		text, _, _ := bytes.Cut(all[rank*room:(rank+1)*room], []byte{0})
		texts = append(texts, string(text))
	}
	return texts, nil
}
