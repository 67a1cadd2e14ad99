package grouptest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/group"
)

// ticket is what a rank brings to a split.
type ticket struct{ color, key, rank int }

// Split divides the world into worlds that share nothing with it.
func (m *member) Split(ctx context.Context, color, key int) (group.Communicator, error) {
	if color < 0 && color != group.NoColor {
		return nil, fmt.Errorf("memory: split: color %d is negative", color)
	}
	result, err := m.meet(ctx, "split", ticket{color, key, m.rank}, divide)
	if err != nil {
		return nil, err
	}
	child := result.([]*member)[m.rank]
	if child == nil {
		return nil, nil
	}
	return child, nil
}

// divide gives every rank its new end, nil to those without a color.
func divide(parts []any) any {
	children := make([]*member, len(parts))
	var tickets []ticket
	for _, part := range parts {
		if t := part.(ticket); t.color != group.NoColor {
			tickets = append(tickets, t)
		}
	}
	slices.SortFunc(tickets, func(a, b ticket) int {
		return cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank))
	})
	for len(tickets) > 0 {
		n := 1
		for n < len(tickets) && tickets[n].color == tickets[0].color {
			n++
		}
		w := newWorld(n)
		for rank, t := range tickets[:n] {
			children[t.rank] = &member{world: w, rank: rank}
		}
		tickets = tickets[n:]
	}
	return children
}
