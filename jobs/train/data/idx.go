package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// IDX is the content of one file in the format of the MNIST data: an array of bytes.
type IDX struct {
	Shape []int  // as in the header, 1 to 4 sizes
	Data  []byte // row-contiguous, as many as the product of Shape
}

const (
	idxBytes   = 0x08 // the only element type that image files use
	idxMaxRank = 4
	idxMaxSize = 1 << 30
)

// ReadIDX reads one IDX file of unsigned bytes to its end, gzipped or plain: a magic number, the sizes as
// big-endian 32-bit integers, then the elements. Anything else is an error that says what was found: another
// element type, more than 4 dimensions or 1 GiB, an early end, bytes after the last element. Memory grows with
// the bytes that arrive, never with what a header claims.
func ReadIDX(r io.Reader) (IDX, error) {
	plain, err := unzip(bufio.NewReader(r))
	if err != nil {
		return IDX{}, err
	}
	shape, size, err := readIDXHeader(plain)
	if err != nil {
		return IDX{}, err
	}
	// One byte more than announced shows whether something follows, and makes gzip check its sum.
	var body bytes.Buffer
	n, err := io.Copy(&body, io.LimitReader(plain, size+1))
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return IDX{}, fmt.Errorf("idx: after %d of %d elements: %w", n, size, err)
	case n < size || err != nil:
		return IDX{}, fmt.Errorf("idx: ends after %d of the %d elements that shape %v announces", n, size, shape)
	case n > size:
		return IDX{}, fmt.Errorf("idx: more bytes follow the %d elements that shape %v announces", size, shape)
	}
	return IDX{Shape: shape, Data: body.Bytes()}, nil
}

func unzip(r *bufio.Reader) (io.Reader, error) {
	start, _ := r.Peek(2) // a shorter file is reported by the header's reader
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return r, nil
	}
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("idx: gzip: %w", err)
	}
	return unzipped, nil
}

func readIDXHeader(r io.Reader) (shape []int, size int64, err error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return nil, 0, fmt.Errorf("idx: magic number: %w", err)
	}
	rank := int(magic[3])
	switch {
	case magic[0] != 0 || magic[1] != 0:
		return nil, 0, fmt.Errorf("idx: starts with % x, not with 00 00: not an IDX file", magic)
	case magic[2] != idxBytes:
		return nil, 0, fmt.Errorf("idx: element type %#02x: only %#02x, unsigned bytes, is read", magic[2], idxBytes)
	case rank < 1 || rank > idxMaxRank:
		return nil, 0, fmt.Errorf("idx: %d dimensions: 1 to %d are allowed", rank, idxMaxRank)
	}
	sizes := make([]uint32, rank)
	if err := binary.Read(r, binary.BigEndian, sizes); err != nil {
		return nil, 0, fmt.Errorf("idx: %d sizes: %w", rank, err)
	}
	return idxShape(sizes)
}

// idxShape refuses a product above idxMaxSize, and so never overflows; an empty array may not hide a
// huge size behind a zero.
func idxShape(sizes []uint32) (shape []int, size int64, err error) {
	size = 1
	for _, n := range sizes {
		if n > idxMaxSize {
			return nil, 0, fmt.Errorf("idx: sizes %v: at most %d elements are read", sizes, idxMaxSize)
		}
		shape = append(shape, int(n))
		size *= int64(n)
		if size > idxMaxSize {
			return nil, 0, fmt.Errorf("idx: sizes %v: at most %d elements are read", sizes, idxMaxSize)
		}
	}
	return shape, size, nil
}
