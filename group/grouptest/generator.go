package grouptest

import (
	"encoding/binary"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
)

// source is a small generator of numbers that every rank can run for every other
// rank (SplitMix64; Steele, Lea and Flood 2014).
type source uint64

// seeded starts the sequence of one rank.
func seeded(rank, salt int) *source {
	s := source(uint64(salt)<<32 | uint64(rank+1))
	s.next()
	return &s
}

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// bytes is n bytes of any value.
func (s *source) bytes(n int) []byte {
	b := make([]byte, 0, n+7)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, s.next())
	}
	return b[:n]
}

// elements is the bytes of n elements of t: integers of any value, mostly
// moderate floating-point numbers of very different sizes, and few special ones.
func (s *source) elements(t dtype.Type, n int) []byte {
	var b []byte
	for range n {
		switch {
		case t.IsBool():
			b = append(b, byte(s.next()&1))
		case t.IsComplex():
			b = append(b, encodeFloat(dtype.Float32, float64(s.next()%3))...)
			b = append(b, encodeFloat(dtype.Float32, s.float())...)
		case t.IsFloat():
			b = append(b, encodeFloat(t, s.float())...)
		default:
			b = append(b, binary.LittleEndian.AppendUint64(nil, s.next())[:t.Size()]...)
		}
	}
	return b
}

// float has 53 random bits and lies between 2^-12 and 2^8 in size, except that
// one in 64 is a zero, an infinity or NaN.
func (s *source) float() float64 {
	x := s.next()
	if x%64 == 0 {
		special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}
		return special[s.next()%uint64(len(special))]
	}
	f := math.Ldexp(1+float64(x>>12)*0x1p-52, int(s.next()%20)-12)
	if x>>6&1 == 0 {
		return -f
	}
	return f
}

// inputs are what the n ranks bring to a reduction of elems elements.
func inputs(t dtype.Type, n, elems, salt int) [][]byte {
	all := make([][]byte, n)
	for rank := range all {
		all[rank] = seeded(rank, salt).elements(t, elems)
	}
	return all
}
