package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/group"
)

// Agree compares what the ranks were started with. A rank with other settings would take part in
// everything and only make the result wrong. A difference is a UsageError on every rank.
func Agree(ctx context.Context, g *group.Group, settings string) error {
	texts, err := share(ctx, g, settings)
	if err != nil {
		return err
	}
	for rank, text := range texts {
		if text != texts[0] {
			return WrongUse(fmt.Errorf("ranks were started differently: rank 0 with %q, rank %d with %q", texts[0], rank, text))
		}
	}
	return nil
}

// SaidError is the error of another rank.
type SaidError struct {
	Rank int
	Text string
}

func (e *SaidError) Error() string { return fmt.Sprintf("rank %d says: %s", e.Rank, e.Text) }

// usageMark begins the text of an error that is wrong use.
const usageMark = "\x01"

// Together returns an error on all ranks when one of them has one: its own where it has one,
// else a SaidError. Wrong use on one rank is wrong use on all.
func Together(ctx context.Context, g *group.Group, own error) error {
	text := ""
	if own != nil {
		text = own.Error()
	}
	var usage *UsageError
	if errors.As(own, &usage) {
		text = usageMark + text
	}
	texts, err := share(ctx, g, text)
	if own != nil {
		return own
	}
	if err != nil {
		return err
	}
	for rank, text := range texts {
		text, usage := strings.CutPrefix(text, usageMark)
		switch said := (&SaidError{rank, text}); {
		case usage:
			return WrongUse(said)
		case text != "":
			return said
		}
	}
	return nil
}

// share returns every rank's text.
func share(ctx context.Context, g *group.Group, text string) ([]string, error) {
	fail := func(err error) ([]string, error) { return nil, fmt.Errorf("rank %d: %w", g.Rank(), err) }
	lengths, err := group.AllGather(ctx, g, []int64{int64(len(text))})
	if err != nil {
		return fail(err)
	}
	room := int(slices.Max(lengths))
	if room == 0 {
		return make([]string, g.Size()), nil
	}
	mine := make([]byte, room)
	copy(mine, text)
	all, err := group.AllGather(ctx, g, mine)
	if err != nil {
		return fail(err)
	}
	texts := make([]string, g.Size())
	for rank := range texts {
		texts[rank] = string(all[rank*room:][:lengths[rank]])
	}
	return texts, nil
}
