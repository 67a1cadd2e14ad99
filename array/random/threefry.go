package random

import "math/bits"

// parity is the constant that completes a key, from the Skein cipher.
const parity = 0x1bd11bda

// rotations alternates between groups of four rounds.
var rotations = [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}

// threefry scrambles a counter of two words under a key: Threefry-2x32 with 20
// rounds.
func threefry(k Key, x, y uint32) (uint32, uint32) {
	schedule := [3]uint32{k.high, k.low, k.high ^ k.low ^ parity}
	x += schedule[0]
	y += schedule[1]
	for group := range 5 {
		for _, r := range rotations[group%2] {
			x += y
			y = bits.RotateLeft32(y, r) ^ x
		}
		x += schedule[(group+1)%3]
		y += schedule[(group+2)%3] + uint32(group) + 1
	}
	return x, y
}
