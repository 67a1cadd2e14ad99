package buffer

import "math/bits"

const (
	smallest       = 4 << 10  // bytes that a pooled buffer has at least, unless poisoned
	pageBytes      = 2 << 20  // a huge page
	slabBytes      = 16 << 20 // memory that is cut into blocks of one class
	smallSlabBytes = 64 << 10 // the same for blocks below smallest
	largest        = 4 << 20  // bytes of a block that is cut from a slab; larger ones have a mapping of their own
)

// Classes of blocks: four to each doubling, multiples of 64 bytes.

const (
	firstBits = 6 // the first class has 64 bytes
	classes   = (22-firstBits)*4 + 1
)

// classOf is the number of the smallest class with n bytes or more.
func classOf(n int) int {
	if n <= 1<<firstBits {
		return 0
	}
	top := bits.Len(uint(n-1)) - 1 // n is above 1<<top, and at most twice that
	quarter := 1 << top / 4
	return (top-firstBits)*4 + (n-1-1<<top)/quarter + 1
}

// classBytes is the size of the blocks of a class.
func classBytes(class int) int {
	base := 1 << (firstBits + class/4)
	size := base + class%4*(base/4)
	return (size + alignment - 1) / alignment * alignment
}

// pages rounds n up to huge pages.
func pages(n int) int { return (n + pageBytes - 1) / pageBytes * pageBytes }
