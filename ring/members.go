package ring

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// membersOf lists the ranks whose ticket of color and key has this color, by key
// and then by rank.
func membersOf(tickets []byte, color int) []int {
	const ticket = 16
	number := func(rank, at int) int {
		return int(binary.LittleEndian.Uint64(tickets[rank*ticket+at:]))
	}
	var members []int
	for rank := range len(tickets) / ticket {
		if number(rank, 0) == color {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int {
		return cmp.Compare(number(a, 8), number(b, 8))
	})
	return members
}
