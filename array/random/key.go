// Package random draws arrays of random numbers from keys.
//
//	keys := random.NewKey(7).Split(2)
//	w := random.Normal(keys[0], dtype.Float32, 64, 64) // the same every time
//	b := random.Uniform(keys[1], -1, 1, dtype.Float32, 64)
//
// A key is a value and has no state: the same key always gives the same numbers.
// Use each key once, to draw or to be split for more. Numbers come from the
// counter-based generator Threefry-2x32 with 20 rounds (Salmon and others, 2011);
// keys, Split and Bits agree with MLX's. What is made by integer arithmetic and
// exact scaling (bits, integers, uniform, Bernoulli, permutations) is the same on
// every machine to the last bit; what goes through a logarithm or the inverse
// error function may differ by 2 units in the last place.
//
// Arrays are lazy: mistakes in the arguments are carried by the result, and
// numbers are drawn when it is evaluated. They are constants for derivatives.
package random

import "fmt"

// Key determines what is drawn with it. Keys are comparable.
type Key struct{ high, low uint32 }

// NewKey returns the key of a seed. Different seeds give different keys.
func NewKey(seed uint64) Key { return Key{uint32(seed >> 32), uint32(seed)} }

// Split returns n keys whose numbers are independent of each other; none if n is
// not positive. The keys depend on n.
func (k Key) Split(n int) []Key {
	keys := make([]Key, max(0, n))
	w := k.words(2 * len(keys))
	for i := range keys {
		keys[i] = Key{w[2*i], w[2*i+1]}
	}
	return keys
}

// Fold returns the key that belongs to number i under k, such as that of a
// training step.
func (k Key) Fold(i uint64) Key {
	high, low := threefry(k, uint32(i>>32), uint32(i))
	return Key{high, low}
}

// String shows the key in hexadecimal digits.
func (k Key) String() string { return fmt.Sprintf("%08x%08x", k.high, k.low) }

// words draws n words. One application of the generator gives a word of the first
// half and its counterpart of the second; the middle one of an odd number is
// drawn by itself.
func (k Key) words(n int) []uint32 {
	w := make([]uint32, n)
	half := n / 2
	second := w[n-half:]
	for i := range half {
		w[i], second[i] = threefry(k, uint32(i), uint32(n-half+i))
	}
	if n%2 == 1 {
		w[half], _ = threefry(k, uint32(half), 0)
	}
	return w
}

// longWords draws n words of 64 bits, each of two words, low half first.
func (k Key) longWords(n int) []uint64 {
	short := k.words(2 * n)
	w := make([]uint64, n)
	for i := range w {
		w[i] = uint64(short[2*i]) | uint64(short[2*i+1])<<32
	}
	return w
}
