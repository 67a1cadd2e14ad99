package group

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
)

// A header precedes the data of every array that is sent, in a message of its own
// of 48 bytes, little-endian: with a label of the ring's it fills one cache line.
//
//	0    magic "LKS3"
//	4    dtype
//	5    number of dimensions
//	6    zero
//	8    length of the data in bytes
//	16   dimensions, 8 bytes each, and behind them the data, if there is room; else zero
//
// More than four dimensions follow in a message of their own, and data for which
// there was no room in another.
const (
	magic       = "LKS3"
	maxDims     = 16
	dimsAt      = 16
	headerBytes = 48
	headerDims  = (headerBytes - dimsAt) / 8
	allDims     = 8 * maxDims
)

var errNoHeader = errors.New("no array header")

type header struct {
	t     dtype.Type
	shape []int
}

// String is the array's type and shape, such as "float32[2 3]". Here as below errors
// are made of a copy of the shape, so that whoever gives one need not allocate it.
func (h header) String() string { return fmt.Sprintf("%v%v", h.t, slices.Clone(h.shape)) }

// equal reports whether both describe the same array.
func (h header) equal(o header) bool {
	if h.t != o.t || len(h.shape) != len(o.shape) {
		return false
	}
	for i, n := range h.shape {
		if n != o.shape[i] {
			return false
		}
	}
	return true
}

// bytes is the length of the data; an error when the array cannot exist.
func (h header) bytes() (int, error) {
	switch {
	case !h.t.Valid():
		return 0, fmt.Errorf("element type %v (have %v)", h.t, dtype.All())
	case len(h.shape) > maxDims:
		return 0, fmt.Errorf("%d dimensions, at most %d can be sent", len(h.shape), maxDims)
	}
	n, empty, fits := uint64(h.t.Size()), false, true
	for _, d := range h.shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", slices.Clone(h.shape))
		}
		if d == 0 {
			empty = true
			continue
		}
		high, low := bits.Mul64(n, uint64(d))
		n, fits = low, fits && high == 0 && low <= math.MaxInt
	}
	if empty {
		return 0, nil
	}
	if !fits {
		return 0, fmt.Errorf("shape %v is too large", slices.Clone(h.shape))
	}
	return int(n), nil
}

// inline reports whether n bytes of data travel in the header.
func (h header) inline(n int) bool {
	return n == 0 || len(h.shape) <= headerDims && dimsAt+8*len(h.shape)+n <= headerBytes
}

// encode writes a header of data, whose length is known to be the right one, to first.
// What it returns, in rest if it is anything, follows.
func (h header) encode(first, rest, data []byte) []byte {
	clear(first)
	copy(first, magic)
	first[4], first[5] = byte(h.t), byte(len(h.shape))
	binary.LittleEndian.PutUint64(first[8:], uint64(len(data)))
	dims, follows := first[dimsAt:], rest[:0]
	if len(h.shape) > headerDims {
		dims, follows = rest, rest[:8*len(h.shape)]
	}
	for i, d := range h.shape {
		binary.LittleEndian.PutUint64(dims[8*i:], uint64(d))
	}
	if h.inline(len(data)) {
		copy(dims[8*len(h.shape):], data)
	}
	return follows
}

// follows is how many bytes of dimensions come after what looks like a header; 0 for
// most, and for what is none.
func follows(first []byte) int {
	if n := int(first[5]); string(first[:4]) == magic && n > headerDims && n <= maxDims {
		return 8 * n
	}
	return 0
}

// decodeHeader trusts nothing in first, which has the length of a header, and in rest,
// which has what follows says. n is the length of the data. The shape lies in dims.
func decodeHeader(first, rest []byte, dims *[maxDims]int) (h header, n int, err error) {
	if string(first[:4]) != magic || first[5] > maxDims || first[6] != 0 || first[7] != 0 {
		return header{}, 0, errNoHeader
	}
	h = header{t: dtype.Type(first[4]), shape: dims[:first[5]]}
	all := first[dimsAt:]
	if len(h.shape) > headerDims {
		all = rest
	}
	for i := range h.shape {
		h.shape[i] = int(binary.LittleEndian.Uint64(all[8*i:]))
	}
	n, err = h.bytes()
	if err != nil || binary.LittleEndian.Uint64(first[8:]) != uint64(n) {
		return header{}, 0, errNoHeader
	}
	return h, n, nil
}
