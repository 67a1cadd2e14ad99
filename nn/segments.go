package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// Segments cut an axis into parts that are each divided over the ranks by
// themselves, as a layer wants that computes several things at once: three
// segments of one length for fused queries, keys and values. At most one field is
// set; the zero value is one segment.
type Segments struct {
	Count     int       // so many of one length
	At        []int     // where the second and the later ones start
	Fractions []float64 // the same as fractions of the length, rounded to whole elements
}

// part is a range of an axis.
type part struct{ start, end int }

func (p part) length() int { return p.end - p.start }

// parts cuts an axis of the given length, which what names in messages.
func (s Segments) parts(length int, what string) ([]part, error) {
	starts, err := s.starts(length, what)
	if err != nil {
		return nil, err
	}
	ends := append(slices.Clone(starts), length)
	all, start := make([]part, len(ends)), 0
	for i, end := range ends {
		if end < start || end > length {
			return nil, fmt.Errorf("segments that start at %v do not lie in order in %d %s", starts, length, what)
		}
		all[i], start = part{start, end}, end
	}
	return all, nil
}

// starts is where the second and the later segments start.
func (s Segments) starts(length int, what string) (at []int, err error) {
	given := 0
	for _, is := range []bool{s.Count != 0, s.At != nil, s.Fractions != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, fmt.Errorf("segments %+v: want one of Count, At and Fractions", s)
	case s.Count < 0:
		return nil, fmt.Errorf("%d segments, want 1 or more", s.Count)
	case s.Count > 0 && length%s.Count != 0:
		return nil, fmt.Errorf("%d %s do not divide into %d segments of one length", length, what, s.Count)
	}
	for i := 1; i < s.Count; i++ {
		at = append(at, i*length/s.Count)
	}
	for _, f := range s.Fractions {
		if !(f >= 0 && f <= 1) {
			return nil, fmt.Errorf("segments at fractions %v, want numbers from 0 to 1", s.Fractions)
		}
		at = append(at, int(math.Round(f*float64(length))))
	}
	return append(at, s.At...), nil
}

// shard lists the ranges that one of several ranks gets: its share of every segment.
func (s Segments) shard(length int, what string, ranks, rank int) ([]part, error) {
	all, err := s.parts(length, what)
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		n := p.length()
		switch {
		case n%ranks != 0 && len(all) == 1:
			return nil, fmt.Errorf("%d %s do not divide into %d shards", n, what, ranks)
		case n%ranks != 0:
			return nil, fmt.Errorf("segment %d, %d of %d %s, does not divide into %d shards", i, n, length, what, ranks)
		}
		all[i] = part{p.start + rank*(n/ranks), p.start + (rank+1)*(n/ranks)}
	}
	return all, nil
}

// pick copies the given ranges of an axis, one after the other: a view would keep
// the whole array in memory.
func pick(x *array.Array, parts []part, axis int) *array.Array {
	if len(parts) == 1 && parts[0] == (part{0, x.Dim(axis)}) {
		return x
	}
	var indices []int64
	for _, p := range parts {
		for i := p.start; i < p.end; i++ {
			indices = append(indices, int64(i))
		}
	}
	if len(indices) == 0 {
		return x.SliceAxis(axis, 0, 0)
	}
	return x.Take(array.From(indices), axis)
}
