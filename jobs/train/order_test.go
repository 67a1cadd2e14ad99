package main

import (
	"slices"
	"testing"
)

// dealt returns what each rank gets over some steps, one list a rank.
func dealt(seed uint64, examples, steps, batch, ranks int) [][]int {
	all := make([][]int, ranks)
	for rank := range all {
		o := order{seed: seed, examples: examples}
		for step := range steps {
			all[rank] = append(all[rank], o.batch(step, batch, rank, ranks)...)
		}
	}
	return all
}

func TestEveryEpochIsAPermutation(t *testing.T) {
	const examples, epochs = 35, 3
	seen := dealt(7, examples, examples*epochs/5, 5, 1)[0]
	var decks [][]int
	for deck := range slices.Chunk(seen, examples) {
		decks = append(decks, deck)
		sorted := slices.Sorted(slices.Values(deck))
		for want, got := range sorted {
			if got != want {
				t.Fatalf("an epoch deals %v, not each of 0 to %d once", sorted, examples-1)
			}
		}
	}
	if len(decks) != epochs || slices.Equal(decks[0], decks[1]) || slices.Equal(decks[1], decks[2]) {
		t.Errorf("epochs do not differ: %v", decks)
	}
}

// The number of examples is no multiple of the batch, so that a batch spans two
// epochs.
func TestRanksTogetherSeeWhatOneWould(t *testing.T) {
	const examples, steps, batch = 29, 9, 12
	one := dealt(3, examples, steps, batch, 1)[0]
	for _, ranks := range []int{2, 3, 4, 12} {
		part := batch / ranks
		many := dealt(3, examples, steps, batch, ranks)
		var together []int
		for step := range steps {
			for rank := range ranks {
				together = append(together, many[rank][step*part:(step+1)*part]...)
			}
		}
		if !slices.Equal(together, one) {
			t.Errorf("%d ranks see %v, one sees %v", ranks, together, one)
		}
	}
}

func TestNoExampleGoesToTwoRanks(t *testing.T) {
	const examples = 24
	var all []int
	for _, part := range dealt(5, examples, 2, 12, 4) {
		all = append(all, part...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != examples {
		t.Errorf("an epoch on 4 ranks deals %v, not each example once", all)
	}
}

func TestOrderDependsOnTheSeedAlone(t *testing.T) {
	a, b, c := dealt(1, 100, 3, 8, 2), dealt(1, 100, 3, 8, 2), dealt(2, 100, 3, 8, 2)
	if !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("the same seed deals %v, then %v", a, b)
	}
	if slices.EqualFunc(a, c, slices.Equal) {
		t.Errorf("seeds 1 and 2 both deal %v", a)
	}
}
