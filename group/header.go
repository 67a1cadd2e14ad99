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
// of 256 bytes, little-endian, in which there is room for a little data:
//
//	0    magic "LKS2"
//	4    dtype
//	5    number of dimensions
//	6    zero
//	8    length of the data in bytes
//	16   dimensions, 8 bytes each; zero beyond the last
//	144  the data, if it is at most 112 bytes; else zero
const (
	magic       = "LKS2"
	maxDims     = 16
	inlineAt    = 16 + 8*maxDims
	inlineBytes = 112
	headerBytes = inlineAt + inlineBytes
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

// encode writes a header of data, whose length is known to be the right one, to b.
func (h header) encode(b, data []byte) []byte {
	clear(b)
	copy(b, magic)
	b[4], b[5] = byte(h.t), byte(len(h.shape))
	binary.LittleEndian.PutUint64(b[8:], uint64(len(data)))
	for i, d := range h.shape {
		binary.LittleEndian.PutUint64(b[16+8*i:], uint64(d))
	}
	if len(data) <= inlineBytes {
		copy(b[inlineAt:], data)
	}
	return b
}

// decodeHeader trusts nothing in b. n is the length of the data that follows. The
// shape lies in dims.
func decodeHeader(b []byte, dims *[maxDims]int) (h header, n int, err error) {
	if len(b) != headerBytes || string(b[:4]) != magic || b[5] > maxDims || b[6] != 0 || b[7] != 0 {
		return header{}, 0, errNoHeader
	}
	h = header{t: dtype.Type(b[4]), shape: dims[:b[5]]}
	for i := range h.shape {
		h.shape[i] = int(binary.LittleEndian.Uint64(b[16+8*i:]))
	}
	n, err = h.bytes()
	if err != nil || binary.LittleEndian.Uint64(b[8:]) != uint64(n) {
		return header{}, 0, errNoHeader
	}
	return h, n, nil
}
