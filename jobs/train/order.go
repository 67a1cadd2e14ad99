package main

import "math/rand/v2"

// order deals the examples out: every epoch is a new permutation, drawn from the
// seed alone, and rank r of n takes the r-th part of each batch. So every example
// goes to exactly one rank, and n ranks together see what one would.
type order struct {
	seed     uint64
	examples int
	epoch    int
	deck     []int // permutation of the current epoch; nil before the first
}

// batch returns the examples of a rank at a step, where all ranks together take
// size examples.
func (o *order) batch(step, size, rank, ranks int) []int {
	part := size / ranks
	first := step*size + rank*part
	numbers := make([]int, part)
	for i := range numbers {
		numbers[i] = o.at(first + i)
	}
	return numbers
}

// at returns the example at a position counted over all epochs.
func (o *order) at(position int) int {
	if epoch := position / o.examples; o.deck == nil || epoch != o.epoch {
		o.epoch = epoch
		o.deck = rand.New(rand.NewPCG(o.seed, uint64(epoch))).Perm(o.examples)
	}
	return o.deck[position%o.examples]
}
